// Files of somebody else's in a store's folder, with numbers that the store will never give.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "lsm/file_names.h"
#include "lsm/manifest.h"
#include "tool/db/commands.h"
#include "weft/db.h"

namespace weft::tool {
namespace {

using Model = std::map<std::string, std::string>;

class FarNumberTest : public testing::Test {
 protected:
  FarNumberTest() {
    options.create_if_missing = true;
    options.file_system = &files;
    options.paranoid_checks = true;
    options.ignore_damaged_logs = false;
    for (int i = 0; i < 3; i++) OpenAndPut(i);
  }
  // Opens, looks, puts some and flushes some of it.
  void OpenAndPut(int round) {
    auto db = Db::Open(options, "/db");
    ASSERT_TRUE(db.has_value()) << db.error().ToString();
    Model all;
    const auto iterator = (*db)->NewIterator({});
    for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
      all.emplace(iterator->key(), iterator->value());
    }
    ASSERT_EQ(all, model);
    for (int i = 0; i < 20; i++) {
      const std::string key = "key" + std::to_string(round * 7 + i);
      model[key] = "value of " + std::to_string(round);
      ASSERT_TRUE((*db)->Put({}, key, model[key]).ok());
      ASSERT_TRUE(i != 10 || (*db)->Flush().ok());
    }
  }
  Exit Run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const Exit exit = RunDb({&files, out, err}, arguments);
    said = out.str() + err.str();
    return exit;
  }
  void ExpectGoesOn() {
    for (int round = 3; round < 6; round++) {
      ASSERT_NO_FATAL_FAILURE(OpenAndPut(round));
      EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << said;
    }
    ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << said;
    for (int round = 6; round < 8; round++) ASSERT_NO_FATAL_FAILURE(OpenAndPut(round));
  }
  // Replaces the manifest by one that says so.
  void BeginManifest(uint64_t number, uint64_t next_file_number) {
    const auto current = lsm::ReadCurrentFile(&files, "/db");
    const std::string path = lsm::ManifestFileName("/db", current.value());
    auto file = files.NewSequentialFile(path);
    auto state = lsm::ReadManifest(file->get(), path);
    ASSERT_TRUE(state.has_value());
    state->edit.next_file_number = next_file_number;
    ASSERT_TRUE(lsm::CreateManifest(&files, "/db", number, state->edit).has_value());
    ASSERT_TRUE(lsm::SetCurrentFile(&files, "/db", number).ok());
  }

  base::MemoryFileSystem files;
  DbOptions options;
  Model model;
  std::string said;
};

TEST_F(FarNumberTest, AStoreIsNotCountedOnFromThem) {
  const auto before = files.Copy();
  const Model model_before = model;
  ASSERT_TRUE(before->CreateDir("/db/lost").ok());
  for (const char* number : {"2305843009213693952", "2305843009213693953", "4611686018427387904",
                             "9223372036854775808", "18446744073709551615"}) {
    for (const std::string& name :
         {std::string(number) + ".log", std::string(number) + ".ldb",
          std::string("MANIFEST-") + number, std::string(number) + ".dbtmp",
          "lost/" + std::string(number) + ".log"}) {
      SCOPED_TRACE(name);
      files.Restore(*before);
      model = model_before;
      ASSERT_TRUE(files.SetContents("/db/" + name, "").ok());
      ASSERT_NO_FATAL_FAILURE(ExpectGoesOn());
      const auto current = lsm::ReadCurrentFile(&files, "/db");
      EXPECT_LE(current.value(), uint64_t{1} << 61 | 1u << 10);
    }
  }
}

// As a store is that was counted on from one.
TEST_F(FarNumberTest, AStoreThatHasCountedOnIsNotLost) {
  const auto before = files.Copy();
  const Model model_before = model;
  for (const uint64_t far : {uint64_t{1} << 61, uint64_t{1} << 62}) {
    files.Restore(*before);
    model = model_before;
    ASSERT_NO_FATAL_FAILURE(BeginManifest(far + 3, far + 4));
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << said;
    ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
    ASSERT_NO_FATAL_FAILURE(ExpectGoesOn());
    // All that it has is far now; and it has lost its manifests.
    for (const std::string& path : files.AllFiles()) {
      if (path.starts_with("/db/MANIFEST") || path == "/db/CURRENT") {
        ASSERT_TRUE(files.RemoveFile(path).ok());
      }
    }
    ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
    ASSERT_NO_FATAL_FAILURE(OpenAndPut(9));
  }
}

// What opening refuses, verify calls damage.
TEST_F(FarNumberTest, VerifyAsksWhatOpeningAsks) {
  ASSERT_NO_FATAL_FAILURE(BeginManifest(77, (uint64_t{1} << 63) + 1));
  EXPECT_EQ(Db::Open(options, "/db").error().code(), Code::kCorruption);
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged);
  EXPECT_NE(said.find("no store can have a file 9223372036854775809"), said.npos) << said;
  ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << said;
  ASSERT_NO_FATAL_FAILURE(OpenAndPut(3));
}

}  // namespace
}  // namespace weft::tool
