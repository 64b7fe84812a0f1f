// A mirror that holds less than the log takes.
//
// Threads   one.
#include <map>

#include "processor/mirror/mirror_test_kit.h"

namespace weft::processor {
namespace {

using cache::Client;
using cache::OpenStore;
using cache::Rounds;
using cache::TestSeed;

// 63 objects a segment, in the order of their numbers.
constexpr uint32_t kObjects = 4000;
constexpr uint32_t kBatch = 500;

constexpr size_t kValueBytes = 235;  // 64 objects a segment

std::string KeyOfOneLength(uint64_t i) { return "key" + std::to_string(10000 + i); }

std::unique_ptr<cache::Store> FilledStore(uint32_t object_bytes_max = 16u << 10) {
  CacheOptions options;
  options.memory_bytes = (2u << 20) + (192u << 10);
  options.expected_items = 2 * kObjects;
  options.object_bytes_max = object_bytes_max;
  options.append_lanes = 1;
  auto store = OpenStore(options);
  Client client(store.get());
  for (uint32_t i = 0; i < kObjects; i++)
    client.Set(KeyOfOneLength(i), std::string(kValueBytes, 'v'));
  EXPECT_GT(store->Stats().items, kObjects * 99 / 100);
  EXPECT_EQ(store->log().geometry().segment_bytes, 16u << 10);
  return store;
}

// Reads of any of [first, first + count); how many of a thousand were answered.
uint32_t ReadSome(MirrorReader* reader, std::mt19937_64* random, uint32_t first, uint32_t count,
                  uint32_t batches = 1) {
  uint32_t answered = 0;
  for (uint32_t b = 0; b < batches; b++) {
    std::vector<std::string> keys;
    for (uint32_t i = 0; i < kBatch; i++)
      keys.push_back(KeyOfOneLength(first + (*random)() % count));
    for (const std::string& told : reader->Read(keys)) {
      answered += told != MirrorReader::kNone;
      EXPECT_TRUE(told == MirrorReader::kNone || told == std::string(kValueBytes, 'v'));
    }
  }
  return answered * 1000 / (batches * kBatch);
}

TEST(MirrorLog, FollowsAWorkingSetThatMoves) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), 24);
  std::mt19937_64 random(TestSeed());
  for (const uint32_t first : {0u, 1000u, 3000u, 500u, 2000u}) {
    uint32_t batches = 0;
    while (ReadSome(&reader, &random, first, 1000) < 990 && batches < 1000) batches++;
    // A round of some 2100 queries moves one segment; 17 segments after 4 rounds of rest.
    EXPECT_LT(batches, 120u) << first;
    ReadSome(&reader, &random, first, 1000, 30);  // what lies in a segment of few may come yet
    const uint64_t bytes = reader.counters().log_bytes;
    EXPECT_GT(ReadSome(&reader, &random, first, 1000, 60), 990u);
    EXPECT_EQ(reader.counters().log_bytes, bytes) << "a working set that fits moves nothing";
  }
  EXPECT_EQ(reader.memory().held, 24u);
}

// Time passes only where the test says so, and each end of a round takes kEndNs.
constexpr uint64_t kEndNs = 1000;
uint64_t test_now_ns = 0;
uint64_t test_cpu_ns = 0;
constexpr RoundClocks kTestClocks = {[] { return test_now_ns; },
                                     [] { return test_cpu_ns += kEndNs; }};

TEST(MirrorLog, RestsAsLongAsARoundsEndTook) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), 24, kTestClocks);
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, 1000, 10);  // the first round ends at once
  ReadSome(&reader, &random, 3000, 900, 100);
  EXPECT_EQ(reader.counters().segments_sent_away, 0u) << "did not rest";
  uint64_t gone = 0;
  for (uint32_t round = 0; round < 16; round++) {
    test_now_ns += MirrorLog::kRestPerRound * kEndNs - 1;
    ReadSome(&reader, &random, 3000, 900, 20);
    EXPECT_EQ(reader.counters().segments_sent_away, gone) << "rested for too short a time";
    test_now_ns++;
    ReadSome(&reader, &random, 3000, 900, 20);
    EXPECT_LE(reader.counters().segments_sent_away, gone + 1) << "more than one segment of 24";
    gone = reader.counters().segments_sent_away;
  }
  EXPECT_GT(gone, 8u) << "what is used for some rounds is wanted";
}

TEST(MirrorLog, EqualUseOfMoreThanFitsMovesNothing) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), 24);
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, kObjects, 10);
  const uint64_t bytes = reader.counters().log_bytes;
  const uint32_t answered = ReadSome(&reader, &random, 0, kObjects, 500);
  EXPECT_GT(answered, 300u);
  EXPECT_LT(answered, 450u);
  EXPECT_EQ(reader.counters().log_bytes, bytes);
  EXPECT_EQ(reader.counters().segments_sent_away, 0u);
}

