// `weft-bench trace`: what each cache and policy misses of a trace, by the memory that it has.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "bench/harness/line_chart.h"
#include "bench/harness/machine.h"
#include "bench/harness/report.h"
#include "bench/play/play_options.h"
#include "bench/play/play_policy.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// What one cache made of the trace.
struct Played {
  std::string name;   // as it was asked for
  std::string title;  // "memcached 1.6.18"; of a policy, its name
  TraceTally tally;
  nlohmann::json settings = nlohmann::json::object();
  nlohmann::json figures = nlohmann::json::object();
};

// All of them with one size of memory.
struct PlayedAll {
  uint64_t memory_mb = 0;
  double share = 0;  // of the bytes of all keys
  std::vector<Played> caches;
};

Status CheckPolicies(const std::vector<std::string>& policies) {
  for (const std::string& policy : policies) {
    if (policy == "none" && policies.size() > 1)
      return {Code::kInvalidArgument, "--policy: none cannot be combined with others"};
    const auto is_it = [&](const PolicyForm& form) { return form.name == policy; };
    const std::vector<PolicyForm>& forms = PolicyForms();
    if (policy == "none" || std::any_of(forms.begin(), forms.end(), is_it)) continue;
    return MakePolicy(policy, kMiB, Trace()).error();  // which ones there are
  }
  return Status::Ok();
}

Status CheckTargets(const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    if (IsDurable(target) || target.starts_with("echo:"))
      return {Code::kInvalidArgument, target + " is not a cache: it drops nothing"};
  }
  return Status::Ok();
}

// MiB of the servers that are there, which nobody can change; none: there is no such server, or
// none that tells. kInvalidArgument: their memory is not the one that is asked for.
Result<std::optional<uint64_t>> MemoryOfServers(const TraceBenchOptions& options) {
  auto format = RecordFormat::Make({});
  if (!format) return format.error();
  std::optional<uint64_t> memory_mb;
  for (const std::string& name : options.targets) {
    if (!IsThere(name)) continue;
    if (options.memory_is_given && options.memory.size() > 1)
      return Status(Code::kInvalidArgument,
                    "-m: " + name + " is already running with one size of memory");
    auto target = OpenTarget(name, options.target, *format);
    if (!target) return target.error();
    const nlohmann::json settings = (*target)->Settings();
    if (!settings.contains("memory_mb")) continue;
    const uint64_t own = settings.at("memory_mb");
    if (memory_mb && *memory_mb != own)
      return Status(Code::kInvalidArgument,
                    fmt::format("{} has {} MiB, but another server has {}", name, own, *memory_mb));
    memory_mb = own;
    if (options.memory_is_given && options.memory.front() != std::to_string(own))
      return Status(Code::kInvalidArgument, fmt::format("-m {}: {} is already running with {} MiB",
                                                        options.memory.front(), name, own));
  }
  const bool any_there = std::any_of(options.targets.begin(), options.targets.end(), IsThere);
  if (any_there && !memory_mb && !options.memory_is_given)
    return Status(Code::kInvalidArgument, "-m: no running server reports its memory; give it here");
  return memory_mb;
}

std::vector<std::string> PoliciesOf(const TraceBenchOptions& options) {
  std::vector<std::string> policies = options.policies;
  std::erase(policies, "none");
  return policies;
}

// --- playing ---

Result<Played> PlayOnTarget(const Trace& trace, const std::string& name,
                            const TraceBenchOptions& options, uint64_t memory_mb,
                            const RecordFormat& format, std::atomic<uint64_t>* played) {
  TargetOptions how = options.target;
  how.memory_mb = memory_mb;
  auto target = OpenTarget(name, how, format);
  if (!target) return target.error();
  if (Status status = (*target)->Clear(); !status.ok()) return status;
  auto tally = PlayTarget(trace, target->get(), options.play, played);
  if (!tally) return tally.error();
  Played result{name, (*target)->Title(), std::move(*tally)};
  result.settings = (*target)->Settings();
  result.figures = (*target)->Figures();
  return result;
}

// All at the same time: hits and misses depend on the order of requests alone.
Status PlayOnTargets(const Trace& trace, const TraceBenchOptions& options, uint64_t memory_mb,
                     std::vector<Played>* caches) {
  auto format = FormatOf(trace);
  if (!format) return format.error();
  const size_t count = options.targets.size();
  std::vector<Result<Played>> results(count, Status(Code::kIoError, "did not run"));
  std::vector<std::atomic<uint64_t>> played(count);
  std::atomic<size_t> running{count};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; i++) {
    threads.emplace_back([&, i] {
      results[i] = PlayOnTarget(trace, options.targets[i], options, memory_mb, *format, &played[i]);
      running--;
    });
  }
  while (running != 0) {
    std::string text = fmt::format("{} -m {}:", trace.name, memory_mb);
    for (size_t i = 0; i < count; i++)
      text += fmt::format(
          " {} {:.0f} %", options.targets[i],
          100.0 * static_cast<double>(played[i]) / static_cast<double>(trace.requests.size()));
    Progress(text);
    for (int tick = 0; tick < 20 && running != 0; tick++)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < count; i++) {
    if (!results[i]) {
      const Status& error = results[i].error();
      return {error.code(),
              fmt::format("{} -m {}: {}", options.targets[i], memory_mb, error.message())};
    }
    caches->push_back(std::move(results[i].value()));
  }
  return Status::Ok();
}

