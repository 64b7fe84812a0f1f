// bench/options.h: weft-bench's command line: which benchmark, of what, how long, written where.
#pragma once

namespace weft::bench {

// Runs what the command line asks for. 0: done; 1: --strict and a target was missed; 2: no figure
// (bad arguments, a server that does not start, a wrong reply).
int Main(int argc, char** argv);

}  // namespace weft::bench
