// The program `weft`: begins and ends as every program of ours does. commands.cc has what it can
// do.
#include <string>
#include <vector>

#include "base/program.h"
#include "program/commands.h"

int main(int argc, char** argv) {
  weft::base::StartProgram("weft");
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return weft::base::EndProgram(weft::program::RunWords(words));
}
