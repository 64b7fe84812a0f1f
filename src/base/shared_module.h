// base/shared_module.h: loads what a program may do without: modules for hardware that few have.
//
// Threads   any. What was loaded stays as long as the program runs.
// Errors    kUnsupported: the module is not there, or is another one.
#pragma once

#include "weft/status.h"

namespace weft::base {

struct SharedModule {
  const char* variable;  // of the environment; what it names is loaded where it is set
  const char* name;      // else this, from where the system looks for the program's libraries
  const char* symbol;    // what is asked of it
  const char* purpose;   // "CUDA devices"
};

// Where the symbol is.
Result<void*> FindInModule(const SharedModule& module);

}  // namespace weft::base
