// base/shared_module.h: loads modules for hardware that few have: a program can do without them.
//
// Threads   any. A loaded module stays as long as the program runs.
// Errors    kUnsupported: the module is not there, or is another one.
#pragma once

#include "weft/status.h"

namespace weft::base {

struct SharedModule {
  const char* variable;  // of the environment: if set, it names the file to load
  const char* name;      // otherwise this, from where the system looks for libraries
  const char* symbol;    // the symbol to find in it
  const char* purpose;   // "CUDA devices"
};

// Where the symbol is.
Result<void*> FindInModule(const SharedModule& module);

}  // namespace weft::base
