// Random commands against a model that is simple enough to trust, and storms of threads whose
// values say whose they are.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

struct Setting {
  IndexPolicy policy;
  uint32_t hash_bits;
  uint64_t memory_mib;
  bool may_miss;  // memory is short
  bool fills;     // places of replaced objects (cache/holes.h)
};

constexpr bool kFillsOrNot[] = {false, true};

std::unique_ptr<Store> Open(const CacheOptions& options, bool fills) {
  return fills ? OpenFillingStore(options) : OpenStore(options);
}

class RandomCommands {
 public:
  RandomCommands(const Setting& setting, uint64_t seed)
      : setting_(setting),
        random_(seed),
        store_(Open(Options(setting), setting.fills)),
        client_(store_.get()) {}

  void Run(uint32_t rounds) {
    for (uint32_t i = 0; i < rounds && !testing::Test::HasFatalFailure(); i++) Step();
    if (testing::Test::HasFatalFailure()) return;
    const std::map<std::string, std::string> expected = model_;  // reading may shorten the model
    for (const auto& [key, value] : expected) CheckRead(key);
    if (!setting_.may_miss) {
      EXPECT_EQ(store_->Stats().items, model_.size());
      EXPECT_EQ(store_->Stats().evictions, 0u);
    }
  }
  uint32_t hits() const { return hits_; }

 private:
  static CacheOptions Options(const Setting& setting) {
    CacheOptions options;
    options.memory_bytes = setting.memory_mib << 20;
    options.index_policy = setting.policy;
    options.hash_bits = setting.hash_bits;
    return options;
  }

  // Few enough keys for the weak hashes: sixteen of a hash fit.
  std::string RandomKey() {
    const uint64_t keys = setting_.may_miss ? 2000 : setting_.hash_bits < 8 ? 24 : 300;
    std::string key = "k" + std::to_string(random_() % keys);
    if (key.back() == '7') key += std::string(200, 'x');
    return key;
  }
  std::string RandomValue() {
    const uint64_t kind = random_() % 40;
    const uint64_t bytes = kind == 0  ? random_() % 200000
                           : kind < 5 ? random_() % 5000
                                      : random_() % 100;
    std::string value = std::to_string(random_()) + ":";
    value.resize(std::max(bytes, value.size()), static_cast<char>('a' + random_() % 26));
    return value;
  }

  // The object, which a store short of memory may have lost: then the model forgets it too.
  void Sync(const std::string& key) {
    if (!setting_.may_miss || model_.count(key) == 0) return;
    if (client_.Get(key).reply.outcome == Outcome::kMiss) {
      model_.erase(key);
      cas_.erase(key);
    }
  }
  void CheckRead(const std::string& key) {
    const std::string value = client_.Value(key);
    const auto expected = model_.find(key);
    if (value == "(none)") {
      if (setting_.may_miss) {
        model_.erase(key);
        cas_.erase(key);
      } else {
        ASSERT_EQ(expected, model_.end()) << key;
      }
      return;
    }
    hits_++;
    ASSERT_NE(expected, model_.end()) << key << " came back";
    ASSERT_EQ(value, expected->second) << key;
  }

  void Expect(const std::string& key, Outcome outcome, Outcome expected) {
    if (outcome == expected) return;
    // Between Sync and the command nothing else happens, but the command's own room may cost its
    // key; a plain set is never refused.
    ASSERT_TRUE(setting_.may_miss)
        << key << ": " << static_cast<int>(outcome) << ", expected " << static_cast<int>(expected);
    ASSERT_NE(outcome, Outcome::kNoMemory) << key;
    lost_++;
    client_.Delete(key);
    model_.erase(key);
    cas_.erase(key);
    skip_ = true;
  }

