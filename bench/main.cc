// weft-bench: each of the project's promises as a subcommand. bench/README.md has the guide.

#include "base/program.h"
#include "bench/command/commands.h"

int main(int argc, char** argv) {
  weft::base::StartProgram("weft-bench");
  return weft::base::EndProgram(weft::bench::Main(argc, argv));
}
