#include "tool/db/commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tool/db/db_test_kit.h"
#include "tool/text_form.h"
#include "weft/db.h"

#if WEFT_TEST_LEVELDB
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include "base/folder_test_kit.h"
#endif

namespace weft::tool {
namespace {

TEST(TextForm, AnyBytesComeBackFromTheirText) {
  std::string all;
  for (int c = 0; c < 256; c++) all += static_cast<char>(c);
  auto back = FromEscaped(Escaped(all));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, all);
  EXPECT_EQ(Escaped("a'b\\c\n\xff"), "a\\x27b\\\\c\\x0a\\xff");
  EXPECT_EQ(ToText("a\xff", Form::kHex), "61ff");
  for (const char* bad : {"\\", "\\x", "\\x1", "\\xg0", "\\x0g", "\\n"}) {
    EXPECT_FALSE(FromEscaped(bad).has_value()) << bad;
  }
}

TEST_F(DbCommandTest, WithoutACommandItSaysHowToUseIt) {
  EXPECT_EQ(Run({}), Exit::kCannotRun);
  EXPECT_EQ(Run({"nonsense"}), Exit::kCannotRun);
  EXPECT_EQ(Run({"--help"}), Exit::kOk);
  for (const char* command : {"dump", "verify", "repair", "stats", "compact", "checkpoint", "get",
                              "put", "load", "delete", "Exit status"}) {
    EXPECT_NE(output.find(command), output.npos) << command;
  }
  EXPECT_EQ(Run({"dump", "--help"}), Exit::kOk);
  EXPECT_NE(output.find("--from"), output.npos) << output;
}

TEST_F(DbCommandTest, NoCommandMakesAStoreWhereThereIsNone) {
  ASSERT_TRUE(files.CreateDir("/empty").ok());
  const auto before = Contents();
  for (const std::string dir : {"/none", "/empty"}) {
    for (const char* command : {"dump", "verify", "repair", "stats", "compact"}) {
      EXPECT_EQ(Run({command, dir}), Exit::kCannotRun) << command;
      EXPECT_NE(errors.find(dir), errors.npos) << errors;
    }
    EXPECT_EQ(Run({"get", dir, "k"}), Exit::kCannotRun);
    EXPECT_EQ(Run({"put", dir, "k", "v"}), Exit::kCannotRun);
    EXPECT_EQ(Run({"delete", dir, "k"}), Exit::kCannotRun);
    EXPECT_EQ(Run({"load", dir}), Exit::kCannotRun);
    EXPECT_EQ(Run({"checkpoint", dir, "/copy"}), Exit::kCannotRun);
  }
  EXPECT_EQ(Contents(), before);
  EXPECT_FALSE(files.FileExists("/none"));
}

TEST_F(DbCommandTest, PutGetAndDeleteTakeAnyBytes) {
  ASSERT_EQ(Run({"put", "/db", "k\\x00\\xff", "v\\\\\\x0a", "--create"}), Exit::kOk) << errors;
  ASSERT_EQ(Run({"get", "/db", "k\\x00\\xff"}), Exit::kOk) << errors;
  EXPECT_EQ(output, "v\\\\\\x0a\n");
  ASSERT_EQ(Run({"get", "/db", "k\\x00\\xff", "--raw"}), Exit::kOk);
  EXPECT_EQ(output, "v\\\n");
  ASSERT_EQ(Run({"delete", "/db", "k\\x00\\xff"}), Exit::kOk) << errors;
  EXPECT_EQ(Run({"get", "/db", "k\\x00\\xff"}), Exit::kDamaged);
  EXPECT_EQ(Run({"get", "/db", "k\\n"}), Exit::kCannotRun);
}

TEST_F(DbCommandTest, AnotherComparatorIsRefusedInWords) {
  Fill();
  EXPECT_EQ(Run({"dump", "/db", "--comparator", "mine"}), Exit::kCannotRun);
  EXPECT_NE(errors.find("mine"), errors.npos);
  EXPECT_EQ(Run({"dump", "/db", "--comparator", "bytewise", "--limit", "1"}), Exit::kOk);
}

TEST_F(DbCommandTest, DumpPrintsKeysInARange) {
  Fill();
  const auto before = Contents();
  ASSERT_EQ(Run({"dump", "/db", "--from", Key(6), "--to", Key(10)}), Exit::kOk) << errors;
  EXPECT_EQ(output, "'key000006' => 'value6'\n'key000008' => 'newer'\n'key000009' => 'value9'\n");
  ASSERT_EQ(Run({"dump", "/db", "--limit", "1", "--values", "hex"}), Exit::kOk);
  EXPECT_EQ(output, "'key000000' => '76616c756530'\n");
  ASSERT_EQ(Run({"dump", "/db", "--limit", "1", "--keys"}), Exit::kOk);
  EXPECT_EQ(output, "'key000000'\n");
  ASSERT_EQ(Run({"dump", "/db", "--limit", "1", "--json"}), Exit::kOk);
  EXPECT_EQ(output, "{\"key\": \"key000000\", \"value\": \"value0\"}\n");
  EXPECT_EQ(Contents(), before);  // nothing was changed
}

TEST_F(DbCommandTest, DumpShowsALogATableAndAManifest) {
  Fill();
  ASSERT_EQ(Run({"dump", "/db", "--file", NameOf(Find(".log"))}), Exit::kOk) << errors;
  EXPECT_NE(output.find("'key000007' @ 2001 : deletion\n"), output.npos) << output;
  EXPECT_NE(output.find("'key000008' @ 2002 : value => 'newer'\n"), output.npos) << output;
  ASSERT_EQ(Run({"dump", "/db", "--file", Find(".ldb"), "--limit", "3"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("index at "), output.npos) << output;
  EXPECT_NE(output.find("'key000002' @ 3 : value => 'value2'\n"), output.npos) << output;
  EXPECT_EQ(output.find("key000003' @"), output.npos) << output;
  ASSERT_EQ(Run({"dump", "/db", "--file", NameOf(Find(".ldb")), "--layout"}), Exit::kOk);
  EXPECT_EQ(output.find(" => "), output.npos);
  const std::string current = *files.Contents("/db/CURRENT");
  ASSERT_EQ(Run({"dump", "/db", "--file", current.substr(0, current.size() - 1)}), Exit::kOk);
  EXPECT_NE(output.find("comparator leveldb.BytewiseComparator"), output.npos) << output;
  EXPECT_EQ(Run({"dump", "/db", "--file", "CURRENT"}), Exit::kCannotRun);
  EXPECT_EQ(Run({"dump", "/db", "--file", "000999.log"}), Exit::kCannotRun);
}

TEST_F(DbCommandTest, VerifyFindsAWholeStoreWholeAndChangesNothing) {
  Fill();
  const auto before = Contents();
  ASSERT_EQ(Run({"verify", "/db"}), Exit::kOk) << output << errors;
  EXPECT_NE(output.find("2000 entries, 1 logs with 2 batches: whole"), output.npos) << output;
  ASSERT_EQ(Run({"verify", "/db/", "--json"}), Exit::kOk);
  EXPECT_NE(output.find("{\"whole\": true, \"tables\": 1"), output.npos) << output;
  EXPECT_EQ(Contents(), before);
}

TEST_F(DbCommandTest, VerifyNamesEveryDamagedFile) {
  Fill();
  const std::string table = Find(".ldb");
  const std::string log = Find(".log");
  const auto whole = files.Copy();
  const uint64_t table_bytes = files.Contents(table)->size();
  // Every region of a table: data, filter and index, footer.
  for (uint64_t at = 0; at < table_bytes; at += 97) {
    files.Restore(*whole);
    ASSERT_TRUE(files.FlipBits(table, at, 0x20).ok());
    ASSERT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << at << output;
    EXPECT_NE(output.find(NameOf(table)), output.npos) << output;
  }
  files.Restore(*whole);
  ASSERT_TRUE(
      files.FlipBits(log, 20, 1).ok());  // in its first record; closed, so it is no torn end
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged);
  EXPECT_NE(output.find(NameOf(log)), output.npos) << output;
  for (const std::string& path : {table, log}) {
    files.Restore(*whole);
    ASSERT_TRUE(files.RemoveFile(path).ok());
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << path;
    EXPECT_NE(output.find(NameOf(path)), output.npos) << output;
  }
  files.Restore(*whole);
  ASSERT_TRUE(files.SetContents("/db/CURRENT", "nonsense\n").ok());
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged);
  EXPECT_NE(output.find("CURRENT"), output.npos) << output;
}

TEST_F(DbCommandTest, VerifyFindsEveryFlippedByteOfAManifest) {
  Fill();
  const std::string current = *files.Contents("/db/CURRENT");
  const std::string manifest = "/db/" + current.substr(0, current.size() - 1);
  const auto whole = files.Copy();
  const uint64_t bytes = files.Contents(manifest)->size();
  for (uint64_t at = 0; at < bytes; at++) {
    files.Restore(*whole);
    ASSERT_TRUE(files.FlipBits(manifest, at, 0x20).ok());
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << at << " of " << bytes << output;
    EXPECT_NE(output.find(NameOf(manifest)), output.npos) << at << output;
    EXPECT_EQ(Run({"dump", "/db", "--file", std::string(NameOf(manifest))}), Exit::kDamaged) << at;
  }
}

TEST_F(DbCommandTest, VerifyFindsEveryCutOfAManifestThatWasClosed) {
  Fill();
  const std::string current = *files.Contents("/db/CURRENT");
  const std::string manifest = "/db/" + current.substr(0, current.size() - 1);
  const auto whole = files.Copy();
  const uint64_t bytes = files.Contents(manifest)->size();
  for (uint64_t left = 0; left < bytes; left++) {
    files.Restore(*whole);
    ASSERT_TRUE(files.Truncate(manifest, left).ok());
    EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged) << left << " of " << bytes << output;
    EXPECT_NE(output.find(NameOf(manifest)), output.npos) << left << output;
  }
}

