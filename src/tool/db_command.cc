#include "tool/db_command.h"

#include <CLI/CLI.hpp>
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
  CLI::App app("Look into, check, mend and change a durable store in LevelDB's format.", "weft db");
  app.footer(kFooter);
  app.require_subcommand(1);
  const std::vector<Command> commands = {AddDump(&app),  AddVerify(&app),     AddRepair(&app),
                                         AddStats(&app), AddCompact(&app),    AddGet(&app),
                                         AddPut(&app),   AddCheckpoint(&app), AddDelete(&app)};
  for (const Command& command : commands) command.app->footer(kFooter);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // CLI11 asks for that
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    console.out << app.help();
    return Exit::kOk;
  } catch (const CLI::ParseError& error) {
    console.err << "weft db: " << error.what() << "\nTry 'weft db --help'.\n";
    return Exit::kCannotRun;
  }
  const auto named =
      std::ranges::find_if(commands, [](const Command& command) { return command.app->parsed(); });
  const Exit exit = named->run(console);
  console.out.flush();
  if (console.out.good()) return exit;
  console.err << "weft db: the results could not be written\n";
  return Exit::kCannotRun;
}

}  // namespace weft::tool
