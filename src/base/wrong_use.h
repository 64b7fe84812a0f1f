// base/wrong_use.h: the command line of a program of several commands, and what the program says to
// one that is wrong. For programs that give CLI11 the whole of it.
//
// Threads   one.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/nearest_name.h"

namespace weft::base {

// The exit status of a program that was used wrongly.
inline constexpr int kWrongUse = 2;

// "one, two": the commands of `app`.
inline std::string CommandNames(const CLI::App& app) {
  std::string names;
  for (const CLI::App* one : app.get_subcommands({}))
    names += (names.empty() ? "" : ", ") + one->get_name();
  return names;
}

// That `word` is none of them; and the one that it is near to, or all.
inline std::string NoCommand(const CLI::App& app, const std::string& word) {
  const auto commands = app.get_subcommands({});
  std::vector<std::string_view> names;
  for (const CLI::App* one : commands) names.push_back(one->get_name());
  const std::string nearest(NearestName(word, names));
  return "unknown command '" + word + "'" +
         (nearest.empty() ? "; the commands are " + CommandNames(app)
                          : ": did you mean '" + nearest + "'?");
}

// The words of a command line, with `help` as `--help`, and `help NAME` as `NAME --help`.
inline std::vector<std::string> HelpAsOption(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  const auto is_named = [&](const CLI::App* one) { return one->get_name() == words.front(); };
  // A NAME that is none stays alone: CLI11 would give help of all.
  if (!words.empty() && app.get_subcommands(is_named).empty())
    words.resize(1);
  else
    words.emplace_back("--help");
  return words;
}

// Parses the command line. Throws what AnswerParseError takes.
inline void ParseCommands(CLI::App* app, int argc, char** argv) {
  auto words = HelpAsOption(*app, {argv + std::min(argc, 1), argv + argc});
  std::ranges::reverse(words);  // CLI11 asks for that
  app->parse(words);
}

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
    if (words.empty())
      what = "a command is missing; the commands are " + CommandNames(*command);
    else if (words.front().starts_with('-'))
      what = "unknown option " + words.front();
    else
      what = NoCommand(*command, words.front());
  }
  std::ranges::replace(what, '\n', ' ');
  std::fprintf(stderr, "%s: %s\nTry '%s --help'.\n", name.c_str(), what.c_str(), name.c_str());
  return kWrongUse;
}

}  // namespace weft::base
