#include "lsm/path_place.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace weft::lsm {

namespace {

namespace fs = std::filesystem;

fs::path PlaceOf(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) place = fs::path(path).lexically_normal();
  return place.has_filename() ? place : place.parent_path();
}

}  // namespace

bool LiesWithin(const std::string& path, const std::string& dir) {
  const fs::path inner = PlaceOf(path);
  const fs::path outer = PlaceOf(dir);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace weft::lsm
