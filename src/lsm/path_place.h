// lsm/path_place.h: whether one path lies within another, whatever names they are given by.
//
// Threads   any.
#pragma once

#include <string>

namespace weft::lsm {

// Whether `path` is `dir` or lies in it, once links on the way are followed. What is not there yet
// is taken by its name.
bool LiesWithin(const std::string& path, const std::string& dir);

}  // namespace weft::lsm
