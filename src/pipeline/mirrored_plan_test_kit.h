// pipeline/mirrored_plan_test_kit.h: tests of plans on a device with its own memory: on the plain
// mirror in mirrored_plan_test.cc, on a GPU in tests/gpu.
#pragma once

#include <functional>

#include "pipeline/plan_test_kit.h"

namespace weft::pipeline {

// A device with room for about `segments_max` segments.
using MirrorMaker = std::function<std::unique_ptr<processor::Processor>(uint32_t segments_max)>;

// The legal plans with some stage on the device.
inline std::vector<Plan> PlansWithDevice(uint32_t stages) {
  std::vector<Plan> plans = LegalPlans(stages);
  std::erase_if(plans, [](const Plan& plan) {
    return std::all_of(plan.stages().begin(), plan.stages().end(),
                       [](const Stage& stage) { return stage.processor == "cpu"; });
  });
  return plans;
}

// Plans of three stages do what the one-stage plan does. *gathered: the values that the device read
// under kReadsOnDevice; under other plans a stage on the CPU may. That depends on how soon it has
// the objects. So if they are no more than `wanted`, it goes on with reads for some rounds.
inline void PlayPlansOfThreeStages(const MirrorMaker& make, uint32_t rounds, uint64_t* gathered,
                                   uint64_t wanted = 0) {
  constexpr uint32_t kMoreRounds = 200;
  Seen seen;
  const std::vector<Plan> plans = PlansWithDevice(3);
  ASSERT_GT(plans.size(), 20u);
  std::mt19937_64 random(cache::TestSeed());
  rounds = cache::Rounds(rounds);
  const uint32_t rounds_max = wanted == 0 ? rounds : rounds + kMoreRounds;
  *gathered = 0;
  for (uint32_t round = 0; round < rounds_max; round++) {
    if (round >= rounds && *gathered > wanted) break;
    Devices devices(make(UINT32_MAX));
    const bool reads = round == 0 || round >= rounds;
    const Plan plan = reads ? PlanOf(kReadsOnDevice) : plans[random() % plans.size()];
    // An index that grows meanwhile, and one that does not.
    CacheOptions options = WeakHash(random() % 2 == 0 ? 64 : 20);
    options.expected_items = random() % 2 == 0 ? 10'000 : 0;
    const uint64_t gathered_before = seen.gathered;
    ASSERT_NO_FATAL_FAILURE(
        ExpectSameAsOneStage(plan, &devices, random(), 1 + round % 2 * 2, &seen, options));
    if (reads) *gathered += seen.gathered - gathered_before;
  }
}

inline void PlayPlansOfFourStages(const MirrorMaker& make, uint32_t rounds) {
  const std::vector<Plan> plans = PlansWithDevice(4);
  std::mt19937_64 random(cache::TestSeed());
  for (uint32_t round = 0; round < cache::Rounds(rounds); round++) {
    Devices devices(make(UINT32_MAX));
    ASSERT_NO_FATAL_FAILURE(
        ExpectSameAsOneStage(plans[random() % plans.size()], &devices, random(), 3));
  }
}

// Segments are evicted and filled anew, and not all of them have room in the mirror. A read shows
// the key's last value, or nothing if it was evicted.
inline void PlaySegmentsFilledAnew(const MirrorMaker& make, uint32_t rounds, uint64_t* gathered) {
  std::mt19937_64 random(cache::TestSeed());
  for (uint32_t round = 0; round < cache::Rounds(rounds) + 1; round++) {
    CacheOptions cache_options;
    cache_options.memory_bytes = 8u << 20;
    cache_options.object_bytes_max = 64u << 10;
    const auto store = OpenStore(cache_options);
    Devices devices(make(round % 2 == 0 ? UINT32_MAX : 40));
    ASSERT_TRUE(devices.guard().Attach(store.get()).ok());
    TaskTimes times;
    PlanRunner::Options options;
    options.queries_max = 128;
    auto runner =
        PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), options);
    ASSERT_TRUE(runner.has_value());
    RequestMaker maker(random(), 8, 1000, false);
    std::deque<TestRequest> requests;
    std::vector<std::string> expected;
    std::map<std::string, std::string> model;
    for (uint32_t i = 0; i < 12'000; i++) {
      TestRequest& request = requests.emplace_back();
      request.source = i % 80;
      // Each key's values have one size, so that a key's next version may lie just where an older
      // one was.
      const uint64_t number = maker.Below(20);
      request.key = std::to_string(request.source) + "/" + std::to_string(number);
      request.plain_read = maker.Below(3) != 0;
      std::string& last = model[request.key];
      if (!request.plain_read) {
        request.command.verb = Verb::kStore;
        request.value = std::to_string(i) + std::string(number * 600, 'v');
        last = request.value;
      }
      expected.push_back(last);
    }
    PlanTester tester(store.get(), runner->get());
    const std::vector<std::string> told = tester.Run(requests, &maker, 64, 1 + round % 3);
    for (size_t i = 0; i < requests.size(); i++) {
      QueryResult result;
      result.reply.outcome = requests[i].plain_read ? Outcome::kHit : Outcome::kStored;
      if (requests[i].plain_read) result.value = expected[i];
      if (requests[i].plain_read && told[i] == Told(QueryResult{})) continue;
      ASSERT_EQ(told[i], Told(result)) << i << " about " << requests[i].key;
    }
    *gathered += tester.gathered;
    cache::SessionCounters counters;
    store->SumCounters(&counters);
    EXPECT_GT(counters.segments_freed.value(), 0u);
    runner->reset();
    EXPECT_TRUE(devices.guard().Detach());
  }
}