// Behind the manifest of a store that was not closed stands a part of one more record, as a crash
// leaves it, or a whole one with another bit.
TEST_F(DbCommandTest, DumpJudgesTheEndOfAManifestAsVerifyDoes) {
  Fill();
  ASSERT_TRUE(files.RemoveFile("/db/CLOSED").ok());
  const std::string current = *files.Contents("/db/CURRENT");
  const std::string manifest = "/db/" + current.substr(0, current.size() - 1);
  const std::string whole = *files.Contents(manifest);
  const size_t record_bytes = 7 + static_cast<uint8_t>(whole[4]);
  const std::string record = whole.substr(0, record_bytes);
  const auto judge = [&](const std::string& end) {
    EXPECT_TRUE(files.SetContents(manifest, whole + end).ok());
    const Exit judged = Run({"verify", "/db"});
    EXPECT_EQ(Run({"dump", "/db", "--file", std::string(NameOf(manifest))}), judged)
        << end.size() << output;
    return judged;
  };
  for (size_t left = 0; left < record_bytes; left++)
    EXPECT_EQ(judge(record.substr(0, left)), Exit::kOk) << left << output;
  int damaged = 0;
  for (size_t at = 0; at < record_bytes; at++) {
    std::string other = record;
    other[at] ^= 0x20;
    damaged += judge(other) == Exit::kDamaged ? 1 : 0;
  }
  EXPECT_GT(damaged, static_cast<int>(record_bytes) / 2);
}

