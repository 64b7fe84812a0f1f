#include "base/wrong_use.h"

#include <gtest/gtest.h>

namespace weft::tool {
namespace {

// What it prints on stderr; the status is to be `status`.
std::string Answer(const std::string& line, int status = 2) {
  CLI::App app("tries commands", "weft-some");
  app.require_subcommand(1);
  CLI::App* const one = app.add_subcommand("one", "the first");
  one->require_subcommand(1);
  one->add_subcommand("inner", "within it");
  int number = 0;
  app.add_subcommand("two", "the second")->add_option("--number", number, "a number");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(line);
    ADD_FAILURE() << line << " is parsed";
  } catch (const CLI::ParseError& error) {
    EXPECT_EQ(base::AnswerParseError(app, error), status) << line;
  }
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out.empty(), status != 0) << out;
  return testing::internal::GetCapturedStderr();
}

TEST(WrongUse, IsALineThatNamesTheWordAndALineThatNamesTheHelp) {
  EXPECT_EQ(
      Answer(""),
      "weft-some: a command is missing; the commands are one, two\nTry 'weft-some --help'.\n");
  EXPECT_EQ(
      Answer("three"),
      "weft-some: unknown command 'three'; the commands are one, two\nTry 'weft-some --help'.\n");
  EXPECT_EQ(Answer("tow"),
            "weft-some: unknown command 'tow': did you mean 'two'?\nTry 'weft-some --help'.\n");
  EXPECT_EQ(Answer("--three"), "weft-some: unknown option --three\nTry 'weft-some --help'.\n");
  EXPECT_EQ(Answer("one three"),
            "weft-some one: unknown command 'three'; the commands are inner\n"
            "Try 'weft-some one --help'.\n");
  const std::string of_two = Answer("two --number x");
  EXPECT_TRUE(of_two.starts_with("weft-some two: ")) << of_two;
  EXPECT_TRUE(of_two.ends_with("\nTry 'weft-some two --help'.\n")) << of_two;
}

TEST(WrongUse, HelpThatIsAskedForIsNone) { EXPECT_EQ(Answer("--help", 0), ""); }

}  // namespace
}  // namespace weft::tool
