#include "program/commands.h"

#include <sysexits.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/nearest_name.h"
#include "server/options.h"
#include "server/process.h"
#include "server/serve.h"
#include "tool/calibrate.h"
#include "tool/console.h"
#include "tool/db/commands.h"
#include "tool/devices.h"
#include "tool/plan.h"
#include "tool/top.h"

namespace weft::program {
namespace {

using Words = std::vector<std::string>;

bool AsksForHelp(std::string_view word) { return word == "-h" || word == "--help"; }

// Says what is wrong with a command line, and which help to read.
int RefuseLine(const std::string& why) {
  std::fprintf(stderr, "weft: %s (see 'weft --help')\n", server::OneLine(why).c_str());
  return server::kBadUsage;
}

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return EX_OK;
}

using Tool = tool::Exit (*)(const tool::Console&, const Words&);

template <Tool kTool>
int RunTool(const Words& words) {
  const tool::Console console{PosixFileSystem(), std::cout, std::cerr, &std::cin};
  return static_cast<int>(kTool(console, words));
}

// It prints whole stores.
int RunDbTool(const Words& words) {
  std::ios::sync_with_stdio(false);
  return RunTool<tool::RunDb>(words);
}

int RunVersion(const Words& words) {
  if (words.empty()) return Print(server::VersionLine() + "\n");
  if (std::ranges::any_of(words, AsksForHelp)) return Print(Overview());
  return RefuseLine("The following argument was not expected: " + words.front());
}

int RunHelp(const Words& words);

constexpr Command kCommands[] = {
    {"serve", "serve clients of memcached", server::Serve},
    {"top", "show what a server is doing, each second", RunTool<tool::RunTop>},
    {"db", "inspect, check, repair and change a durable store", RunDbTool},
    {"devices", "list this machine's processors and test each", RunTool<tool::RunDevices>},
    {"calibrate", "measure this machine's processors for the planner", RunTool<tool::RunCalibrate>},
    {"plan", "predict how each plan would run a workload", RunTool<tool::RunPlan>},
    {"version", "print the version", RunVersion},
    {"help", "print this text, or what a command says of itself: weft help serve", RunHelp},
};

// Null: there is none.
const Command* Find(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == std::end(kCommands) ? nullptr : &*found;
}

int RefuseName(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string_view nearest = base::NearestName(name, names);
  std::string why = "unknown command '" + name + "'";
  if (!nearest.empty()) why.append(": did you mean '").append(nearest).append("'?");
  return RefuseLine(why);
}

int RunHelp(const Words& words) {
  if (words.empty() || AsksForHelp(words.front())) return Print(Overview());
  const Command* const command = Find(words.front());
  if (command == nullptr) return RefuseName(words.front());
  if (command->run == RunHelp) return Print(Overview());
  Words asked(words.begin() + 1, words.end());
  asked.emplace_back("--help");
  return command->run(asked);
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }

std::string Overview() {
  std::string text =
      "Weft: a key-value store that speaks memcached's protocol.\n"
      "Usage: weft COMMAND [OPTIONS]\n"
      "\n"
      "Commands:\n";
  size_t width = 0;
  for (const Command& command : kCommands) width = std::max(width, command.name.size());
  for (const Command& command : kCommands) {
    text.append("  ").append(command.name).append(width - command.name.size() + 2, ' ');
    text.append(command.help).append("\n");
  }
  return text +
         "\n"
         "Options:\n"
         "  -h, --help     print this text\n"
         "  -V, --version  print the version\n"
         "\n"
         "weft help COMMAND, and weft COMMAND --help, list the options of a command.\n";
}

int RunWords(const Words& words) {
  if (words.empty()) {
    std::fputs(Overview().c_str(), stderr);
    return RefuseLine("a command is missing");
  }
  const std::string& first = words.front();
  if (AsksForHelp(first)) return Print(Overview());
  if (first == "-V" || first == "--version") return Print(server::VersionLine() + "\n");
  if (first.starts_with('-'))
    return RefuseLine("a command is missing before " + first + ", as in weft serve " + first);
  const Command* const command = Find(first);
  return command == nullptr ? RefuseName(first) : command->run({words.begin() + 1, words.end()});
}

int RunAs(std::string_view name, const Words& words) {
  const std::string_view file = name.substr(name.rfind('/') + 1);  // npos + 1 is 0
  return file == "memcached" ? server::Serve(words) : RunWords(words);
}

}  // namespace weft::program
