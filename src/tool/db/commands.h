// tool/db/commands.h: `weft db ...`: inspects, checks, repairs and changes a durable store.
//
// Every command has a file of its own, which declares its options and does its work; commands.cc
// has the table of all. No command makes a store or a folder where there is none, but `put
// --create`, `load --create` and the target of `checkpoint`; dump, get, stats and verify change
// nothing and ask for no lock.
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

// What a command does, once the line that names it was read.
using Action = std::function<Exit(const Console& console)>;

// Declare what each command takes.
Action DeclareCheckpoint(Arguments* arguments);
Action DeclareCompact(Arguments* arguments);
Action DeclareDelete(Arguments* arguments);
Action DeclareDump(Arguments* arguments);
Action DeclareGet(Arguments* arguments);
Action DeclareLoad(Arguments* arguments);
Action DeclarePut(Arguments* arguments);
Action DeclareRepair(Arguments* arguments);
Action DeclareStats(Arguments* arguments);
Action DeclareVerify(Arguments* arguments);

// Runs the command that `arguments` (behind `weft db`) name.
Exit RunDb(const Console& console, const std::vector<std::string>& arguments);

}  // namespace weft::tool
