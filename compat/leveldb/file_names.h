// compat/leveldb/file_names.h: what the name of a store's file says.
//
// Threads   pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace weft::compat {

inline std::string_view NameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}
inline std::string DirOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, std::max<size_t>(slash, 1));
}

inline bool IsManifest(std::string_view path) { return NameOf(path).starts_with("MANIFEST-"); }

// A name beside `path`. If the file stays behind, the store takes it for a left-over and removes
// it: it is a temporary file with the number in the file's own name.
inline std::string TemporaryBeside(const std::string& path) {
  std::string number;
  for (const char c : NameOf(path)) {
    if (c >= '0' && c <= '9') number.push_back(c);
  }
  return DirOf(path) + "/" + (number.empty() ? "000000" : number) + ".dbtmp";
}

}  // namespace weft::compat
