/* compat/leveldb/include/leveldb/export.h: marks what the library gives to programs.
 *
 * C and C++: this file must suit the oldest C that a program may be written in. */
#pragma once

#if !defined(LEVELDB_EXPORT)
#if defined(LEVELDB_COMPILE_LIBRARY)
#define LEVELDB_EXPORT __attribute__((visibility("default")))
#else
#define LEVELDB_EXPORT
#endif
#endif