TEST_F(DbCommandTest, ATornEndIsNoDamage) {
  Fill();
  ASSERT_TRUE(files.RemoveFile("/db/CLOSED").ok());  // as after a crash
  const std::string log = Find(".log");
  ASSERT_TRUE(files.Truncate(log, files.Contents(log)->size() - 3).ok());
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
  EXPECT_NE(output.find("note: " + log), output.npos) << output;
}

TEST_F(DbCommandTest, AStoreWhoseCurrentIsLostIsDamagedToEveryCommand) {
  Fill();
  ASSERT_TRUE(files.RemoveFile("/db/CURRENT").ok());
  const auto before = Contents();
  const std::vector<std::vector<std::string>> commands = {
      {"dump", "/db"},        {"get", "/db", "k"}, {"put", "/db", "k", "v"},
      {"stats", "/db"},       {"verify", "/db"},   {"put", "/db", "k", "v", "--create"},
      {"delete", "/db", "k"}, {"compact", "/db"},  {"checkpoint", "/db", "/copy"}};
  for (const auto& command : commands) {
    EXPECT_EQ(Run(command), Exit::kDamaged) << command[0];
    const std::string said = output + errors;
    EXPECT_NE(said.find("/db/CURRENT is missing"), said.npos) << command[0] << said;
    EXPECT_NE(said.find("repair"), said.npos) << command[0] << said;
  }
  for (const auto& [path, contents] : before) {
    if (path.find("LO") != path.npos) continue;
    EXPECT_EQ(*files.Contents(path), contents) << path;
  }
  ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << errors;
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
}

