// sim/command/command_test_kit.h: helpers of the commands' tests: options as a command line gives
// them, and programs to run.
//
// Threads   one at a time.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "base/folder_test_kit.h"
#include "sim/base/help_column.h"
#include "sim/base/text_test_kit.h"
#include "weft/status.h"

namespace weft::sim {

// `add` gives the app its options, as a command does. kInvalidArgument: the arguments don't fit.
template <typename Options>
Result<Options> ParseOptions(void (*add)(CLI::App*, Options*), const std::string& arguments) {
  Options options;
  CLI::App app;
  add(&app, &options);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return Status(Code::kInvalidArgument, error.what());
  }
  return options;
}

// The options of a help text that it says nothing of. A text stands in the option's line, from
// column kHelpColumn on and behind two blanks. If the option is too long for that, it stands in the
// next line.
inline std::vector<std::string> OptionsWithoutText(const std::string& help) {
  constexpr size_t kTextAt = kHelpColumn;
  std::vector<std::string> without;
  std::istringstream in(help);
  bool may_follow = false;  // the last of `without` may have its text in this line
  for (std::string line; std::getline(in, line);) {
    const bool has_text = line.find_first_not_of(' ', kTextAt) != std::string::npos;
    const bool is_option = line.starts_with("  -");
    if (is_option) {
      if (!has_text || line[kTextAt - 1] != ' ' || line[kTextAt - 2] != ' ')
        without.push_back(line);
    } else if (may_follow && has_text && line.find_first_not_of(' ') >= kTextAt) {
      without.pop_back();
    }
    may_follow = is_option && !without.empty() && without.back() == line;
  }
  return without;
}

// Runs a program as a user does, in the test's own folder.
class ProgramTest : public testing::Test {
 protected:
  struct Outcome {
    int status;
    std::string out;
    std::string err;
  };

  std::string FileOf(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  Outcome RunProgram(const std::string& program, const std::string& arguments) const {
    const std::string out = folder_ / "out";
    const std::string err = folder_ / "err";
    const std::string command = program + " " + arguments + " >" + out + " 2>" + err;
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status)) << command;
    return {WEXITSTATUS(status), TextOf(out), TextOf(err)};
  }

  const base::TestFolder folder_;
};

}  // namespace weft::sim