// Keys are written round after round in one order, by objects that fill segments evenly. If a round
// takes a divisor of the number of segments, a key's next version lies just where an older one lay.
// Returns how often that happened.
inline uint32_t WriteInRounds(const MirrorMaker& make, uint32_t keys_count, uint64_t* gathered) {
  CacheOptions cache_options;
  cache_options.memory_bytes = 8u << 20;
  cache_options.object_bytes_max = 64u << 10;
  const auto store = OpenStore(cache_options);
  Devices devices(make(UINT32_MAX));
  EXPECT_TRUE(devices.guard().Attach(store.get()).ok());
  TaskTimes times;
  auto runner = PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), {});
  EXPECT_TRUE(runner.has_value());
  RequestMaker maker(cache::TestSeed(), 1, 1, false);
  PlanTester tester(store.get(), runner->get());
  Client client(store.get());
  std::vector<std::string> values(keys_count);
  std::map<uint64_t, uint32_t> places;  // location to the key that lay there last
  uint32_t again = 0;
  for (uint32_t i = 0; i < 20'000; i += 16) {
    std::deque<TestRequest> requests;
    std::vector<uint32_t> keys;
    for (uint32_t n = 0; n < 32; n++) {
      TestRequest& request = requests.emplace_back();
      const bool stores = n < 16;
      // Keys that were just stored, and any others.
      const bool fresh = stores || n < 24;
      keys.push_back(fresh ? (i + n % 16) % keys_count
                           : static_cast<uint32_t>(maker.Below(keys_count)));
      request.key = std::to_string(1000 + keys[n]);
      request.plain_read = !stores;
      request.command.verb = Verb::kStore;
      if (!stores) continue;
      request.value = std::to_string(i + n);
      request.value.resize(1024 - 8 - 4, 'v');
      values[keys[n]] = request.value;
    }
    // The stores go in a separate batch, so that no read waits for them.
    std::deque<TestRequest> reads(requests.begin() + 16, requests.end());
    requests.resize(16);
    // Half the time another long batch keeps the stored objects from being copied.
    if (i / 16 % 2 == 0) client.session().Begin();
    const std::vector<std::string> stored = tester.Run(requests, &maker, 1000, 1);
    EXPECT_EQ(std::count(stored.begin(), stored.end(), stored[0]), 16) << "a store was refused";
    const std::vector<std::string> told = tester.Run(reads, &maker, 1000, 1);
    if (client.session().inside()) client.session().End();
    for (uint32_t n = 0; n < 16; n++) {
      QueryResult result;
      result.reply.outcome = Outcome::kHit;
      result.value = values[keys[16 + n]];
      if (result.value.empty() || told[n] == Told(QueryResult{})) continue;
      EXPECT_EQ(told[n], Told(result)) << "key " << keys[16 + n] << " after " << i;
    }
    client.session().Begin();
    const std::string& key = requests[0].key;
    const task::Found found = task::Find(client.session().index(), client.session().log(),
                                         cache::TaskKey(key, store->HashOf(key)));
    if (found.slot != nullptr) {
      const auto [at, first] = places.insert({task::SlotLocation(found.word), keys[0]});
      again += !first && at->second == keys[0];
      at->second = keys[0];
    }
    client.session().End();
  }
  *gathered += tester.gathered;
  runner->reset();
  EXPECT_TRUE(devices.guard().Detach());
  return again;
}

inline void PlayKeysInOldPlaces(const MirrorMaker& make, uint32_t segments_first) {
  uint32_t again = 0;
  uint64_t gathered = 0;
  for (uint32_t segments = segments_first; segments <= 14 && !testing::Test::HasFailure();
       segments++)
    again += WriteInRounds(make, segments * 64, &gathered);
  EXPECT_GT(again, 10u) << "no key came to lie where it had lain before";
  EXPECT_GT(gathered, 1000u);
}

}  // namespace weft::pipeline
