// pipeline/shared_batch_test_kit.h: batches of thousands of reads, shared by a device with its own
// memory and the worker, which takes sets itself. For the plain mirror and, in tests/gpu, a GPU.
#pragma once

#include <atomic>
#include <charconv>
#include <thread>

#include "base/seed_test_kit.h"

#include "pipeline/mirrored_plan_test_kit.h"

namespace weft::pipeline {

// The results of a scene's reads.
struct SharedCounts {
  uint64_t gathered = 0;  // by the device
  uint64_t stolen = 0;
  uint64_t reruns = 0;  // of stages, because the device failed

  void ExpectSharedWithoutFailures() const {
    EXPECT_GT(gathered, 0u);
    EXPECT_GT(stolen, 0u);
    EXPECT_EQ(reruns, 0u);
  }
};

// Plays a scene until device and worker have shared batches, and `reruns` stages have run again. On
// a busy machine one of the two may not get to run in the other's time.
template <typename Play>
void PlayUntilShared(const Play& play, SharedCounts* counts, uint64_t reruns = 0) {
  constexpr int kTimesMax = 50;
  for (int times = 0; times < kTimesMax && !testing::Test::HasFailure(); times++) {
    if (counts->gathered > 0 && counts->stolen > 0 && counts->reruns >= reruns) return;
    play();
  }
}

// A store, its mirror and a runner for batches of kQueriesMax reads.
struct SharedBed {
  static constexpr uint32_t kQueriesMax = 20'000;

  explicit SharedBed(const MirrorMaker& make) : devices(make(UINT32_MAX)) {}
  ~SharedBed() {
    runner.reset();
    EXPECT_TRUE(devices.guard().Detach());
  }
  SharedBed(const SharedBed&) = delete;
  SharedBed& operator=(const SharedBed&) = delete;

  // Call it once the store has its first contents.
  void Open() {
    ASSERT_TRUE(devices.guard().Attach(store.get()).ok());
    ASSERT_TRUE(devices.guard().CatchUp().ok());
    PlanRunner::Options options;
    options.queries_max = kQueriesMax;
    options.gather_bytes = kQueriesMax * 100;
    auto created =
        PlanRunner::Create(store.get(), &times, PlanOf(kReadsOnDevice), devices.list(), options);
    ASSERT_TRUE(created.has_value());
    runner = std::move(*created);
  }
  void CountInto(SharedCounts* counts) const {
    counts->stolen += runner->counters().stolen_queries.value();
    counts->reruns += runner->counters().reruns.value();
  }

  static CacheOptions Memory() {
    CacheOptions options;
    options.memory_bytes = 64u << 20;
    return options;
  }

  const std::unique_ptr<cache::Store> store = OpenStore(Memory());
  Devices devices;
  TaskTimes times;
  std::unique_ptr<PlanRunner> runner;
};

// Every read shows its key's value.
inline void PlaySharedBatches(const MirrorMaker& make, uint32_t rounds, SharedCounts* counts) {
  constexpr uint32_t kKeys = 10'000;
  constexpr uint32_t kReads = 60'000;
  constexpr uint32_t kReadsOfSource = 4000;
  SharedBed bed(make);
  Client client(bed.store.get());
  std::vector<std::string> values(kKeys);
  RequestMaker maker(cache::TestSeed(), 1, 1, false);
  for (uint32_t i = 0; i < kKeys; i++) {
    if (i % 10 == 9) continue;  // it is not there
    values[i] = std::to_string(i) + std::string(maker.Below(i % 50 == 0 ? 2000 : 100), 'v');
    client.Set(std::to_string(i), values[i]);
  }
  ASSERT_NO_FATAL_FAILURE(bed.Open());
  PlanTester tester(bed.store.get(), bed.runner.get());
  for (uint32_t round = 0; round < cache::Rounds(rounds) + 1; round++) {
    std::deque<TestRequest> requests;
    std::vector<uint32_t> keys;
    for (uint32_t i = 0; i < kReads; i++) {
      keys.push_back(static_cast<uint32_t>(maker.Below(kKeys)));
      TestRequest& request = requests.emplace_back();
      request.source = i / kReadsOfSource;
      request.plain_read = true;
      request.key = std::to_string(keys[i]);
    }
    const std::vector<std::string> told =
        tester.Run(requests, &maker, SharedBed::kQueriesMax, 1 + round % 3);
    for (uint32_t i = 0; i < kReads; i++) {
      QueryResult result;
      result.value = values[keys[i]];
      if (!result.value.empty()) result.reply.outcome = Outcome::kHit;
      ASSERT_EQ(told[i], Told(result)) << i << " about " << requests[i].key;
    }
  }
  counts->gathered += tester.gathered;
  bed.CountInto(counts);
}

// The versions of keys that somebody stores one after the other.
class Versions {
 public:
  Versions(cache::Store* store, uint32_t keys) : store_(store), of_keys_(keys) {
    Client client(store_);
    for (uint32_t i = 0; i < keys; i++) StoreNext(&client, i);
  }