TEST(MirrorLog, WhatIsWrittenNowIsHeldFirst) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), 24);
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, 1000, 50);
  Client client(store.get());
  for (uint32_t i = 0; i < 400; i++) {
    client.Set(KeyOfOneLength(kObjects + i), std::string(kValueBytes, 'v'));
    if (i % 20 == 0) ReadSome(&reader, &random, 0, 1000);
  }
  ReadSome(&reader, &random, 0, 1000, 2);
  EXPECT_GT(ReadSome(&reader, &random, kObjects, 400), 950u);
  EXPECT_GT(ReadSome(&reader, &random, 0, 1000), 950u) << "new segments sent away what is used";
}

TEST(MirrorLog, GoesOnWhereTheDeviceHasLessThanItSaid) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), 40);
  reader.memory().room = 20;
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, 1000, 10);
  EXPECT_EQ(reader.memory().held, 20u);
  EXPECT_GT(reader.memory().refused, 0u);
  ReadSome(&reader, &random, 3000, 900, 120);
  EXPECT_GT(ReadSome(&reader, &random, 3000, 900), 990u);
  const uint64_t refused = reader.memory().refused;
  ReadSome(&reader, &random, 0, kObjects, 100);
  EXPECT_LT(reader.memory().refused, refused + 40) << "asks again and again within a round";
  reader.memory().room = UINT32_MAX;
  ReadSome(&reader, &random, 0, kObjects, 100);
  EXPECT_EQ(reader.memory().held, 40u);
}

// The log has four times as many addresses as segments; what counts is how many are in use.
TEST(MirrorLog, NobodyAsksWhatIsUsedWhereAllFits) {
  const auto store = FilledStore();
  const uint32_t most = store->log().segments_in_use_max();
  EXPECT_LT(most, store->log().segment_count() / 3);
  std::mt19937_64 random(TestSeed());
  for (const bool fits : {true, false}) {
    MirrorReader reader(store.get(), most + most / 8 - (fits ? 0 : 1));
    ReadSome(&reader, &random, 0, kObjects, 10);
    EXPECT_GT(ReadSome(&reader, &random, 0, kObjects), 980u);
    EXPECT_EQ(reader.notes_uses(), !fits);
  }
}

// Small objects at one end of the addresses, then large ones at the other: together they would need
// more memory than there is.
TEST(MirrorLog, WhatCountsNoLongerMakesRoomWhereAllFits) {
  constexpr uint32_t kLarge = 25'000;  // two segments
  const auto store = FilledStore(kLarge + 1000);
  Client client(store.get());
  const auto set_some = [&] {
    for (uint32_t i = 0; i < kObjects; i++)
      client.Set(KeyOfOneLength(i), std::string(kValueBytes, 'v'));
  };
  set_some();  // with what FilledStore has set, all segments
  const uint32_t most = store->log().segments_in_use_max();
  MirrorReader reader(store.get(), most + most / 8);
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, kObjects, 10);
  EXPECT_GT(reader.memory().held, most * 3 / 4);
  client.Flush();
  for (uint32_t i = 0; i < most / 4; i++) {
    ASSERT_EQ(client.Set("large" + std::to_string(i), std::string(kLarge, 'v')), Outcome::kStored);
    reader.Read({KeyOfOneLength(0)});
  }
  for (int i = 0; i < 3; i++) reader.Read({KeyOfOneLength(0)});
  EXPECT_GT(reader.counters().segments_sent_away, most / 4);
  EXPECT_GT(reader.memory().resident_units() * 8, most / 4 * kLarge) << "all of them";
  set_some();
  ReadSome(&reader, &random, 0, kObjects, 3);
  EXPECT_GT(ReadSome(&reader, &random, kObjects / 2, kObjects / 2), 980u);
  EXPECT_FALSE(reader.notes_uses());
}

// The budget grows beyond what fits, so that segments in use have to go, and shrinks again.
TEST(MirrorLog, WhatHadToGoComesBackWhereAllFitsAgain) {
  const auto store = FilledStore();
  Client client(store.get());
  for (uint32_t i = 3500; i < kObjects; i++)
    client.Run(Client::Of(cache::Verb::kDelete, KeyOfOneLength(i)));
  const uint32_t most = store->log().segments_in_use_max();
  MirrorReader reader(store.get(), most + most / 8);
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, 3500, 10);
  EXPECT_FALSE(reader.notes_uses());
  const uint64_t memory_bytes = store->memory_limit();
  ASSERT_TRUE(store->SetMemoryLimit(2 * memory_bytes).ok());
  const auto other = [](uint32_t i) { return "other" + std::to_string(i); };
  for (uint32_t i = 0; i < 7000; i++) {
    client.Set(other(i), std::string(kValueBytes, 'v'));
    if (i % 60 == 0) reader.Read({KeyOfOneLength(0)});
  }
  EXPECT_GT(reader.counters().segments_sent_away, 0u);
  for (uint32_t i = 0; i < 7000; i++) client.Run(Client::Of(cache::Verb::kDelete, other(i)));
  ASSERT_TRUE(store->SetMemoryLimit(memory_bytes).ok());
  for (uint32_t i = 0; i < 6000 && store->log().over_budget(); i++) {
    client.Set(other(i % 100), std::string(kValueBytes, 'v'));
    if (i % 60 == 0) reader.Read({KeyOfOneLength(0)});
  }
  ReadSome(&reader, &random, 0, 3500, 400);
  EXPECT_GT(ReadSome(&reader, &random, 0, 3500, 10), 990u);
  EXPECT_FALSE(reader.notes_uses());
}

