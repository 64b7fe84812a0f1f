// Manifests whose last edit a power cut met: whichever of its sectors are lost, the edits before it
// stand. Damage to what was synced is refused all the same.
#include "lsm/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_file_system.h"
#include "base/seed_test_kit.h"
#include "lsm/string_file_test_kit.h"
#include "table/internal_key.h"

namespace weft::lsm {
namespace {

constexpr size_t kSectorBytes = 512;
constexpr char kPath[] = "/db/MANIFEST-000001";

std::string InternalKey(const std::string& user_key) {
  return table::MakeInternalKey(user_key, 1, table::ValueType::kValue);
}

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    EXPECT_TRUE(files.CreateDir("/db").ok());
    EXPECT_TRUE(files.SyncDir("/").ok());
    first.comparator = "test";
    first.log_number = 1;
    first.prev_log_number = 0;
    first.next_file_number = 100;
    first.last_sequence = 7;
    first.AddFile(0, 2, 1000, InternalKey("a"), InternalKey("b"));
    // As an ingest of many tables: it lies in four blocks, also where it begins in the first.
    for (uint64_t n = 10; n < 60; n++) {
      const std::string key(1000, static_cast<char>('A' + n));
      big.AddFile(1, n, 1000, InternalKey(key), InternalKey(key + key.back()));
    }
  }
  // Adds the edits to a new manifest. Returns the bytes before the last one, if there is one. The
  // identity's length is random: where the last sector held zeros alone, those that end a key, it
  // would explain any damage before it.
  uint64_t Write(const std::vector<VersionEdit>& edits) {
    constexpr size_t kZerosAtTheEnd = 6;
    for (;;) {
      const uint64_t before = WriteOnce(edits);
      const size_t rest = files.Contents(kPath)->size() % kSectorBytes;
      if (rest == 0 || rest > kZerosAtTheEnd) return before;
    }
  }
  uint64_t WriteOnce(const std::vector<VersionEdit>& edits) {
    auto created = CreateManifest(&files, "/db", 1, first);
    EXPECT_TRUE(created.has_value());
    uint64_t before = created->log->offset();
    for (const VersionEdit& edit : edits) {
      before = created->log->offset();
      EXPECT_TRUE(created->Add(edit).ok());
    }
    return before;
  }
  static Result<ManifestState> Read(const std::string& contents) {
    StringSource source(contents);
    Result<ManifestState> state = ReadManifest(&source, kPath);
    if (!state) return state;
    EXPECT_GT(std::exchange(state->edit.identity, std::nullopt).value_or(0), 0u);
    return state;
  }
  // `contents` is torn behind the first edit.
  void ExpectFirstAlone(const std::string& contents, uint64_t before, const std::string& where) {
    Result<ManifestState> state = Read(contents);
    ASSERT_TRUE(state.has_value()) << where << ": " << state.error().ToString();
    EXPECT_EQ(state->end, LogEnd::kTorn) << where;
    EXPECT_EQ(state->valid_bytes, before) << where;
    EXPECT_EQ(state->edit, first) << where;
  }
  // Zeros what a sector holds from `from` on.
  static void Lose(std::string* contents, size_t from, size_t sector) {
    const size_t begin = std::max(from, sector * kSectorBytes);
    const size_t end = std::min(contents->size(), (sector + 1) * kSectorBytes);
    std::fill(contents->begin() + begin, contents->begin() + end, '\0');
  }

  base::MemoryFileSystem files;
  VersionEdit first;
  VersionEdit big;
};

TEST_F(ManifestTest, AnEditOfSeveralBlocksIsTornWhicheverSectorIsLost) {
  const uint64_t before = Write({big});
  const std::string whole = *files.Contents(kPath);
  ASSERT_GT(whole.size(), before + 65536);
  ASSERT_TRUE(Read(whole).has_value());
  for (size_t sector = before / kSectorBytes; sector * kSectorBytes < whole.size(); sector++) {
    std::string contents = whole;
    Lose(&contents, before, sector);
    ExpectFirstAlone(contents, before, "sector " + std::to_string(sector));
  }
}

TEST_F(ManifestTest, AnEditOfSeveralBlocksIsThereOrTornWhateverAPowerCutLeaves) {
  std::string record;
  big.EncodeTo(&record);
  std::mt19937_64 random(base::TestSeed());
  for (int round = 0; round < 200; round++) {
    const uint64_t before = Write({});
    auto file = files.NewAppendableFile(kPath, FileUse::kManifest);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(LogWriter(file->get(), before).AddRecord(record).ok());
    file->reset();
    files.Crash(&random, base::CrashKind::kReordered);
    Result<ManifestState> state = Read(*files.Contents(kPath));
    ASSERT_TRUE(state.has_value()) << round << ": " << state.error().ToString();
    EXPECT_TRUE(state->edit == first || state->edit.new_files.size() == 51) << round;
  }
}

TEST_F(ManifestTest, ALostSectorBeforeAnotherEditIsDamage) {
  VersionEdit last;
  last.last_sequence = 9;
  Write({big, last});
  const std::string whole = *files.Contents(kPath);
  ASSERT_TRUE(Read(whole).has_value());
  for (const size_t sector : {size_t{1}, size_t{50}, size_t{100}}) {
    std::string contents = whole;
    Lose(&contents, 0, sector);
    EXPECT_EQ(Read(contents).error().code(), Code::kCorruption) << sector;
  }
}

TEST_F(ManifestTest, AnEditOfSeveralBlocksThatMissesNoSectorIsDamage) {
  const uint64_t before = Write({big});
  const std::string whole = *files.Contents(kPath);
  for (size_t at = before; at < whole.size(); at += 1009) {
    std::string contents = whole;
    contents[at] ^= 1;
    EXPECT_FALSE(Read(contents).has_value()) << at;
  }
}

}  // namespace
}  // namespace weft::lsm
