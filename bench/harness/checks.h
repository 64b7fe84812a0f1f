// bench/harness/checks.h: checks of the values of weft-bench's options, beyond those of CLI11
// itself.
//
// Threads   pure.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// Checks for CLI::Option::check. They return what is wrong with the value; empty: nothing.
//
// A list of CPUs, such as "0,2,4-7". This process may use each of them.
std::string FaultOfCpuList(const std::string& text);
// A list of thread counts from 1 to 1,024, such as "1,2,4-8".
std::string FaultOfThreadCounts(const std::string& text);

// What is wrong with the numbers given to a subcommand: "nan" and "inf" lie outside no range, and a
// negative number becomes large where the type has none. Empty: nothing.
std::string FaultOfNumbers(const CLI::App& subcommand);

}  // namespace weft::bench
