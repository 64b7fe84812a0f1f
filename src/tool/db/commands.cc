#include "tool/db/commands.h"

#include <algorithm>
#include <utility>

namespace weft::tool {

namespace {

constexpr const char* kFooter =
    "Keys and values are printed and read with escapes: \\xNN for any byte, \\\\ for a backslash.\n"
    "Exit status: 0 success; 1 the store is damaged (get: the key does not exist); 2 the command "
    "could not run.";

struct DbCommand {
  const char* name;
  const char* help;  // one line
  Action (*declare)(Arguments* arguments);
};

constexpr DbCommand kDbCommands[] = {
    {"dump", "print all keys and values, or one file", DeclareDump},
    {"verify", "check every file without changing any", DeclareVerify},
    {"repair", "make a damaged store usable again; damaged files go to DIR/lost", DeclareRepair},
    {"stats", "print the sizes of the store's levels and logs", DeclareStats},
    {"compact", "compact a range of keys: drop deleted and superseded entries", DeclareCompact},
    {"get", "print a key's value", DeclareGet},
    {"put", "store a value under a key", DeclarePut},
    {"checkpoint", "make a second store with the present contents of this one", DeclareCheckpoint},
    {"delete", "delete a key (no error if it does not exist)", DeclareDelete},
    {"load", "store the output of dump, text or JSON", DeclareLoad},
};

// One of them on a line that is to be read.
struct Declared {
  Arguments arguments;
  Action action;
};

}  // namespace

Exit RunDb(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Inspects, checks, repairs and changes a durable store in LevelDB's format.",
                   "weft db", kFooter);
  std::vector<Declared> commands;
  for (const DbCommand& command : kDbCommands) {
    Arguments declared = line.AddCommand(command.name, command.help);
    Action action = command.declare(&declared);
    commands.push_back({declared, std::move(action)});
  }
  std::string text;
  switch (line.Parse(arguments, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  const auto named = std::ranges::find_if(
      commands, [](const Declared& command) { return command.arguments.WasNamed(); });
  const Exit exit = named->action(console);
  console.out.flush();
  if (console.out.good()) return exit;
  console.err << "weft db: could not write the results\n";
  return Exit::kCannotRun;
}

}  // namespace weft::tool
