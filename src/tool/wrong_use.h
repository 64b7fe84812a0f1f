// tool/wrong_use.h: what a program of several commands says to a command line that is none. For
// programs that give CLI11 the whole of it.
//
// Threads   one.
#pragma once

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

namespace weft::tool {

// Exit status of a command line that is wrong, as of `weft db`.
inline constexpr int kWrongUse = 2;

// Prints what parsing `app` has thrown: the help that was asked for; or one line that says what is
// wrong, and one that names the help. The exit status.
inline int AnswerParseError(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  const CLI::App* command = &app;
  std::string name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    name += " " + command->get_name();
  }
  std::string what = error.what();
  const auto commands = command->get_subcommands({});
  const auto words = command->remaining();
  if (!commands.empty() && command->get_subcommands().empty()) {
    std::string names;
    for (const CLI::App* one : commands) names += (names.empty() ? "" : ", ") + one->get_name();
    what = words.empty() ? "which command? One of " + names
           : words.front().starts_with('-')
               ? "there is no option " + words.front()
               : "there is no command '" + words.front() + "'; there are " + names;
  }
  for (char& c : what)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "%s: %s\nTry '%s --help'.\n", name.c_str(), what.c_str(), name.c_str());
  return kWrongUse;
}

}  // namespace weft::tool
