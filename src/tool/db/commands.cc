#include "tool/db/commands.h"

#include <algorithm>
#include <utility>

namespace weft::tool {

namespace {

constexpr const char* kFooter =
    "Keys and values are written with escapes, \\xNN for any byte and \\\\ for a backslash, and "
    "are "
    "read so.\n"
    "Exit status: 0 all is well; 1 the store is damaged (get: there is no such key); 2 the command "
    "could not run.";

struct DbCommand {
  const char* name;
  const char* help;  // one line
  Action (*declare)(Arguments* arguments);
};

constexpr DbCommand kDbCommands[] = {
    {"dump", "print all keys and values, or one file", DeclareDump},
    {"verify", "check every file, and change nothing", DeclareVerify},
    {"repair", "make what is whole openable again; the rest goes to the folder DIR/lost",
     DeclareRepair},
    {"stats", "print what the store is made of", DeclareStats},
    {"compact", "compact a range of keys: drop what is deleted or superseded", DeclareCompact},
    {"get", "print a key's value", DeclareGet},
    {"put", "store a value under a key", DeclarePut},
    {"checkpoint", "make a second store that holds what this one holds now", DeclareCheckpoint},
    {"delete", "delete a key (no error where there is none)", DeclareDelete},
    {"load", "store what dump printed, as text or as JSON", DeclareLoad},
};

// One of them on a line that is to be read.
struct Declared {
  Arguments arguments;
  Action action;
};

}  // namespace

Exit RunDb(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Look into, check, mend and change a durable store in LevelDB's format.",
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
  console.err << "weft db: the results could not be written\n";
  return Exit::kCannotRun;
}

}  // namespace weft::tool