TEST_F(DbCommandTest, ADamagedLogIsNotPassedOverInSilence) {
  {
    auto db = Open(true);
    for (int i = 0; i < 30; i++) ASSERT_TRUE(db->Put({}, Key(i), "value").ok());
    const auto left = files.Copy();
    db.reset();
    files.Restore(*left);
  }
  const std::string log = Find(".log");
  std::string contents = *files.Contents(log);
  std::fill_n(contents.begin() + 300, 60, '\xee');
  ASSERT_TRUE(files.SetContents(log, contents).ok());
  EXPECT_EQ(Run({"dump", "/db"}), Exit::kDamaged);
  EXPECT_NE(output.find(Key(0)), output.npos) << "what was before it is shown";
  EXPECT_NE(errors.find("note: " + log), errors.npos) << errors;
  EXPECT_EQ(Run({"get", "/db", Key(0)}), Exit::kDamaged);
  EXPECT_EQ(output, "value\n");
  EXPECT_NE(errors.find("note: " + log), errors.npos) << errors;
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kDamaged);
  EXPECT_EQ(Run({"dump", "/db", "--paranoid"}), Exit::kDamaged);
  EXPECT_EQ(output, "");
  const std::vector<std::vector<std::string>> writers = {{"put", "/db", "k", "v"},
                                                         {"put", "/db", "k", "v", "--create"},
                                                         {"delete", "/db", Key(0)},
                                                         {"compact", "/db"},
                                                         {"checkpoint", "/db", "/copy"}};
  for (const auto& command : writers) {
    EXPECT_EQ(Run(command), Exit::kDamaged) << command[0];
    EXPECT_NE(errors.find(log), errors.npos) << errors;
    EXPECT_NE(errors.find("repair"), errors.npos) << errors;
  }
  EXPECT_TRUE(*files.Contents("/db/lost/" + NameOf(log)) == contents);
  ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << errors;
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
  ASSERT_EQ(Run({"dump", "/db", "--keys"}), Exit::kOk) << errors;
  EXPECT_GE(std::ranges::count(output, '\n'), 7);
}

