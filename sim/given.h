// sim/given.h: which options a command line has, whatever their values. One that is given with its
// default changes as little as one with another value where neither can matter.
//
// Threads   one at a time.
#pragma once

#include <set>
#include <string>

#include <CLI/CLI.hpp>

namespace weft::sim {

using Given = std::set<std::string>;  // "t-insitu"

// Adds to `given`, once `app` is parsed, each of its options that the command line has. `given`
// must outlive the parsing.
inline void NoteGiven(CLI::App* app, Given* given) {
  app->final_callback([app, given] {
    for (const CLI::Option* option : app->get_options()) {
      if (option->count() == 0 || option->get_lnames().empty()) continue;
      given->insert(option->get_lnames().front());
    }
  });
}

}  // namespace weft::sim
