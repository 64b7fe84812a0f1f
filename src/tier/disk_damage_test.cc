// A store that is served though its files are not as they were written: whatever byte is another
// one, a key has its value or can't be read. It never has another value, and never seems absent.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <random>

#include "base/clock.h"
#include "base/folder_test_kit.h"
#include "base/seed_test_kit.h"
#include "cache/cache_test_kit.h"
#include "lsm/file_names.h"
#include "tier/disk_files_test_kit.h"
#include "tier/disk_tier.h"

namespace weft::tier {
namespace {

class DiskDamageTest : public ::testing::Test {
 protected:
  void SetUp() override { cache_ = cache::OpenStore(); }

  Status Open() {
    tier_.reset();
    auto opened = DiskTier::Open(options_, cache_.get());
    if (!opened) return opened.error();
    tier_ = std::move(opened.value());
    return {};
  }
  void Put(std::string_view key, std::string_view value) {
    std::string bytes;
    EncodeItem({0, tier_->generation(), 0, 0, cache_->log().NextVersion(), value}, &bytes);
    WriteBatch batch;
    batch.Put(key, bytes);
    ASSERT_TRUE(tier_->Write(&batch).ok());
    expected_[std::string(key)] = value;
  }
  void Delete(std::string_view key) {
    WriteBatch batch;
    batch.Delete(key);
    ASSERT_TRUE(tier_->Write(&batch).ok());
    expected_[std::string(key)] = "(none)";
  }
  // Tables whose blocks are not compressed: they are used where they lie. Too few to be compacted.
  void Fill(int tables) {
    std::mt19937_64 random(cache::TestSeed());
    for (int table = 0; table < tables; table++) {
      ASSERT_TRUE(Open().ok());
      for (int i = 0; i < 5; i++) {
        std::string value(20 + random() % 60, '\0');
        for (char& c : value) c = static_cast<char>(random());
        Put("key" + std::to_string(table * 4 + i), value);
      }
      Delete("key" + std::to_string(table * 4 + 1));
      Delete("never" + std::to_string(table));
      tier_.reset();  // writes the table
    }
  }
  std::string Value(const std::string& key) {
    Lookup lookup;
    lookup.Add(key, cache_->HashOf(key));
    tier_->Answer(&lookup);
    const Asked& asked = lookup.asked().front();
    Item item;
    if (asked.answered == Answered::kAbsent) return "(none)";
    if (asked.answered != Answered::kItem || !DecodeItem(asked.bytes, &item)) return "(error)";
    return std::string(item.value);
  }
  // Returns how many keys could not be read.
  int CheckAll(const std::string& where) {
    int errors = 0;
    for (const auto& [key, value] : expected_) {
      const std::string found = Value(key);
      errors += found == "(error)" ? 1 : 0;
      EXPECT_TRUE(found == value || found == "(error)") << key << " is " << found << ", " << where;
    }
    return errors;
  }
  static lsm::FileType TypeOf(const std::string& path) {
    lsm::ParsedFileName parsed;
    const bool known = lsm::ParseFileName(path.substr(path.rfind('/') + 1), &parsed);
    return known ? parsed.type : lsm::FileType::kInfoLog;
  }

