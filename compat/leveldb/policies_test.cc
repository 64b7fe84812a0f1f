#include "policies.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "convert.h"
#include "leveldb/options.h"
#include "native_options.h"

namespace weft::compat {
namespace {

TEST(ConvertedStatus, KeepsKindAndText) {
  using Api = leveldb::Status;
  for (const Api& status :
       {Api::NotFound("a", "b"), Api::Corruption("a", "b"), Api::NotSupported("a", "b"),
        Api::InvalidArgument("a", "b"), Api::IOError("a", "b"), Api::NotFound(""), Api::OK()}) {
    EXPECT_EQ(status.ToString(), ToLevelDb(FromLevelDb(status)).ToString());
  }
  EXPECT_EQ("NotFound: ", ToLevelDb(Status::NotFound()).ToString());
  for (const Code code :
       {Code::kNoMemory, Code::kRetryNow, Code::kRetryLater, Code::kDeviceLost, Code::kIoError}) {
    EXPECT_EQ("IO error: x", ToLevelDb(Status(code, "x")).ToString());
  }
}

TEST(ConvertedStatus, CopiesAndMoves) {
  leveldb::Status a = ToLevelDb(Status::NotFound());
  leveldb::Status b = a;
  const leveldb::Status c = std::move(a);
  b = leveldb::Status::IOError("b");
  b = c;
  EXPECT_TRUE(b.IsNotFound());
  b = leveldb::Status::Corruption(std::string(1000, 'x'));
  a = b;
  EXPECT_EQ(a.ToString(), b.ToString());
}

TEST(Comparators, OursIsUnwrappedAndAProgramsIsCalled) {
  std::unique_ptr<UserComparator> adapter;
  EXPECT_EQ(BytewiseComparator(), ToWeft(leveldb::BytewiseComparator(), &adapter));
  EXPECT_EQ(nullptr, adapter);
  EXPECT_STREQ("leveldb.BytewiseComparator", leveldb::BytewiseComparator()->Name());

  struct Backwards final : leveldb::Comparator {
    int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
      return b.compare(a);
    }
    const char* Name() const override { return "backwards"; }
    void FindShortestSeparator(std::string* start, const leveldb::Slice& limit) const override {
      *start += limit.ToString();
    }
    void FindShortSuccessor(std::string* key) const override { *key += "!"; }
  } backwards;
  const Comparator* const ours = ToWeft(&backwards, &adapter);
  EXPECT_GT(ours->Compare("a", "b"), 0);
  EXPECT_STREQ("backwards", ours->Name());
  std::string key = "k";
  ours->FindShortestSeparator(&key, "l");
  ours->FindShortSuccessor(&key);
  EXPECT_EQ("kl!", key);
}

TEST(FilterPolicies, OursIsUnwrappedAndAProgramsIsCalled) {
  EXPECT_EQ(nullptr, ToWeft(static_cast<const leveldb::FilterPolicy*>(nullptr)));
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  const auto unwrapped = ToWeft(bloom.get());
  const std::array<std::string_view, 2> keys = {"a", "bc"};
  const std::array<leveldb::Slice, 2> slices = {"a", "bc"};
  std::string ours, theirs;
  unwrapped->CreateFilter(keys, &ours);
  bloom->CreateFilter(slices.data(), 2, &theirs);
  EXPECT_EQ(ours, theirs);
  EXPECT_EQ(unwrapped, ToWeft(bloom.get()));
  EXPECT_TRUE(bloom->KeyMayMatch("bc", theirs));

  struct Joined final : leveldb::FilterPolicy {
    const char* Name() const override { return "joined"; }
    void CreateFilter(const leveldb::Slice* k, int n, std::string* dst) const override {
      for (int i = 0; i < n; i++) dst->append(k[i].data(), k[i].size());
    }
    bool KeyMayMatch(const leveldb::Slice& key, const leveldb::Slice& filter) const override {
      return filter.ToString().find(key.ToString()) != std::string::npos;
    }
  } joined;
  const auto adapted = ToWeft(&joined);
  std::string filter = ">";
  adapted->CreateFilter(keys, &filter);
  EXPECT_EQ(">abc", filter);
  EXPECT_TRUE(adapted->KeyMayMatch("bc", filter));
  EXPECT_FALSE(adapted->KeyMayMatch("cb", filter));
  EXPECT_STREQ("joined", adapted->Name());
}

std::map<std::string, int> deleted;
void DeleteOfLevelDb(const leveldb::Slice& key, void* value) {
  deleted[key.ToString()] += *static_cast<int*>(value);
}
void DeleteOfWeft(std::string_view key, void* value) {
  deleted[std::string(key)] += *static_cast<int*>(value);
}

TEST(Caches, OursServesAProgramAndAStoreAtOnce) {
  deleted.clear();
  int one = 1, ten = 10;
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1000));
  std::shared_ptr<BlockCache> inside = ToWeft(cache.get());
  cache->Release(cache->Insert("program", &one, 3, &DeleteOfLevelDb));
  inside->Release(inside->Insert("store", &ten, 4, &DeleteOfWeft));
  EXPECT_EQ(7u, cache->TotalCharge());
  EXPECT_NE(cache->NewId(), inside->NewId());
  leveldb::Cache::Handle* const handle = cache->Lookup("program");
  ASSERT_NE(nullptr, handle);
  EXPECT_EQ(&one, cache->Value(handle));
  cache->Release(handle);
  cache->Erase("program");
  EXPECT_EQ(1, deleted["program"]);
  cache->Prune();
  EXPECT_EQ(10, deleted["store"]);
  cache.reset();
  EXPECT_EQ(0u, inside->TotalCharge());
}