  void Store(StoreMode mode) {
    const std::string key = RandomKey(), value = RandomValue();
    Sync(key);
    const auto found = model_.find(key);
    const bool present = found != model_.end();
    bool stores = true;
    std::string next = value;
    switch (mode) {
      case StoreMode::kSet: break;
      case StoreMode::kAdd: stores = !present; break;
      case StoreMode::kReplace: stores = present; break;
      case StoreMode::kAppend:
      case StoreMode::kPrepend:
        stores = present;
        if (present)
          next = mode == StoreMode::kAppend ? found->second + value : value + found->second;
        break;
    }
    const bool too_large = stores && key.size() + next.size() > (1 << 20);
    Expect(key, client_.Put(mode, key, value).reply.outcome,
           too_large ? Outcome::kTooLarge
           : stores  ? Outcome::kStored
                     : Outcome::kNotStored);
    if (skip_ || !stores || too_large) return;
    model_[key] = next;
    cas_.erase(key);
  }

  void CompareAndSwap() {
    const std::string key = RandomKey(), value = RandomValue();
    Sync(key);
    const bool present = model_.count(key) != 0;
    const auto shown = cas_.find(key);
    const uint64_t cas = shown == cas_.end() ? UINT64_MAX : shown->second;
    const Outcome expected = !present              ? Outcome::kMiss
                             : shown == cas_.end() ? Outcome::kExists
                                                   : Outcome::kStored;
    Expect(key, client_.Cas(key, value, cas), expected);
    if (skip_ || expected != Outcome::kStored) return;
    model_[key] = value;
    cas_.erase(key);
  }

  void Show() {
    const std::string key = RandomKey();
    const Answer answer = client_.Gets(key);
    if (answer.reply.outcome != Outcome::kHit) return CheckRead(key);
    ASSERT_NE(model_.count(key), 0u);
    ASSERT_EQ(answer.value, model_[key]);
    // The version lasts as long as the object: through moves, touches and reads.
    const auto shown = cas_.find(key);
    if (shown != cas_.end()) {
      ASSERT_EQ(answer.reply.cas, shown->second) << key;
    }
    cas_[key] = answer.reply.cas;
  }

  void Count() {
    const std::string key = "n" + std::to_string(random_() % 4);
    Sync(key);
    const bool present = model_.count(key) != 0;
    if (!present) {
      const std::string number = std::to_string(random_() % 1000);
      ASSERT_EQ(client_.Set(key, number), Outcome::kStored);
      model_[key] = number;
      cas_.erase(key);
      return;
    }
    const uint64_t delta = random_() % 50;
    const bool down = random_() % 2 == 0;
    const uint64_t old = std::stoull(model_[key]);
    const uint64_t next = !down ? old + delta : old > delta ? old - delta : 0;
    const Answer answer = client_.Count(key, delta, down);
    Expect(key, answer.reply.outcome, Outcome::kNumber);
    if (skip_) return;
    ASSERT_EQ(answer.reply.number, next);
    std::string text = std::to_string(next);
    text.resize(std::max(text.size(), model_[key].size()), ' ');
    model_[key] = text;
    cas_.erase(key);
  }

  void Step() {
    skip_ = false;
    const std::string key = RandomKey();
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2: return Store(StoreMode::kSet);
      case 3: return Store(StoreMode::kAdd);
      case 4: return Store(StoreMode::kReplace);
      case 5: return Store(random_() % 2 == 0 ? StoreMode::kAppend : StoreMode::kPrepend);
      case 6: return CompareAndSwap();
      case 7: return Show();
      case 8: return Count();
      case 9: {
        Sync(key);
        Expect(key, client_.Touch(key, random_() % 2 == 0 ? 0 : base::NowSeconds() + 10000),
               model_.count(key) != 0 ? Outcome::kTouched : Outcome::kMiss);
        return;
      }
      case 10: {
        Sync(key);
        Expect(key, client_.Delete(key),
               model_.count(key) != 0 ? Outcome::kDeleted : Outcome::kMiss);
        model_.erase(key);
        cas_.erase(key);
        return;
      }
      case 11: {
        if (random_() % 200 != 0) return;
        client_.Flush();
        if (!setting_.may_miss) {
          for (const auto& [k, v] : model_) ASSERT_EQ(client_.Value(k), "(none)") << k;
          // Flushed entries stay counted until they are overwritten or their segment is freed.
          for (const auto& [k, v] : model_) {
            client_.Set(k, "x");
            client_.Delete(k);
          }
        }
        model_.clear();
        cas_.clear();
        return;
      }
      default: return CheckRead(key);
    }
  }

  const Setting setting_;
  std::mt19937_64 random_;
  const std::unique_ptr<cache::Store> store_;
  Client client_;
  std::map<std::string, std::string> model_;
  std::map<std::string, uint64_t> cas_;  // versions shown that still hold
  uint32_t hits_ = 0, lost_ = 0;
  bool skip_ = false;
};

