// bench/harness/command_line.h: the command that reproduces a figure.
//
// Threads   pure.
#pragma once

#include <span>
#include <string>

namespace weft::bench {

// Without where the figures went (--json), in quotes what a shell would take apart.
std::string CommandLine(std::span<char* const> arguments);

}  // namespace weft::bench
