// tool/db_command.h: `weft db ...`: look into, check, mend and change a durable store.
//
// Every command has a file of its own, which adds its options to the command line and does its
// work. No command makes a store or a folder where there is none, but `put --create` and the target
// of `checkpoint`; dump, get, stats and verify change nothing and ask for no lock.
//
// Threads   one at a time.
// Errors    as Exit (tool/console.h) says; messages on `err`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tool/console.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::tool {

// A command, once its options were declared; the function is called when the line named it.
struct Command {
  CLI::App* app;
  std::function<Exit(const Console& console)> run;
};

Command AddCheckpoint(CLI::App* db);
Command AddCompact(CLI::App* db);
Command AddDelete(CLI::App* db);
Command AddDump(CLI::App* db);
Command AddGet(CLI::App* db);
Command AddPut(CLI::App* db);
Command AddRepair(CLI::App* db);
Command AddStats(CLI::App* db);
Command AddVerify(CLI::App* db);

// Runs the command that `arguments` (behind `weft db`) name.
Exit RunDb(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
