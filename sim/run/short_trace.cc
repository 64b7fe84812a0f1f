#include "sim/run/short_trace.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace weft::sim {
namespace {

// As the machine gives them out.
int64_t ShareOf(int64_t ops, size_t core, size_t cores) {
  return ops / static_cast<int64_t>(cores) + (core < static_cast<uint64_t>(ops) % cores ? 1 : 0);
}

// Of the operations by core, those that a run plays; below 0: it ends among those that it passes
// over.
int64_t PlayedOf(const RunOptions& options, const std::vector<int64_t>& ops_by_core) {
  const size_t cores = ops_by_core.size();
  int64_t played = 0;
  for (size_t core = 0; core < cores; ++core) {
    const int64_t left = ops_by_core[core] - ShareOf(options.fast_forward, core, cores);
    if (left < 0) return -1;
    const int64_t asked = options.workload.ops;
    played += asked == 0 ? left : std::min(left, ShareOf(asked, core, cores));
  }
  return played;
}

bool MeasuresAny(const RunOptions& options, const std::vector<int64_t>& ops_by_core) {
  const int64_t played = PlayedOf(options, ops_by_core);
  return played > 0 && played > WarmupOps(options, played);
}

// The fewest of them that leave something to be measured; empty: none do.
std::string RemedyFor(const RunOptions& options, const std::vector<int64_t>& ops_by_core) {
  struct Change {
    bool plays_all = false;
    bool passes_over_none = false;
    bool has_no_warmup = false;
  };
  constexpr Change kChanges[] = {
      {true, false, false}, {false, true, false}, {true, true, false}, {true, true, true}};
  for (const Change& change : kChanges) {
    RunOptions changed = options;
    std::vector<std::string> names;
    if (change.plays_all && changed.workload.ops != 0) {
      changed.workload.ops = 0;
      names.emplace_back("--ops 0");
    }
    if (change.passes_over_none && changed.fast_forward != 0) {
      changed.fast_forward = 0;
      names.emplace_back("--fast-forward 0");
    }
    if (change.has_no_warmup && changed.warmup != 0) {
      changed.warmup = 0;
      names.emplace_back("--warmup 0");
    }
    if (!names.empty() && MeasuresAny(changed, ops_by_core)) {
      return fmt::format("{}", fmt::join(names, " "));
    }
  }
  return {};
}

// "DIR: the trace"
std::string NameOf(const RunOptions& options) {
  constexpr std::string_view kTrace = "trace:";
  const std::string& source = options.workload.source;
  return (source.starts_with(kTrace) ? source.substr(kTrace.size()) + ": " : "") + "the trace";
}

}  // namespace

Result<std::vector<int64_t>> CountOps(TraceSource& source) {
  std::vector<int64_t> ops(static_cast<size_t>(source.cores()));
  Record record;
  for (int core = 0; core < source.cores(); ++core) {
    while (true) {
      const Result<bool> next = source.Next(core, &record);
      if (!next) return next.error();
      if (!next.value()) break;
      ops[static_cast<size_t>(core)] += record.kind == RecordKind::kOpEnd;
    }
  }
  return ops;
}

int64_t WarmupOps(const RunOptions& options, int64_t left) {
  const int64_t ops = options.workload.ops == 0 ? left : options.workload.ops;
  return std::llround(static_cast<double>(ops) * options.warmup);
}

Status TooShort(const RunOptions& options, const std::vector<int64_t>& ops_by_core) {
  const int64_t asked = options.workload.ops;
  const int64_t passed = options.fast_forward;
  const int64_t all = std::accumulate(ops_by_core.begin(), ops_by_core.end(), int64_t{0});
  std::string text = fmt::format("{} has {} operations", NameOf(options), all);
  const size_t cores = ops_by_core.size();
  for (size_t core = 0; core < cores && all >= passed; ++core) {
    const int64_t share = ShareOf(passed, core, cores);
    if (ops_by_core[core] >= share) continue;
    text += fmt::format(", but core {} has {} of the {} that take no time", core, ops_by_core[core],
                        share);
    break;
  }
  const int64_t played = PlayedOf(options, ops_by_core);
  if (asked > 0 && played >= 0 && played < std::min(all - passed, asked)) {
    text += fmt::format(", of which its cores play {}", passed + played);
  }
  const int64_t warmup = WarmupOps(options, std::max<int64_t>(0, all - passed));
  std::vector<std::string> before;
  if (passed > 0) before.push_back(fmt::format("--fast-forward {}", passed));
  if (warmup > 0) {
    before.push_back(fmt::format("--warmup {} of ", options.warmup) +
                     (asked == 0 ? "the others" : fmt::format("--ops {}", asked)));
  }
  if (!before.empty()) {
    text += fmt::format("; {} come before the first measured one ({})", passed + warmup,
                        fmt::join(before, ", and "));
  }
  const std::string remedy = RemedyFor(options, ops_by_core);
  if (!remedy.empty()) text += fmt::format(": {} measures what is there", remedy);
  return {Code::kInvalidArgument, text};
}

std::string MissingOps(const RunOptions& options, const RunResult& run) {
  const int64_t asked = options.workload.ops;
  const int64_t played = run.ops + WarmupOps(options, 0);
  if (played >= asked) return {};
  std::string text = fmt::format("{} ended after {} operations of the {} that --ops asks for",
                                 NameOf(options), played, asked);
  if (options.fast_forward > 0) {
    text += fmt::format(", after {} of --fast-forward", options.fast_forward);
  }
  return text + "; --ops 0 plays all of them";
}

}  // namespace weft::sim
