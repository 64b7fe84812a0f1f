#include "program/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace weft::program {
namespace {

using ::testing::HasSubstr;

struct Answer {
  int status = 0;
  std::string out, err;
};

Answer AnswerTo(const std::vector<std::string>& words) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Answer answer;
  answer.status = RunWords(words);
  std::cout.flush();
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

std::string ComplaintOf(const std::vector<std::string>& words) {
  const Answer answer = AnswerTo(words);
  EXPECT_EQ(answer.status, 1);
  EXPECT_EQ(answer.out, "");
  return answer.err;
}

TEST(Commands, HaveNamesOfTheirOwnAndALineOfHelp) {
  std::set<std::string_view> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.help.empty()) << command.name;
    EXPECT_EQ(command.help.find('\n'), command.help.npos) << command.name;
    EXPECT_THAT(Overview(), HasSubstr("  " + std::string(command.name) + "  "));
    EXPECT_THAT(Overview(), HasSubstr(std::string(command.help) + "\n"));
  }
  EXPECT_GE(names.size(), 7u);
}

TEST(Commands, AllAreListedWhereHelpIsAskedFor) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help"},
                                                {"-h"},
                                                {"--help"},
                                                {"--help", "serve"},
                                                {"help", "help"},
                                                {"help", "--help"},
                                                {"help", "version"},
                                                {"version", "--help"}}) {
    const Answer answer = AnswerTo(words);
    EXPECT_EQ(answer.status, 0) << testing::PrintToString(words);
    EXPECT_EQ(answer.out, Overview()) << testing::PrintToString(words);
    EXPECT_EQ(answer.err, "");
  }
}

TEST(Commands, HelpOfOneIsWhatItSaysOfItself) {
  const std::vector<std::vector<std::string>> commands = {
      {"serve"}, {"db"}, {"db", "get"}, {"devices"}, {"calibrate"}, {"plan"}, {"top"}};
  for (std::vector<std::string> words : commands) {
    std::vector<std::string> asked = words;
    asked.insert(asked.begin(), "help");
    const Answer of_help = AnswerTo(asked);
    words.emplace_back("--help");
    const Answer of_command = AnswerTo(words);
    EXPECT_EQ(of_help.status, 0) << testing::PrintToString(words);
    EXPECT_EQ(of_help.out, of_command.out);
    EXPECT_EQ(of_help.err, "");
    EXPECT_THAT(of_help.out, HasSubstr("Usage: weft " + words.front()));
  }
  EXPECT_THAT(AnswerTo({"help", "serve"}).out, HasSubstr("--memory-limit"));
  EXPECT_THAT(AnswerTo({"help", "db", "get"}).out, HasSubstr("--raw"));
}

TEST(Commands, TheVersionIsOurOwn) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"version"}, {"-V"}, {"--version"}, {"serve", "-V"}}) {
    const Answer answer = AnswerTo(words);
    EXPECT_EQ(answer.status, 0) << testing::PrintToString(words);
    EXPECT_EQ(answer.out, "weft 0.1.0\n") << testing::PrintToString(words);
  }
  EXPECT_EQ(ComplaintOf({"version", "x"}),
            "weft: The following argument was not expected: x (see 'weft --help')\n");
}

TEST(Commands, AWordThatIsNoneIsNamedWithTheNearest) {
  const std::string help = " (see 'weft --help')\n";
  EXPECT_EQ(ComplaintOf({}), Overview() + "weft: a command is missing" + help);
  EXPECT_EQ(ComplaintOf({"bogus"}), "weft: unknown command 'bogus'" + help);
  EXPECT_EQ(ComplaintOf({""}), "weft: unknown command ''" + help);
  EXPECT_EQ(ComplaintOf({"serv", "--data", "x"}),
            "weft: unknown command 'serv': did you mean 'serve'?" + help);
  EXPECT_EQ(ComplaintOf({"help", "device"}),
            "weft: unknown command 'device': did you mean 'devices'?" + help);
  EXPECT_EQ(ComplaintOf({"help", "nosuch", "get"}), "weft: unknown command 'nosuch'" + help);
  EXPECT_EQ(ComplaintOf({"-p", "11211"}),
            "weft: a command is missing before -p, as in weft serve -p" + help);
}

TEST(Commands, WhatIsWrongWithOneItSaysItself) {
  EXPECT_EQ(ComplaintOf({"serve", "-m", "0"}),
            "weft: -m 0: Memory limit must be greater than 0 (see 'weft serve --help')\n");
  const Answer answer = AnswerTo({"help", "db", "nosuch"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.err, HasSubstr("weft db: unknown command 'nosuch'"));
}

TEST(Commands, CalledAsMemcachedItServes) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunAs("/usr/local/bin/memcached", {"--help"}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("weft serve"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunAs("/usr/bin/weft", {"--help"}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("Commands:"));
}

}  // namespace
}  // namespace weft::program