void RunSetting(const Setting& setting, uint32_t rounds) {
  RandomCommands commands(setting, TestSeed());
  commands.Run(rounds);
  EXPECT_GT(commands.hits(), rounds / 100);
  if (testing::Test::HasFailure()) {
    std::printf("policy %d, %u hash bits, %llu MiB, %s\n", static_cast<int>(setting.policy),
                setting.hash_bits, static_cast<unsigned long long>(setting.memory_mib),
                setting.fills ? "fills holes" : "fills no holes");
  }
}

TEST(Model, AgreesOnRandomCommands) {
  for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative})
    for (const uint32_t bits : {2u, 8u, 64u})
      for (const bool fills : kFillsOrNot)
        RunSetting({policy, bits, 256, false, fills}, Rounds(60000));
}

TEST(Model, MayForgetButNeverErrsWhereMemoryIsShort) {
  for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative})
    for (const uint32_t bits : {4u, 9u, 64u})
      for (const bool fills : kFillsOrNot)
        RunSetting({policy, bits, 3, true, fills}, Rounds(40000));
}

// Threads that each own some keys and read all. A value says its key and its version; the owner
// knows what it was told is stored, so an older value than that is an error, as is another key's.
class Storm {
 public:
  Storm(IndexPolicy policy, uint32_t hash_bits, uint64_t memory_mib, uint64_t keys, bool fills)
      : keys_(keys), acknowledged_(keys) {
    CacheOptions options;
    options.memory_bytes = memory_mib << 20;
    options.index_policy = policy;
    options.hash_bits = hash_bits;
    store_ = Open(options, fills);
  }

