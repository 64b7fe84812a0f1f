// tool/db/commands.h: `weft db ...`: look into, check, mend and change a durable store.
//
// Every command has a file of its own, which adds its options to the command line and does its
// work. No command makes a store or a folder where there is none, but `put --create`,
// `load --create` and the target of `checkpoint`; dump, get, stats and verify change nothing and
// ask for no lock.
//
// Threads   one at a time.
// Errors    as Exit (tool/console.h) says; messages on `err`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tool/arguments.h"
#include "tool/console.h"

namespace weft::tool {

// A command, once its options were declared; the function is called when the line named it.
struct Command {
  Arguments arguments;
  std::function<Exit(const Console& console)> run;
};

Command AddCheckpoint(CommandLine* line);
Command AddCompact(CommandLine* line);
Command AddDelete(CommandLine* line);
Command AddDump(CommandLine* line);
Command AddGet(CommandLine* line);
Command AddLoad(CommandLine* line);
Command AddPut(CommandLine* line);
Command AddRepair(CommandLine* line);
Command AddStats(CommandLine* line);
Command AddVerify(CommandLine* line);

// Runs the command that `arguments` (behind `weft db`) name.
Exit RunDb(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