  static std::string KeyOf(uint32_t i) { return "key " + std::to_string(i); }
  uint32_t begun(uint32_t i) const { return of_keys_[i].begun.load(); }
  uint32_t acknowledged(uint32_t i) const { return of_keys_[i].acknowledged.load(); }

  // For one thread at a time.
  void StoreNext(Client* client, uint32_t i) {
    OfKey& key = of_keys_[i];
    const uint32_t version = ++key.begun;
    const std::string value = std::to_string(version) + " " + std::string(i % 90, 'v');
    EXPECT_EQ(client->Set(KeyOf(i), value), Outcome::kStored);
    key.acknowledged.store(version);
  }
  void StoreUntil(const std::atomic<bool>& ends) {
    Client client(store_);
    std::mt19937 random(base::TestSeed(1));
    while (!ends.load()) StoreNext(&client, static_cast<uint32_t>(random() % of_keys_.size()));
  }

 private:
  struct OfKey {
    std::atomic<uint32_t> begun{0}, acknowledged{0};
  };
  cache::Store* const store_;
  std::vector<OfKey> of_keys_;
};

// Keeps the version that each read of a batch has shown; 0: there was none.
struct VersionReader : Sink {
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      gathered += batch.result(i) == kResultRead;
      uint32_t& version = seen.emplace_back(0);
      const cache::Reply reply = ReplyOf(batch, i, session);
      std::from_chars(reply.value.data(), reply.value.data() + reply.value.size(), version);
    }
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}

  std::vector<uint32_t> seen;
  uint64_t gathered = 0;
};

// Another thread keeps storing newer versions. A read shows one that is not older than the last
// acknowledged before its batch began, and was begun before the batch ended.
inline void PlaySharedBatchesBesideAWriter(const MirrorMaker& make, uint32_t rounds,
                                           SharedCounts* counts) {
  constexpr uint32_t kKeys = 3000;
  SharedBed bed(make);
  Versions versions(bed.store.get(), kKeys);
  ASSERT_NO_FATAL_FAILURE(bed.Open());
  std::atomic<bool> ends{false};
  std::thread writer([&] { versions.StoreUntil(ends); });
  VersionReader reader;
  std::mt19937_64 random(cache::TestSeed());
  // The two settle which takes how much: until each had some.
  constexpr uint32_t kRoundsMax = 300;
  const auto goes_on = [&](uint32_t round) {
    const bool shared = reader.gathered > 0 && bed.runner->counters().stolen_queries.value() > 0;
    return round < cache::Rounds(rounds) + 2 || (!shared && round < kRoundsMax);
  };
  for (uint32_t round = 0; goes_on(round); round++) {
    BatchRun* const run = bed.runner->Free();
    run->batch().Clear();
    const uint32_t source = run->batch().AddSource(kMuchRoom);
    std::vector<uint32_t> keys, least;
    for (uint32_t n = 0; n < SharedBed::kQueriesMax; n++) {
      keys.push_back(static_cast<uint32_t>(random() % kKeys));
      least.push_back(versions.acknowledged(keys[n]));
      const std::string key = Versions::KeyOf(keys[n]);
      run->batch().AddRead(source, n, key, bed.store->HashOf(key));
    }
    bed.runner->Begin(run);
    // Now and then the device gets all parts, however busy the machine is.
    const bool helps = round % 4 != 3;
    while (bed.runner->Ready() == nullptr)
      if (helps && random() % 2 == 0) bed.runner->Help();
    reader.seen.clear();
    bed.runner->Finish(run, reader);
    EXPECT_EQ(reader.seen.size(), keys.size());
    for (uint32_t n = 0; n < reader.seen.size() && !testing::Test::HasFailure(); n++) {
      EXPECT_GE(reader.seen[n], least[n]) << "round " << round << ", read " << n;
      EXPECT_LE(reader.seen[n], versions.begun(keys[n])) << "round " << round;
    }
  }
  ends.store(true);
  writer.join();
  counts->gathered += reader.gathered;
  bed.CountInto(counts);
}

}  // namespace weft::pipeline
