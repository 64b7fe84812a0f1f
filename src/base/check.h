// base/check.h: stop on our own bugs. Bad input and corrupt files are never a check: they get a
// Status. WEFT_CHECK is always on; WEFT_DCHECK only in builds without NDEBUG.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace weft::base {

[[noreturn]] inline void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace weft::base

#define WEFT_CHECK(condition)                                    \
  do {                                                           \
    if (__builtin_expect(!(condition), 0))                       \
      ::weft::base::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (0)

#ifdef NDEBUG
#define WEFT_DCHECK(condition)    \
  do {                            \
    if (false) (void)(condition); \
  } while (0)
#else
#define WEFT_DCHECK(condition) WEFT_CHECK(condition)
#endif