// A program's cache that holds one entry.
class OneEntry final : public leveldb::Cache {
 public:
  ~OneEntry() override { Drop(); }
  Handle* Insert(const leveldb::Slice& key, void* value, size_t charge,
                 void (*deleter)(const leveldb::Slice&, void*)) override {
    Drop();
    key_ = key.ToString();
    value_ = value;
    charge_ = charge;
    deleter_ = deleter;
    return &handle_;
  }
  Handle* Lookup(const leveldb::Slice& key) override {
    return deleter_ != nullptr && key == leveldb::Slice(key_) ? &handle_ : nullptr;
  }
  void Release(Handle*) override {}
  void* Value(Handle*) override { return value_; }
  void Erase(const leveldb::Slice&) override { Drop(); }
  uint64_t NewId() override { return 77; }
  void Prune() override { pruned = true; }
  size_t TotalCharge() const override { return charge_; }

  bool pruned = false;

 private:
  void Drop() {
    if (deleter_ != nullptr) deleter_(key_, value_);
    deleter_ = nullptr;
  }
  Handle handle_;
  std::string key_;
  void* value_ = nullptr;
  size_t charge_ = 0;
  void (*deleter_)(const leveldb::Slice&, void*) = nullptr;
};

TEST(Caches, AProgramsIsCalled) {
  deleted.clear();
  int one = 1;
  OneEntry user;
  const std::shared_ptr<BlockCache> cache = ToWeft(&user);
  cache->Release(cache->Insert("a", &one, 5, &DeleteOfWeft));
  BlockCache::Handle* handle = cache->Lookup("a");
  ASSERT_NE(nullptr, handle);
  EXPECT_EQ(&one, cache->Value(handle));
  cache->Release(handle);
  EXPECT_EQ(nullptr, cache->Lookup("b"));
  EXPECT_EQ(5u, cache->TotalCharge());
  EXPECT_EQ(77u, cache->NewId());
  cache->Release(cache->Insert("b", &one, 5, &DeleteOfWeft));
  EXPECT_EQ(1, deleted["a"]);
  cache->Erase("b");
  EXPECT_EQ(1, deleted["b"]);
  cache->Prune();
  EXPECT_TRUE(user.pruned);
}

TEST(Loggers, AProgramsGetsWholeLines) {
  struct Collect final : leveldb::Logger {
    void Logv(const char* format, std::va_list ap) override {
      char room[200];
      std::vsnprintf(room, sizeof room, format, ap);
      text += room;
      text += '|';
    }
    std::string text;
  } collect;
  const std::shared_ptr<Logger> logger = ToWeft(&collect);
  logger->Log("100 % of it: %s %n");
  logger->Log(std::string_view("cut here", 3));
  EXPECT_EQ("100 % of it: %s %n|cut|", collect.text);
}

TEST(Options, DefaultsAreOursToo) {
  const NativeOptions native{leveldb::Options()};
  const DbOptions ours;
  const DbOptions& made = native.options();
  EXPECT_EQ(ours.comparator, made.comparator);
  EXPECT_EQ(ours.file_system, made.file_system);
  EXPECT_EQ(ours.write_buffer_size, made.write_buffer_size);
  EXPECT_EQ(ours.max_open_files, made.max_open_files);
  EXPECT_EQ(ours.block_size, made.block_size);
  EXPECT_EQ(ours.block_restart_interval, made.block_restart_interval);
  EXPECT_EQ(ours.max_file_size, made.max_file_size);
  EXPECT_EQ(ours.compression, made.compression);
  EXPECT_EQ(nullptr, made.block_cache);
  EXPECT_EQ(nullptr, made.filter_policy);
  EXPECT_EQ(nullptr, made.info_log);
  EXPECT_FALSE(made.create_if_missing || made.error_if_exists || made.paranoid_checks ||
               made.reuse_logs);
}

TEST(Options, OutOfRangeAreMovedIntoIt) {
  leveldb::Options low;
  low.write_buffer_size = 0;
  low.max_open_files = -5;
  low.block_size = 1;
  low.block_restart_interval = 0;
  low.max_file_size = 0;
  const NativeOptions native_low(low);
  EXPECT_EQ(65536u, native_low.options().write_buffer_size);
  EXPECT_EQ(74, native_low.options().max_open_files);
  EXPECT_EQ(1024u, native_low.options().block_size);
  EXPECT_EQ(1, native_low.options().block_restart_interval);
  EXPECT_EQ(1u << 20, native_low.options().max_file_size);
  leveldb::Options high;
  high.write_buffer_size = high.block_size = high.max_file_size = ~size_t{0};
  high.max_open_files = 1 << 30;
  high.compression = static_cast<leveldb::CompressionType>(2);
  const NativeOptions native_high(high);
  EXPECT_EQ(1u << 30, native_high.options().write_buffer_size);
  EXPECT_EQ(50000, native_high.options().max_open_files);
  EXPECT_EQ(4u << 20, native_high.options().block_size);
  EXPECT_EQ(1u << 30, native_high.options().max_file_size);
  EXPECT_EQ(Compression::kZstd, native_high.options().compression);
}

}  // namespace
}  // namespace weft::compat
