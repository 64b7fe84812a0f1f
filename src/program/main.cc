// The program `weft`: commands.cc has what it can do.
#include "base/program.h"
#include "program/commands.h"

int main(int argc, char** argv) {
  weft::base::StartProgram("weft");
  return weft::base::EndProgram(
      weft::program::RunAs(argc > 0 ? argv[0] : "weft", {argv + (argc > 0 ? 1 : 0), argv + argc}));
}