Status PlayOnPolicies(const Trace& trace, const std::vector<std::string>& names, uint64_t memory_mb,
                      std::vector<Played>* caches) {
  for (const std::string& name : names) {
    auto policy = MakePolicy(name, memory_mb * kMiB, trace);
    if (!policy) return policy.error();
    caches->push_back({name, name, PlayPolicy(trace, policy->get())});
  }
  return Status::Ok();
}

// --- telling ---

// "1,234,567"
std::string Grouped(uint64_t number) {
  if (number < 1000) return std::to_string(number);
  return fmt::format("{},{:03}", Grouped(number / 1000), number % 1000);
}

std::vector<std::string> NamesOf(const TraceBenchOptions& options) {
  std::vector<std::string> names = options.targets;
  const std::vector<std::string> policies = PoliciesOf(options);
  names.insert(names.end(), policies.begin(), policies.end());
  return names;
}

void PrintHead(const Trace& trace, const TraceBenchOptions& options) {
  fmt::print("\n{} ({}): {} requests of {} keys, {:.1f} MiB with all of them; misses in per cent\n",
             trace.name, trace.format, Grouped(trace.requests.size()), Grouped(trace.records()),
             static_cast<double>(BytesOfAllKeys(trace)) / kMiB);
  if (trace.has_ttls && options.play.pace == 0)
    fmt::print("its times to live count only for policies; --pace makes them count for all\n");
  fmt::print("{:>8} {:>8}", "-m", "of all");
  for (const std::string& name : NamesOf(options))
    fmt::print("  {:>{}}", name, std::max<size_t>(name.size(), 8));
  fmt::print("\n");
}

void PrintRow(const PlayedAll& all) {
  fmt::print("{:>8} {:>6.1f} %", all.memory_mb, 100 * all.share);
  for (const Played& cache : all.caches)
    fmt::print("  {:>{}.2f}", 100 * cache.tally.Total().MissRatio(),
               std::max<size_t>(cache.name.size(), 8));
  fmt::print("\n");
  for (const Played& cache : all.caches)
    if (const uint64_t refused = cache.tally.Total().refused; refused != 0)
      fmt::print("         {} refused {} of its sets\n", cache.name, Grouped(refused));
  std::fflush(stdout);
}

nlohmann::json ToJson(const Played& cache) {
  const TraceCounts total = cache.tally.Total();
  nlohmann::json slices = nlohmann::json::array();
  for (const TraceCounts& slice : cache.tally.slices()) slices.push_back(slice.MissRatio());
  return {{"name", cache.name},
          {"title", cache.title},
          {"miss_ratio", total.MissRatio()},
          {"byte_miss_ratio", total.ByteMissRatio()},
          {"counts", total.ToJson()},
          {"miss_ratio_of_slices", slices},
          {"settings", cache.settings},
          {"figures", cache.figures}};
}

Status WriteJson(const Trace& trace, const PlayedAll& all, const TraceBenchOptions& options) {
  if (options.json.empty()) return Status::Ok();
  nlohmann::json line = {{"bench", "trace"},
                         {"date", NowText()},
                         {"machine", ToJson(ThisMachine())},
                         {"command_line", options.command_line},
                         {"trace", trace.name},
                         {"trace_format", trace.format},
                         {"requests", trace.requests.size()},
                         {"keys", trace.records()},
                         {"bytes_of_all_keys", BytesOfAllKeys(trace)},
                         {"value_bytes", options.read.value_bytes},
                         {"connections", options.play.connections},
                         {"rate", options.play.rate},
                         {"pace", options.play.pace},
                         {"memory_mb", all.memory_mb},
                         {"memory_share", all.share}};
  for (const Played& cache : all.caches) line["caches"].push_back(ToJson(cache));
  std::ofstream out(options.json, std::ios::app);
  out << line.dump() << '\n';
  out.close();
  return out ? Status::Ok() : Status::FromErrno("write " + options.json, errno);
}

