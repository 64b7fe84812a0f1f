// What `weft db` says to who uses it wrongly, and how `load` takes what `dump` printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tool/db/db_test_kit.h"

namespace weft::tool {
namespace {

using DbUsageTest = DbCommandTest;

TEST_F(DbUsageTest, HelpIsAlsoACommand) {
  const std::pair<std::vector<std::string>, std::vector<std::string>> same[] = {
      {{"help"}, {"--help"}}, {{"help", "get"}, {"get", "--help"}}};
  for (const auto& [command, option] : same) {
    EXPECT_EQ(Run(option), Exit::kOk);
    const std::string expected = output;
    EXPECT_NE(expected, "");
    EXPECT_EQ(Run(command), Exit::kOk);
    EXPECT_EQ(output, expected);
  }
  EXPECT_EQ(Run({"help", "gte"}), Exit::kCannotRun);
  EXPECT_EQ(errors, "weft db: unknown command 'gte': did you mean 'get'?\nTry 'weft db --help'.\n");
}

// One line says what is wrong, a second one which help to read.
TEST_F(DbUsageTest, WrongUseIsSaidInALineThatNamesTheHelp) {
  Fill();
  const std::string all =
      "dump, verify, repair, stats, compact, get, put, checkpoint, delete, load";
  const struct {
    std::vector<std::string> arguments;
    std::string says;
    std::string help;
  } cases[] = {
      {{}, "weft db: a command is missing; the commands are " + all, "weft db --help"},
      {{"bogus"}, "weft db: unknown command 'bogus'; the commands are " + all, "weft db --help"},
      {{""}, "weft db: unknown command ''; the commands are " + all, "weft db --help"},
      {{"verfiy"}, "weft db: unknown command 'verfiy': did you mean 'verify'?", "weft db --help"},
      {{"--json"},
       "weft db: the command must come before options such as --json",
       "weft db --help"},
      {{"get", "/db"}, "weft db get: KEY is required", "weft db get --help"},
      {{"stats", "/db", "--bogus"},
       "weft db stats: The following argument was not expected: --bogus",
       "weft db stats --help"},
      {{"dump", "/db", "--limit", "-1"},
       "weft db dump: --limit: must be a number from 0 to 18446744073709551615, not -1",
       "weft db dump --help"},
      {{"dump", "/db", "--limit", "1e3"},
       "weft db dump: --limit: must be a number from 0 to 18446744073709551615, not 1e3",
       "weft db dump --help"},
      {{"dump", "/db", "--bloom-bits", "101"},
       "weft db dump: --bloom-bits: must be a number from 0 to 100, not 101",
       "weft db dump --help"},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(Run(each.arguments), Exit::kCannotRun);
    EXPECT_EQ(errors, each.says + "\nTry '" + each.help + "'.\n");
    EXPECT_EQ(output, "");
  }
  // A key may have the name of a command.
  ASSERT_EQ(Run({"put", "/db", "get", "dump"}), Exit::kOk) << errors;
  ASSERT_EQ(Run({"get", "/db", "get"}), Exit::kOk) << errors;
  EXPECT_EQ(output, "dump\n");
}

TEST_F(DbUsageTest, WhatIsNoStoreIsSaidInOneLine) {
  Fill();
  ASSERT_TRUE(files.SetContents("/file", "text").ok());
  ASSERT_TRUE(files.CreateDir("/empty").ok());
  const auto db = Open();
  const struct {
    const char* dir;
    const char* says;
  } cases[] = {
      {"/none", "/none: no such folder"},
      {"/empty/", "/empty: this folder contains no store"},
      {"/file", "/file: this is a file; a store is a folder"},
      {"", "the name of the store's folder is empty"},
      {"/db", "/db/LOCK: this process has it open and locked"},
  };
  const std::vector<std::vector<std::string>> commands = {
      {"verify"},  {"stats"}, {"dump", "--keys"}, {"get", "k"},    {"repair"},
      {"compact"}, {"load"},  {"put", "k", "v"},  {"delete", "k"}, {"checkpoint", "/copy"}};
  for (const auto& each : cases) {
    for (size_t i = 0; i < commands.size(); i++) {
      std::vector<std::string> words = commands[i];
      words.insert(words.begin() + 1, each.dir);
      if (i < 4 && std::string_view(each.dir) == "/db") continue;  // they need no lock
      const bool is_dump = words[0] == "dump" && *each.dir == '\0';
      EXPECT_EQ(Run(words), Exit::kCannotRun) << words[0] << " " << each.dir;
      EXPECT_EQ(errors, std::string("weft db: ") +
                            (is_dump ? "nothing to dump: give DIR, the store's folder, or --file "
                                       "FILE"
                                     : each.says) +
                            "\n")
          << words[0];
    }
  }
  EXPECT_EQ(Run({"put", "/file", "k", "v", "--create"}), Exit::kCannotRun);
  EXPECT_EQ(Run({"load", "/file", "--create"}), Exit::kCannotRun);
  EXPECT_EQ(errors, "weft db: /file: this is a file; a store is a folder\n");
  EXPECT_EQ(*files.Contents("/file"), "text");
  for (const char* path : {"/none", "/copy", "/empty/LOCK"}) EXPECT_FALSE(files.FileExists(path));
}

TEST_F(DbUsageTest, AMissingTableIsNamedAsItWas) {
  Fill();
  const std::string table = Find(".ldb");
  ASSERT_TRUE(files.RemoveFile(table).ok());
  for (const char* command : {"stats", "verify", "dump"}) {
    EXPECT_EQ(Run({command, "/db"}), Exit::kDamaged) << command;
    EXPECT_NE((output + errors).find(table), std::string::npos) << output << errors;
    EXPECT_EQ((output + errors).find(".sst"), std::string::npos) << output << errors;
  }
}

TEST_F(DbUsageTest, DumpShowsAFileWithoutItsStore) {
  Fill();
  const std::string table = Find(".ldb");
  ASSERT_TRUE(files.SetContents("/000007.ldb", *files.Contents(table)).ok());
  ASSERT_EQ(Run({"dump", "--file", "/000007.ldb", "--limit", "1"}), Exit::kOk) << errors;
  EXPECT_NE(output.find("'key000000' @ 1 : value => 'value0'\n"), output.npos) << output;
  const std::string same = output;
  ASSERT_EQ(Run({"dump", "--file", "000007.ldb", "--limit", "1"}), Exit::kOk) << errors;
  EXPECT_EQ(output, same);
  EXPECT_EQ(Run({"dump", "/db", "--layout"}), Exit::kCannotRun);
}

TEST_F(DbUsageTest, ACheckpointWithinTheStoreIsRefused) {
  Fill();
  for (const char* target : {"/db/copy", "/db/../db/copy", "/db/copy/", "/db/a/b"}) {
    EXPECT_EQ(Run({"checkpoint", "/db", target}), Exit::kCannotRun) << target;
    EXPECT_NE(errors.find("is inside the store /db"), errors.npos) << errors;
  }
  EXPECT_FALSE(files.FileExists("/db/copy"));
  EXPECT_FALSE(files.FileExists("/db/copy.unfinished"));
  // Nor is a store taken for what a checkpoint has left, this one or another.
  ASSERT_TRUE(files.CreateDir("/other.unfinished").ok());
  for (const auto& [path, contents] : Contents()) {
    ASSERT_TRUE(files.SetContents("/other.unfinished/" + NameOf(path), contents).ok());
  }
  EXPECT_EQ(Run({"checkpoint", "/other.unfinished", "/other"}), Exit::kCannotRun);
  EXPECT_EQ(Run({"checkpoint", "/db", "/other"}), Exit::kCannotRun);
  EXPECT_EQ(Run({"verify", "/other.unfinished"}), Exit::kOk) << output;
  EXPECT_EQ(Run({"get", "/other.unfinished", Key(8)}), Exit::kOk) << errors;
}

TEST_F(DbUsageTest, LoadStoresWhatDumpPrinted) {
  {
    auto db = Open(true);
    std::string all;
    for (int c = 0; c < 256; c++) {
      all += static_cast<char>(c);
      ASSERT_TRUE(db->Put({}, std::string(1, static_cast<char>(c)), all).ok());
    }
    ASSERT_TRUE(db->Put({}, "", "of the empty key").ok());
    ASSERT_TRUE(db->Put({}, "empty", "").ok());
    ASSERT_TRUE(db->Put({}, "large", std::string((1 << 20) + 1, 'v')).ok());
    ASSERT_TRUE(db->Put({}, "\\x41 ' \"", "a\\\"'\n => 'b'").ok());
  }
  const std::vector<std::vector<std::string>> forms = {
      {}, {"--values", "hex"}, {"--json"}, {"--json", "--values", "hex"}};
  for (size_t i = 0; i < forms.size(); i++) {
    std::vector<std::string> dump = {"dump", "/db"};
    dump.insert(dump.end(), forms[i].begin(), forms[i].end());
    ASSERT_EQ(Run(dump), Exit::kOk) << errors;
    const std::string dumped = output;
    EXPECT_TRUE(
        std::ranges::all_of(dumped, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    const std::string copy = "/copy" + std::to_string(i);
    std::vector<std::string> load = {"load", copy, "--create"};
    if (i == 1) load.insert(load.end(), {"--values", "hex"});
    if (i % 2 == 0) {
      input = dumped;
    } else {
      ASSERT_TRUE(files.SetContents("/dumped", dumped).ok());
      load.insert(load.begin() + 2, "/dumped");
    }
    ASSERT_EQ(Run(load), Exit::kOk) << errors;
    EXPECT_EQ(output, "260 entries stored\n");
    dump[1] = copy;
    ASSERT_EQ(Run(dump), Exit::kOk) << errors;
    EXPECT_TRUE(output == dumped) << i;
  }
}

TEST_F(DbUsageTest, LoadTakesWhatProgramsWriteAsJson) {
  input =
      "{ \"value\" : \"\\u00e4\\ud83d\\ude00\\n\xc3\xa4\",\t\"key\":\"\\/k\\\\x00\" }\n'k2' => ''";
  ASSERT_EQ(Run({"load", "/db", "--create"}), Exit::kOk) << errors;
  ASSERT_EQ(Run({"get", "/db", "/k\\x00", "--raw"}), Exit::kOk) << errors;
  EXPECT_EQ(output, "\xc3\xa4\xf0\x9f\x98\x80\n\xc3\xa4");
  EXPECT_EQ(Run({"get", "/db", "k2"}), Exit::kOk);
}

TEST_F(DbUsageTest, LoadNamesTheLineThatItCannotRead) {
  for (const std::string bad : {"",
                                "k => v",
                                "'k",
                                "'k'",
                                "'k' => 'v",
                                "'k' => 'v' ",
                                "'k' = 'v'",
                                "'k' => v",
                                "'\\k' => 'v'",
                                "'k' => 'v\\x1'",
                                "  'k' @ 3 : value => 'v'",
                                "{",
                                "{}",
                                "[\"k\"]",
                                "{\"key\": \"k\"}",
                                "{\"value\": \"v\"}",
                                "{\"key\": \"k\", \"value\": 7}",
                                "{\"key\": \"k\", \"value\": \"v\"",
                                "{\"key\": \"k\", \"value\": \"v\"} x",
                                "{\"key\": \"k\", \"value\": \"v\", \"value_hex\": \"00\"}",
                                "{\"key\": \"k\", \"value_hex\": \"0\"}",
                                "{\"key\": \"k\", \"value_hex\": \"0g\"}",
                                "{\"key\": \"\\ud800\", \"value\": \"\"}",
                                "{\"key\": \"\\x\", \"value\": \"\"}",
                                "{\"name\": \"k\", \"value\": \"\"}"}) {
    input = "'a' => '1'\n'b' => '2'\n" + bad + "\n'c' => '3'\n";
    EXPECT_EQ(Run({"load", "/db", "--create"}), Exit::kCannotRun) << bad;
    EXPECT_TRUE(errors.starts_with("weft db: standard input: line 3: ")) << bad << ": " << errors;
    EXPECT_TRUE(errors.ends_with("; 2 entries were stored before that\n")) << errors;
    EXPECT_EQ(std::ranges::count(errors, '\n'), 1) << errors;
    EXPECT_EQ(Run({"get", "/db", "b"}), Exit::kOk);
    EXPECT_EQ(Run({"get", "/db", "c"}), Exit::kDamaged);
  }
  EXPECT_EQ(Run({"load", "/new", "/none", "--create"}), Exit::kCannotRun);
  EXPECT_FALSE(files.FileExists("/new"));
}

}  // namespace
}  // namespace weft::tool