TEST_F(DbCommandTest, RepairMakesADamagedStoreWholeAgain) {
  Fill();
  const std::string table = Find(".ldb");
  ASSERT_TRUE(files.FlipBits(table, files.Contents(table)->size() / 2, 0xff).ok());
  ASSERT_EQ(Run({"verify", "/db"}), Exit::kDamaged);
  ASSERT_EQ(Run({"repair", "/db"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("the manifest was whole"), output.npos) << output;
  EXPECT_NE(errors.find("repair: "), errors.npos) << errors;
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
  ASSERT_EQ(Run({"get", "/db", Key(8)}), Exit::kOk);
  EXPECT_EQ(output, "newer\n");
  EXPECT_EQ(Run({"get", "/db", Key(7)}), Exit::kDamaged);
  ASSERT_EQ(Run({"repair", "/db", "--json"}), Exit::kOk);
  EXPECT_NE(output.find("\"tables_salvaged\": 0"), output.npos) << output;
}

TEST_F(DbCommandTest, StatsCountWhatIsThere) {
  Fill();
  ASSERT_EQ(Run({"stats", "/db", "--json", "--full"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("\"last_sequence\": 2000"), output.npos) << output;
  EXPECT_NE(output.find("\"values\": 2000, \"deletions\": 0"), output.npos) << output;
  EXPECT_NE(output.find("\"logs\": 1"), output.npos) << output;
  ASSERT_EQ(Run({"stats", "/db"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("last sequence: 2000"), output.npos) << output;
}

// As verify and every read do.
TEST_F(DbCommandTest, StatsReadATableUpToTheEndThatTheManifestNames) {
  Fill();
  ASSERT_EQ(Run({"compact", "/db"}), Exit::kOk) << errors;
  for (const std::string& path : files.AllFiles()) {
    if (!path.ends_with(".ldb")) continue;
    ASSERT_TRUE(files.SetContents(path, *files.Contents(path) + "x").ok());
  }
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
  EXPECT_EQ(Run({"stats", "/db", "--full"}), Exit::kOk) << errors;
}

TEST_F(DbCommandTest, CompactDropsWhatIsDeleted) {
  Fill();
  ASSERT_EQ(Run({"compact", "/db"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("before: 1 tables"), output.npos) << output;
  EXPECT_NE(errors.find("compact: level"), errors.npos) << errors;
  ASSERT_EQ(Run({"stats", "/db", "--json", "--full"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("\"values\": 1999, \"deletions\": 0"), output.npos) << output;
  ASSERT_EQ(Run({"compact", "/db", "--from", Key(1), "--to", Key(2), "--json"}), Exit::kOk);
  EXPECT_NE(output.find("\"tables_after\": "), output.npos) << output;
  EXPECT_EQ(Run({"verify", "/db"}), Exit::kOk) << output;
}

TEST_F(DbCommandTest, CheckpointMakesASecondStore) {
  Fill();
  ASSERT_EQ(Run({"checkpoint", "/db", "/copy/"}), Exit::kOk) << errors;
  EXPECT_EQ(Run({"checkpoint", "/db", "/copy"}), Exit::kCannotRun);
  ASSERT_EQ(Run({"dump", "/db"}), Exit::kOk);
  const std::string all = output;
  ASSERT_EQ(Run({"dump", "/copy"}), Exit::kOk) << errors;
  EXPECT_EQ(output, all);
  EXPECT_EQ(Run({"verify", "/copy"}), Exit::kOk) << output;
}

TEST_F(DbCommandTest, AStoreThatIsOpenIsNotWrittenTo) {
  Fill();
  const auto db = Open();
  for (const char* command : {"repair", "compact"}) {
    EXPECT_EQ(Run({command, "/db"}), Exit::kCannotRun) << command;
  }
  EXPECT_EQ(Run({"dump", "/db", "--limit", "1"}), Exit::kOk) << errors;
}

#if WEFT_TEST_LEVELDB
TEST(DbCommandLevelDb, AStoreOfLevelDbIsReadCheckedAndCompacted) {
  base::TestFolder folder;
  const std::string dir = folder / "theirs";
  const std::unique_ptr<const leveldb::FilterPolicy> filter(leveldb::NewBloomFilterPolicy(10));
  {
    leveldb::Options options;
    options.create_if_missing = true;
    options.filter_policy = filter.get();
    options.write_buffer_size = 64 << 10;
    leveldb::DB* opened = nullptr;
    ASSERT_TRUE(leveldb::DB::Open(options, dir, &opened).ok());
    const std::unique_ptr<leveldb::DB> db(opened);
    for (int i = 0; i < 5000; i++) {
      ASSERT_TRUE(db->Put({}, Key(i), "value" + std::to_string(i)).ok());
    }
    ASSERT_TRUE(db->Delete({}, Key(4000)).ok());
  }
  std::string output;
  const auto run = [&](const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const Exit exit = RunDb({PosixFileSystem(), out, err}, arguments);
    EXPECT_EQ(exit, Exit::kOk) << arguments[0] << ": " << out.str() << err.str();
    output = out.str();
  };
  run({"verify", dir});
  EXPECT_NE(output.find(": whole"), output.npos) << output;
  run({"dump", dir, "--keys", "--json"});
  EXPECT_EQ(std::ranges::count(output, '\n'), 4999);
  run({"stats", dir, "--full"});
  run({"compact", dir, "--bloom-bits", "10"});
  run({"verify", dir});
  EXPECT_NE(output.find("4999 entries"), output.npos) << output;
  run({"get", dir, Key(42)});
  EXPECT_EQ(output, "value42\n");
}
#endif

}  // namespace
}  // namespace weft::tool
