#include "tool/db/commands.h"

#include <algorithm>

namespace weft::tool {

namespace {

constexpr const char* kFooter =
    "Keys and values are written with escapes, \\xNN for any byte and \\\\ for a backslash, and "
    "are "
    "read so.\n"
    "Exit status: 0 all is well; 1 the store is damaged (get: there is no such key); 2 the command "
    "could not run.";

}  // namespace

Exit RunDb(const Console& console, const std::vector<std::string>& arguments) {
  CommandLine line("Look into, check, mend and change a durable store in LevelDB's format.",
                   "weft db", kFooter);
  const std::vector<Command> commands = {
      AddDump(&line), AddVerify(&line), AddRepair(&line),     AddStats(&line),  AddCompact(&line),
      AddGet(&line),  AddPut(&line),    AddCheckpoint(&line), AddDelete(&line), AddLoad(&line)};
  std::string text;
  switch (line.Parse(arguments, &text)) {
    case CommandLine::Outcome::kHelp: console.out << text; return Exit::kOk;
    case CommandLine::Outcome::kWrong: console.err << text << '\n'; return Exit::kCannotRun;
    case CommandLine::Outcome::kNamed: break;
  }
  const auto named = std::ranges::find_if(
      commands, [](const Command& command) { return command.arguments.WasNamed(); });
  const Exit exit = named->run(console);
  console.out.flush();
  if (console.out.good()) return exit;
  console.err << "weft db: the results could not be written\n";
  return Exit::kCannotRun;
}

}  // namespace weft::tool