  void Run(uint32_t rounds) {
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < kThreads; t++)
      threads.emplace_back([this, t, rounds] {
        Client client(store_.get());
        std::mt19937_64 random(TestSeed() * 64 + t);
        for (uint32_t i = 0; i < rounds && errors_ < 5; i++) {
          // Skewed, so that some keys are hot and are carried.
          const uint64_t key = random() % (random() % keys_ + 1);
          switch (random() % 8) {
            case 0:
            case 1:
            case 2: Write(client, random, t, key); break;
            case 3:
              if (random() % 4 == 0) Remove(client, t, key);
              break;
            default: Read(client, key, random() % 4 == 0);
          }
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  void Check() {
    EXPECT_EQ(errors_.load(), 0u);
    EXPECT_GT(hits_.load(), 100u);
    Client client(store_.get());
    uint64_t present = 0, bytes = 0;
    for (uint64_t key = 0; key < keys_; key++) {
      const Answer answer = client.Get(Name(key));
      if (answer.reply.outcome != Outcome::kHit) continue;
      present++;
      bytes += answer.reply.object_bytes;
    }
    EXPECT_EQ(store_->Stats().items, present);
    EXPECT_EQ(store_->Stats().object_bytes, bytes);
    EXPECT_LE(store_->Stats().memory_bytes, store_->memory_limit());
  }
  const Store& store() const { return *store_; }

 private:
  static constexpr uint32_t kThreads = 4;

  static std::string Name(uint64_t key) { return "key" + std::to_string(key); }
  static std::string Stamp(uint64_t key, uint64_t version, size_t bytes) {
    std::string value = Name(key) + "/" + std::to_string(version) + "/";
    value.resize(std::max(value.size(), bytes), static_cast<char>('a' + version % 26));
    return value;
  }

  void Write(Client& client, std::mt19937_64& random, uint32_t t, uint64_t key) {
    key = key / kThreads * kThreads + t;  // the thread's own
    if (key >= keys_) return;
    const uint64_t version = acknowledged_[key].load() / 2 + 1;
    const size_t bytes = random() % 200 == 0 ? random() % 100000 : random() % 600;
    const Expiry expiry = random() % 4 == 0 ? base::NowSeconds() + 100 + key % 5000 : 0;
    Outcome outcome = client.Set(Name(key), Stamp(key, version, bytes), expiry);
    if (outcome == Outcome::kNoMemory) Fail("a set was refused", key);
    // From here on no reader may see an older version. (Bit 0: deleted.)
    acknowledged_[key].store(version * 2);
    if (random() % 8 == 0) {
      client.Touch(Name(key), base::NowSeconds() + 1000);
      client.Put(StoreMode::kAppend, Name(key), Name(key).substr(0, 0));
    }
  }
  void Remove(Client& client, uint32_t t, uint64_t key) {
    key = key / kThreads * kThreads + t;
    if (key >= keys_) return;
    client.Delete(Name(key));
    acknowledged_[key].fetch_or(1);
  }
  void Read(Client& client, uint64_t key, bool with_version) {
    const uint64_t floor = acknowledged_[key].load();
    const Answer answer = with_version ? client.Gets(Name(key)) : client.Get(Name(key));
    if (answer.reply.outcome != Outcome::kHit) return;  // evicted
    hits_++;
    const std::string start = Name(key) + "/";
    if (answer.value.compare(0, start.size(), start) != 0) return Fail("another key's value", key);
    const uint64_t version = std::stoull(answer.value.substr(start.size()));
    if (version < floor / 2) Fail("an older value", key);
    if ((floor & 1) != 0 && version == floor / 2) Fail("a deleted value", key);
    if (answer.value != Stamp(key, version, answer.value.size())) Fail("a torn value", key);
  }
  void Fail(const char* what, uint64_t key) {
    errors_++;
    std::printf("%s at %s\n", what, Name(key).c_str());
  }

  const uint64_t keys_;
  std::unique_ptr<Store> store_;
  std::vector<std::atomic<uint64_t>> acknowledged_;
  std::atomic<uint64_t> errors_{0}, hits_{0};
};

TEST(Storm, EvictionNeverShowsAnOlderOrAnotherValue) {
  for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative})
    for (const bool fills : kFillsOrNot) {
      Storm storm(policy, 64, 3, 20000, fills);
      storm.Run(Rounds(60000));
      storm.Check();
      EXPECT_GT(storm.store().Stats().evictions, 0u);
    }
}

TEST(Storm, WeakHashesNeverShowAnotherKeysValue) {
  for (const uint32_t bits : {3u, 6u, 10u})
    for (const bool fills : kFillsOrNot) {
      Storm storm(IndexPolicy::kCuckoo, bits, 4, 60, fills);
      storm.Run(Rounds(20000));
      storm.Check();
    }
}

TEST(Storm, GrowthUnderEvictionNeverShowsAnOlderValue) {
  for (const IndexPolicy policy : {IndexPolicy::kCuckoo, IndexPolicy::kSetAssociative})
    for (const bool fills : kFillsOrNot) {
      Storm storm(policy, 64, 24, 150000, fills);
      storm.Run(Rounds(100000));
      storm.Check();
      EXPECT_GT(storm.store().Stats().index_buckets, (24u << 20) / 65536);
    }
}

}  // namespace
}  // namespace weft::cache