  DiskTestFiles files_;
  TierOptions options_{.dir = "/data", .file_system = &files_.faulty, .block_cache_bytes = 0};
  std::unique_ptr<cache::Store> cache_;
  std::unique_ptr<DiskTier> tier_;
  std::map<std::string, std::string> expected_;
};

TEST_F(DiskDamageTest, AnyByteOfATableThatIsAnotherOneWhenItStarts) {
  Fill(3);
  const auto whole = files_.memory.Copy();
  const size_t stride = base::Stride(1000);
  int bytes = 0, errors = 0;
  for (const std::string& path : whole->AllFiles()) {
    if (TypeOf(path) != lsm::FileType::kTable) continue;
    const size_t size = whole->Contents(path)->size();
    for (size_t at = 0; at < size; at += stride, bytes++) {
      files_.memory.Restore(*whole);
      ASSERT_TRUE(files_.memory.FlipBits(path, at, static_cast<uint8_t>(1 << at % 8)).ok());
      if (!Open().ok()) continue;
      errors += CheckAll(path + " at " + std::to_string(at));
      tier_.reset();
    }
  }
  EXPECT_GT(bytes, static_cast<int>(1000 / stride));
  EXPECT_GT(errors, static_cast<int>(500 / stride));
}

// What was refused is refused again: the state is not written anew by whoever could not read it.
TEST_F(DiskDamageTest, ARefusedStartLeavesTheStateAsItIs) {
  Fill(1);
  const auto whole = files_.memory.Copy();
  int refused = 0;
  for (const std::string& path : whole->AllFiles()) {
    if (TypeOf(path) != lsm::FileType::kTable) continue;
    const size_t size = whole->Contents(path)->size();
    for (size_t at = 0; at < size; at += base::Stride(1000)) {
      files_.memory.Restore(*whole);
      ASSERT_TRUE(files_.memory.FlipBits(path, at, 1).ok());
      if (Open().ok()) continue;
      refused++;
      EXPECT_FALSE(Open().ok()) << path << " at " << at;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST_F(DiskDamageTest, ARefusedStartWritesNothingIntoAnotherProgramsStore) {
  DbOptions options;
  options.create_if_missing = true;
  options.file_system = &files_.faulty;
  for (const std::string_view key : {"", "a"}) {
    files_.memory.Restore(*base::MemoryFileSystem().Copy());
    ASSERT_TRUE((*Db::Open(options, "/data"))->Put({}, key, "theirs").ok());
    EXPECT_EQ(Open().code(), Code::kInvalidArgument);
    EXPECT_EQ(Open().code(), Code::kInvalidArgument);
    const std::unique_ptr<Db> db = std::move(*Db::Open(options, "/data"));
    std::string value;
    EXPECT_TRUE(db->Get({}, key, &value).ok());
    EXPECT_EQ(value, "theirs");
    EXPECT_EQ(db->Get({}, "", &value).ok(), key.empty());
  }
}

TEST_F(DiskDamageTest, AnyByteOfTheOtherFilesOfAStoreThatWasClosed) {
  Fill(3);
  const auto whole = files_.memory.Copy();
  int bytes = 0;
  for (const std::string& path : whole->AllFiles()) {
    if (TypeOf(path) == lsm::FileType::kTable) continue;
    const size_t size = whole->Contents(path)->size();
    for (size_t at = 0; at < size; at++, bytes++) {
      files_.memory.Restore(*whole);
      ASSERT_TRUE(files_.memory.FlipBits(path, at, static_cast<uint8_t>(1 << at % 8)).ok());
      if (!Open().ok()) continue;
      EXPECT_EQ(CheckAll(path + " at " + std::to_string(at)), 0);
      tier_.reset();
    }
  }
  EXPECT_GT(bytes, 200);
}

// What is at the end of a log that was not closed may be what a crash has cut.
TEST_F(DiskDamageTest, AnyByteOfALogBeforeItsLastRecord) {
  ASSERT_TRUE(Open().ok());
  std::string log;
  for (const std::string& path : files_.memory.AllFiles()) {
    const bool is_log = TypeOf(path) == lsm::FileType::kLog;
    if (is_log && !files_.memory.Contents(path)->empty()) log = path;
  }
  for (int i = 0; i < 8; i++) Put("key" + std::to_string(i), std::string(30, static_cast<char>(i)));
  const size_t before_last = files_.memory.Contents(log)->size();
  Put("last", "value");
  const auto whole = files_.memory.Copy();
  for (size_t at = 0; at < before_last; at++) {
    tier_.reset();
    files_.memory.Restore(*whole);
    ASSERT_TRUE(files_.memory.FlipBits(log, at, static_cast<uint8_t>(1 << at % 8)).ok());
    if (Open().ok()) {
      EXPECT_EQ(CheckAll(log + " at " + std::to_string(at)), 0);
    }
  }
}

// The bytes change under a server that has the files mapped, and has looked into them before.
TEST_F(DiskDamageTest, AnyByteOfATableThatChangesWhileItIsServed) {
  const base::TestFolder folder;
  options_.dir = folder / "data";
  options_.file_system = PosixFileSystem();
  Fill(1);  // no lookup passes through one in vain, so that none is merged with another meanwhile
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(CheckAll("before"), 0);
  std::vector<std::string> names;
  ASSERT_TRUE(PosixFileSystem()->GetChildren(options_.dir, &names).ok());
  int errors = 0;
  for (const std::string& name : names) {
    if (TypeOf(name) != lsm::FileType::kTable) continue;
    const int fd = ::open((options_.dir + "/" + name).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    char was = 0;
    for (off_t at = 0; ::pread(fd, &was, 1, at) == 1; at++) {
      for (const int mask : {1 << at % 8, 0xff}) {
        const char is = static_cast<char>(was ^ mask);
        ASSERT_EQ(::pwrite(fd, &is, 1, at), 1);
        errors += CheckAll(name + " at " + std::to_string(at));
      }
      ASSERT_EQ(::pwrite(fd, &was, 1, at), 1);
    }
    ::close(fd);
  }
  EXPECT_GT(errors, 500);
  EXPECT_EQ(CheckAll("after"), 0);
}

TEST_F(DiskDamageTest, WhyAKeyIsNotReadIsTold) {
  std::vector<std::string> told;
  options_.on_read_error = [&](const Status& why, uint64_t keys) {
    told.push_back(std::to_string(keys) + " " + std::string(why.message()));
  };
  ASSERT_TRUE(Open().ok());
  Put("key", std::string(100, 'v'));
  tier_.reset();
  std::string table;
  for (const std::string& path : files_.memory.AllFiles())
    if (TypeOf(path) == lsm::FileType::kTable) table = path;
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(Value("key"), std::string(100, 'v'));
  ASSERT_TRUE(files_.memory.FlipBits(table, 5, 1).ok());
  EXPECT_EQ(Value("key"), "(error)");
  EXPECT_EQ(Value("key"), "(error)");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told.front(), "1 " + table + ": block at 0: checksum mismatch");
  EXPECT_EQ(tier_->Stats().lookup_errors, 2u);
}

// Another program's value, or one of a later form.
TEST_F(DiskDamageTest, WhatIsNoItemIsAnError) {
  std::string told;
  options_.on_read_error = [&](const Status& why, uint64_t) { told = why.message(); };
  ASSERT_TRUE(Open().ok());
  WriteBatch batch;
  batch.Put("k\xff y", "no item");
  ASSERT_TRUE(tier_->Write(&batch).ok());
  EXPECT_EQ(Value("k\xff y"), "(error)");
  EXPECT_EQ(told, "the value of the key k\\xff\\x20y is not an item");
}

// A table that is gone is no answer about its keys.
TEST_F(DiskDamageTest, AMissingTableIsNoMiss) {
  Fill(3);
  const auto whole = files_.memory.Copy();
  for (const std::string& path : whole->AllFiles()) {
    if (TypeOf(path) != lsm::FileType::kTable) continue;
    files_.memory.Restore(*whole);
    ASSERT_TRUE(files_.memory.RemoveFile(path).ok());
    if (Open().ok()) {
      EXPECT_GT(CheckAll(path), 0);
    }
    tier_.reset();
  }
}

}  // namespace
}  // namespace weft::tier
