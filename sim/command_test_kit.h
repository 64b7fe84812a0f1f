// sim/command_test_kit.h: what tests of commands share: options as a command line gives them, and
// programs that are run.
//
// Threads   one at a time.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include "base/test_folder.h"
#include "sim/test_text.h"
#include "weft/status.h"

namespace weft::sim {

// `add` gives the app its options, as a command does. kInvalidArgument: they aren't such.
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

// Runs a program as a user does, in a folder of the test's own.
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
