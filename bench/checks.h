// bench/checks.h: what the values of weft-bench's options must be, beyond what CLI11 checks itself.
//
// Threads   pure.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

// Checks for CLI::Option::check: what is wrong with the value; empty: nothing.
//
// A list of CPUs as "0,2,4-7", each of which this process may use.
std::string FaultOfCpuList(const std::string& text);
// A list of thread counts as "1,2,4-8": from 1 to 1,024.
std::string FaultOfThreadCounts(const std::string& text);

// What is wrong with the numbers that a subcommand was given: "nan" and "inf" lie outside no range,
// and what is below 0 becomes large where it can't be negative. Empty: nothing.
std::string FaultOfNumbers(const CLI::App& subcommand);

}  // namespace weft::bench
