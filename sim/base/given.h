// sim/base/given.h: which options a command line has, whatever their values. An option given with
// its default changes as little as one with another value, if neither can matter.
//
// Threads   one at a time.
#pragma once

#include <set>
#include <string>

#include <CLI/CLI.hpp>

namespace weft::sim {

using Given = std::set<std::string>;  // "t-insitu"

// Once `app` is parsed, adds each of its options that the command line has to `given`, which must
// outlive the parsing.
inline void NoteGiven(CLI::App* app, Given* given) {
  app->final_callback([app, given] {
    for (const CLI::Option* option : app->get_options()) {
      if (option->count() == 0 || option->get_lnames().empty()) continue;
      given->insert(option->get_lnames().front());
    }
  });
}

}  // namespace weft::sim