// The miss ratios by memory, and over the course of the trace with each size.
void AddCharts(const Trace& trace, const std::vector<PlayedAll>& sizes,
               std::vector<LineChart>* charts) {
  if (sizes.size() > 1) {
    LineChart chart;
    chart.title = trace.name + ": misses by memory";
    chart.x_name = "-m, MiB";
    chart.y_name = "misses, % of gets";
    chart.log2_x = true;
    chart.marks_points = true;
    for (size_t i = 0; i < sizes[0].caches.size(); i++) {
      LineChart::Line line{.name = sizes[0].caches[i].title, .x = {}, .y = {}};
      for (const PlayedAll& all : sizes) {
        line.x.push_back(static_cast<double>(all.memory_mb));
        line.y.push_back(100 * all.caches[i].tally.Total().MissRatio());
      }
      chart.lines.push_back(std::move(line));
    }
    charts->push_back(std::move(chart));
  }
  for (const PlayedAll& all : sizes) {
    LineChart chart;
    chart.title = fmt::format("{}, -m {}: misses over the trace", trace.name, all.memory_mb);
    chart.x_name = "requests, % of all";
    chart.y_name = "misses, % of gets";
    for (const Played& cache : all.caches) {
      LineChart::Line line{.name = cache.title, .x = {}, .y = {}};
      const std::vector<TraceCounts>& slices = cache.tally.slices();
      for (size_t i = 0; i < slices.size(); i++) {
        if (slices[i].gets == 0) continue;
        line.x.push_back(100 * (static_cast<double>(i) + 0.5) / static_cast<double>(slices.size()));
        line.y.push_back(100 * slices[i].MissRatio());
      }
      chart.lines.push_back(std::move(line));
    }
    charts->push_back(std::move(chart));
  }
}

Status PlayFile(const std::string& file, const TraceBenchOptions& options,
                std::vector<LineChart>* charts) {
  auto trace = ReadTrace(file, options.read);
  if (!trace) return trace.error();
  if (options.play.pace > 0 && trace->requests.back().time_s == 0)
    return {Code::kInvalidArgument, fmt::format("--pace: {} has no times", file)};
  std::vector<uint64_t> memory;
  for (const std::string& text : options.memory) {
    const auto mb = MemoryOf(text, *trace);
    if (!mb) return mb.error();
    memory.push_back(mb.value());
  }
  PrintHead(*trace, options);
  std::vector<PlayedAll> sizes;
  for (const uint64_t mb : memory) {
    PlayedAll all;
    all.memory_mb = mb;
    all.share = static_cast<double>(mb * kMiB) / static_cast<double>(BytesOfAllKeys(*trace));
    Status status = PlayOnTargets(*trace, options, mb, &all.caches);
    if (status.ok()) status = PlayOnPolicies(*trace, PoliciesOf(options), mb, &all.caches);
    if (!status.ok()) return status;
    PrintRow(all);
    status = WriteJson(*trace, all, options);
    if (!status.ok()) return status;
    sizes.push_back(std::move(all));
  }
  AddCharts(*trace, sizes, charts);
  return Status::Ok();
}

}  // namespace

uint64_t BytesOfAllKeys(const Trace& trace) {
  std::vector<uint32_t> value_bytes(trace.records(), 0);
  for (const TraceRequest& request : trace.requests)
    if (request.operation != TraceOperation::kDelete)
      value_bytes[request.record] = request.value_bytes;
  uint64_t bytes = 0;
  for (uint32_t record = 0; record < trace.records(); record++)
    bytes += PolicyBytesOf(trace, record, value_bytes[record]);
  return bytes;
}

Result<uint64_t> MemoryOf(const std::string& text, const Trace& trace) {
  const bool is_share = text.ends_with('%');
  const auto digits = std::string_view(text).substr(0, text.size() - (is_share ? 1 : 0));
  double number = 0;
  const bool is_number = base::ParseNumber(digits, &number);
  const double mb =
      is_share ? std::round(number / 100 * static_cast<double>(BytesOfAllKeys(trace)) / kMiB)
               : number;
  if (!is_number || !(number > 0) || mb > 1 << 24 || (!is_share && mb != std::floor(mb)))
    return Status(
        Code::kInvalidArgument,
        "-m " + text + ": it must be whole MiB, or a share of the bytes of all keys such as 10%");
  return std::max<uint64_t>(1, static_cast<uint64_t>(mb));
}

Status RunTraceBench(const TraceBenchOptions& asked) {
  TraceBenchOptions options = asked;
  Status status = CheckTargets(options.targets);
  if (status.ok()) status = CheckPolicies(options.policies);
  if (!status.ok()) return status;
  auto memory_mb = MemoryOfServers(options);
  if (!memory_mb) return memory_mb.error();
  if (*memory_mb) options.memory = {std::to_string(**memory_mb)};
  std::vector<LineChart> charts;
  for (const std::string& file : options.files) {
    status = PlayFile(file, options, &charts);
    if (!status.ok()) return status;
  }
  return options.chart.empty() ? Status::Ok() : WriteSvg(charts, options.chart);
}

}  // namespace weft::bench
