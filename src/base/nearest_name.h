// base/nearest_name.h: which name was meant by a word that is none.
//
// Distance  letters that are added, dropped, replaced, or swapped with the next one.
// Threads   pure.
// Cost      of each name its length times the word's.
#pragma once

#include <span>
#include <string_view>

namespace weft::base {

// The one of `names` that is nearest to `word`, the first of several; empty where none is near. A
// near one is at most 2 away, and shares a letter with the word: "ls" is not "db".
std::string_view NearestName(std::string_view word, std::span<const std::string_view> names);

}  // namespace weft::base
