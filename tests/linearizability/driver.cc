#include "linearizability/driver.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>

namespace weft::linearizability {
namespace {

[[noreturn]] void Refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(2);
}

}  // namespace

DriverOptions ParseArguments(int argc, char** argv) {
  DriverOptions options;
  options.seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const auto value = [&]() -> const char* {
      if (i + 1 >= argc) Refuse(std::string(argument) + " needs a value");
      return argv[++i];
    };
    if (argument == "--histories") {
      options.histories = std::strtoull(value(), nullptr, 10);
    } else if (argument == "--seed") {
      options.seed = std::strtoull(value(), nullptr, 10);
    } else if (argument == "--seconds-max") {
      options.seconds_max = std::strtod(value(), nullptr);
    } else if (argument == "--without") {
      options.without = value();
    } else if (argument == "--long") {
      options.histories = 1000;
    } else {
      options.rest.emplace_back(argument);
    }
  }
  return options;
}

int RunHistories(const DriverOptions& options,
                 const std::function<MadeHistory(uint64_t seed)>& make) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const int64_t began_ns = NowNs();
  const auto seconds = [&] { return static_cast<double>(NowNs() - began_ns) / 1e9; };
  uint64_t done = 0;
  uint64_t operations = 0;
  uint64_t steps = 0;
  uint64_t undecided = 0;
  for (; done < options.histories && seconds() < options.seconds_max; ++done) {
    const uint64_t seed = options.seed + done;
    MadeHistory made = make(seed);
    int64_t first_ns = std::numeric_limits<int64_t>::max();
    for (const Operation& op : made.history) first_ns = std::min(first_ns, op.invoked_ns);
    for (Operation& op : made.history) {  // times from the history's beginning read better
      op.invoked_ns -= first_ns;
      if (op.returned_ns != kNever) op.returned_ns -= first_ns;
    }
    const Verdict verdict = Check(made.history, {.evicting = made.evicting});
    operations += made.history.size();
    steps += verdict.steps;
    if (verdict.kind == Verdict::kGaveUp) ++undecided;
    if (verdict.kind == Verdict::kViolation) {
      std::printf("VIOLATION seed %llu (%s), key %s: not linearizable%s\n%s\n",
                  static_cast<unsigned long long>(seed), made.setting.c_str(), verdict.key.c_str(),
                  made.evicting ? ", evictions allowed for" : "", verdict.story.c_str());
      return 1;
    }
  }
  std::printf(
      "%llu histories, %llu operations, %llu search steps, %llu undecided, no violation, %.1f s\n",
      static_cast<unsigned long long>(done), static_cast<unsigned long long>(operations),
      static_cast<unsigned long long>(steps), static_cast<unsigned long long>(undecided),
      seconds());
  return undecided > options.histories / 20 ? 1
                                            : 0;  // a checker that mostly gives up proves nothing
}

}  // namespace weft::linearizability