TEST(MirrorLog, AllFitsWhereAllAddressesDo) {
  const auto store = FilledStore();
  MirrorReader reader(store.get(), store->log().segment_count());
  ASSERT_TRUE(store->SetMemoryLimit(store->memory_limit() * 37 / 10).ok());
  const uint32_t most = store->log().segments_in_use_max();
  ASSERT_GT(most + most / 8, store->log().segment_count());
  std::mt19937_64 random(TestSeed());
  ReadSome(&reader, &random, 0, kObjects, 10);
  EXPECT_FALSE(reader.notes_uses());
}

// Stores, deletes, evicts, grows its index and empties itself, while a second session keeps batches
// at work: what is answered is the last value.
TEST(MirrorLog, NeverAnswersWithAnOldValue) {
  std::mt19937_64 random(TestSeed());
  uint64_t answered = 0, sent_away = 0, refused = 0;
  for (uint32_t round = 0; round < Rounds(10) + 1; round++) {
    CacheOptions options;
    options.memory_bytes = 8u << 20;
    options.object_bytes_max = 200u << 10;
    options.hash_bits = 20;
    options.expected_items = round % 2 == 0 ? 0 : 20000;
    const auto store = OpenStore(options);
    MirrorReader reader(store.get(), round % 4 == 3 ? 200 : 10 + random() % 60);
    Client client(store.get()), lingering(store.get());
    const uint32_t keys_count = 200 + random() % 8000;
    std::map<uint64_t, std::string> last;
    for (uint32_t step = 0; step < 300; step++) {
      const uint64_t near = random() % keys_count;
      const uint64_t lingers_from = 70 + random() % 60;
      for (uint32_t i = 0; i < 100; i++) {
        if (i == lingers_from) lingering.session().Begin();
        const uint64_t number = (random() % 2 == 0 ? near + random() % 100 : random()) % keys_count;
        const std::string key = KeyOfOneLength(number);
        if (random() % 20 == 0) {
          client.Run(Client::Of(cache::Verb::kDelete, key));
          last[number] = MirrorReader::kNone;
          continue;
        }
        // Of one size for each key, so that it may come to lie where it lay.
        const uint64_t bytes = number % 500 == 0   ? 150000
                               : number % 100 == 0 ? 40000
                                                   : 10 + number % 8 * 150;
        if (bytes > 10000 && i > lingers_from) continue;  // it would wait for room
        std::string value = std::to_string(step * 100 + i);
        value.resize(bytes, 'v');
        // There is no room now and then, for the lingering batch holds on to it.
        if (client.Set(key, value) != Outcome::kStored) value = client.Value(key);
        last[number] = std::move(value);
      }
      if (random() % 200 == 0) {
        client.Flush();
        last.clear();
      }
      reader.memory().room = random() % 3 == 0 ? random() % 80 : UINT32_MAX;
      const uint64_t batches = random() % 10;
      for (uint64_t batch = 0; batch <= batches; batch++) {
        if (batch == batches / 2 && lingering.session().inside()) lingering.session().End();
        std::vector<uint64_t> numbers;
        std::vector<std::string> keys;
        for (uint32_t i = 0; i < 200; i++) {
          numbers.push_back((random() % 4 != 0 ? near + random() % 200 : random()) % keys_count);
          keys.push_back(KeyOfOneLength(numbers.back()));
        }
        const std::vector<std::string> told = reader.Read(keys);
        for (size_t i = 0; i < told.size(); i++) {
          if (told[i] == MirrorReader::kNone) continue;
          answered++;
          const auto at = last.find(numbers[i]);
          ASSERT_TRUE(at != last.end()) << "answered what was flushed: " << keys[i];
          ASSERT_EQ(told[i], at->second) << keys[i] << " in round " << round;
        }
      }
    }
    sent_away += reader.counters().segments_sent_away;
    refused += reader.memory().refused;
  }
  EXPECT_GT(answered, 10000u);
  EXPECT_GT(sent_away, 100u);
  EXPECT_GT(refused, 10u);
}

}  // namespace
}  // namespace weft::processor
