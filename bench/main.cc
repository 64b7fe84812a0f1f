// weft-bench: each of the project's promises as a subcommand. bench/README.md has the guide.

#include "bench/options.h"

int main(int argc, char** argv) { return weft::bench::Main(argc, argv); }
