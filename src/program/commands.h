// program/commands.h: the commands of `weft`, and which of them a command line asks for.
//
// Threads   one at a time.
// Errors    a command says by itself what went wrong, and its exit status says so. A line that
//           names no command gets server::kBadUsage.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::program {

struct Command {
  std::string_view name;
  std::string_view help;  // in the list of all, one line
  // Carries out `words`, those behind the name. The exit status.
  int (*run)(const std::vector<std::string>& words);
};

// In the order of the list.
std::span<const Command> Commands();

// "serve   serve clients of memcached", a line each, and how to go on.
std::string Overview();

// Carries out the words behind `weft`, and gives the exit status. `help COMMAND ...` is the same as
// `COMMAND ... --help`.
int RunWords(const std::vector<std::string>& words);

// The same of a program that was called by `name`: by a link called memcached it is `weft serve`,
// so that scripts, charts and monitors find what they look for.
int RunAs(std::string_view name, const std::vector<std::string>& words);

}  // namespace weft::program
