#include "base/shared_module.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace weft::base {

Result<void*> FindInModule(const SharedModule& module) {
  const char* const named = std::getenv(module.variable);
  const std::string path = named != nullptr ? named : module.name;
  // Never closed: what it hands out may live as long as the program.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status(Code::kUnsupported,
                  std::string(module.purpose) + " need the module " + path + ": " + dlerror());
  }
  void* const found = dlsym(library, module.symbol);
  if (found == nullptr) {
    return Status(Code::kUnsupported, path + " is not Weft's module for " + module.purpose);
  }
  return found;
}

}  // namespace weft::base
