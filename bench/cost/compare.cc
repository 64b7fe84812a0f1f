#include "bench/cost/compare.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace weft::bench {
namespace {

// Experiment, target, workload, load. Cases of a file are listed in this order.
using Key = std::tuple<std::string, std::string, std::string, std::string>;
using Groups = std::map<Key, std::vector<ResultRun>>;

constexpr const char* kEachAtItsBest = "each at its best";

Groups GroupsOf(const std::vector<ResultRun>& runs) {
  Groups groups;
  for (const ResultRun& run : runs)
    groups[{run.experiment, run.target, run.workload, run.load}].push_back(run);
  return groups;
}

double MedianThroughput(const std::vector<ResultRun>& runs) {
  Samples samples;
  for (const ResultRun& run : runs) samples.Add(run.throughput.value());
  return samples.Median();
}

// Of each experiment, target and workload only the load with the highest median.
Groups BestOf(const Groups& groups) {
  Groups best;
  for (const auto& [key, runs] : groups) {
    Key any_load = key;
    std::get<3>(any_load) = kEachAtItsBest;
    std::vector<ResultRun>& held = best[any_load];
    if (held.empty() || MedianThroughput(runs) > MedianThroughput(held)) held = runs;
  }
  return best;
}

Comparison CompareSound(const ServerFigures& a, const ServerFigures& b, const Figure& of_a,
                        const Figure& of_b, Better better) {
  Comparison found = Compare(of_a, of_b, better);
  for (const ServerFigures* figures : {&a, &b}) {
    if (figures->is_sound) continue;
    found.winner = Winner::kNone;
    found.reason = fmt::format("{}: {}", figures->server, figures->notes.front());
    break;
  }
  return found;
}

std::string NameOf(const CostPoint& point) {
  const std::string at = fmt::format("at ${:g}/kWh", point.electricity.value());
  if (!point.price) return "energy " + at;
  return fmt::format("cost {}, {:g} years", at, point.lifetime->value());
}

// At own prices, or at the same one: both have as many points then, in the same order.
void AddCostComparisons(const ServerFigures& a, const ServerFigures& b, ServerPair* pair) {
  if (a.costs.size() != b.costs.size()) return;
  for (size_t i = 0; i < a.costs.size(); ++i) {
    std::string name = NameOf(a.costs[i]);
    if (a.costs[i].price) {
      name += fmt::format(", ${:g} against ${:g}", a.costs[i].price->value(),
                          b.costs[i].price->value());
    }
    pair->comparisons.emplace_back(name, CompareSound(a, b, a.costs[i].dollars_per_h,
                                                      b.costs[i].dollars_per_h, Better::kLess));
  }
}

Cluster ClusterOf(const ServerFigures& figures, DollarsPerKilowattHour electricity) {
  const Watts power(figures.power_w.samples.Median());
  return {Servers(figures.servers.samples.Median()), {electricity, Share(1), power, power}};
}

// What `other` may cost at each price of `priced`.
Status AddBreakEven(const ComparedCase& all, size_t priced, size_t other, ServerPair* pair) {
  const ServerFigures &a = all.servers[priced], &b = all.servers[other];
  for (const CostPoint& point : a.costs) {
    if (!point.price) continue;
    auto price = BreakEvenPrice(ClusterOf(a, point.electricity), *point.price,
                                ClusterOf(b, point.electricity), *point.lifetime);
    if (!price) return price.error();
    pair->break_even.push_back(
        {priced, other, *point.price, *price, *point.lifetime, point.electricity});
  }
  return Status::Ok();
}

Status AddBreakEvens(const ComparedCase& all, ServerPair* pair) {
  for (const size_t index : {pair->first, pair->second}) {
    const ServerFigures& figures = all.servers[index];
    if (figures.power_w.is_available()) continue;
    pair->no_break_even =
        fmt::format("power of {}: {}", figures.server, figures.power_w.unavailable);
    return Status::Ok();
  }
  if (Status status = AddBreakEven(all, pair->first, pair->second, pair); !status.ok())
    return status;
  if (Status status = AddBreakEven(all, pair->second, pair->first, pair); !status.ok())
    return status;
  if (pair->break_even.empty()) pair->no_break_even = "no price is given (--price, --server)";
  return Status::Ok();
}

Result<ServerPair> PairOf(const ComparedCase& all, size_t first, size_t second) {
  const ServerFigures &a = all.servers[first], &b = all.servers[second];
  ServerPair pair;
  pair.first = first;
  pair.second = second;
  pair.comparisons.emplace_back(
      "throughput", CompareSound(a, b, a.throughput_per_s, b.throughput_per_s, Better::kMore));
  for (const auto& [name, latency] : a.latency_us) {
    const auto other = b.latency_us.find(name);
    if (name == "min" || name == "max" || other == b.latency_us.end()) continue;
    pair.comparisons.emplace_back("latency " + name,
                                  CompareSound(a, b, latency, other->second, Better::kLess));
  }
  pair.comparisons.emplace_back(
      "operations per joule",
      CompareSound(a, b, a.operations_per_j, b.operations_per_j, Better::kMore));
  AddCostComparisons(a, b, &pair);
  if (Status status = AddBreakEvens(all, &pair); !status.ok()) return status;
  return pair;
}

Status AddPairs(ComparedCase* all) {
  for (size_t first = 0; first < all->servers.size(); ++first) {
    for (size_t second = first + 1; second < all->servers.size(); ++second) {
      auto pair = PairOf(*all, first, second);
      if (!pair) return pair.error();
      all->pairs.push_back(std::move(*pair));
    }
  }
  return Status::Ok();
}

// Data that is scaled to a machine is the same case; the reader is told.
std::string RecordsNote(const std::vector<ServerFigures>& servers,
                        const std::vector<double>& records) {
  std::string note;
  for (size_t i = 0; i < servers.size(); ++i) {
    if (records[i] == records[0] && i > 0) continue;
    note += fmt::format("{}{} {}", note.empty() ? "" : ", ", servers[i].server, records[i]);
  }
  return note.find(',') == std::string::npos ? "" : "records differ: " + note;
}

ServerSpec SpecOf(const std::vector<ServerSpec>& specs, const std::string& name) {
  for (const ServerSpec& spec : specs)
    if (spec.name == name) return spec;
  return {name, {}, {}, {}};
}

Result<std::vector<ServerSpec>> SpecsOf(const std::vector<ServerResults>& servers,
                                        const CompareOptions& options) {
  std::vector<ServerSpec> specs;
  for (const std::string& text : options.servers) {
    auto spec = ParseServerSpec(text);
    if (!spec) return spec.error();
    const auto same = [&](const auto& other) { return other.name == spec->name; };
    if (std::none_of(servers.begin(), servers.end(), same)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--server {}: no file has that name", spec->name));
    }
    if (std::any_of(specs.begin(), specs.end(), same))
      return Status(Code::kInvalidArgument, fmt::format("--server {}: given twice", spec->name));
    specs.push_back(std::move(*spec));
  }
  const auto has_price = [](const ServerSpec& spec) { return spec.price.has_value(); };
  const auto with_price = std::count_if(specs.begin(), specs.end(), has_price);
  if (!options.prices.empty() && with_price == static_cast<std::ptrdiff_t>(servers.size()))
    return Status(Code::kInvalidArgument, "--price: --server already gives each server a price");
  return specs;
}

std::string LabelOf(const Key& key) {
  const auto& [experiment, target, workload, load] = key;
  return fmt::format("{}{}{}, {}, {}", experiment, experiment.empty() ? "" : ": ", target, workload,
                     load);
}

Result<ComparedCase> CaseOf(const Key& key, const std::vector<ServerResults>& servers,
                            const std::vector<Groups>& groups, const CompareOptions& options,
                            const std::vector<ServerSpec>& specs) {
  ComparedCase found;
  std::tie(found.experiment, found.target, found.workload, found.load) = key;
  std::vector<double> records;
  for (size_t i = 0; i < servers.size(); ++i) {
    const auto runs = groups[i].find(key);
    if (runs == groups[i].end()) continue;
    auto figures =
        FiguresOf(servers[i].name, runs->second, SpecOf(specs, servers[i].name), options);
    if (!figures) return figures.error();
    found.servers.push_back(std::move(*figures));
    records.push_back(runs->second.front().records);
  }
  if (const std::string note = RecordsNote(found.servers, records); !note.empty())
    found.servers.front().notes.push_back(note);
  if (Status status = AddPairs(&found); !status.ok()) return status;
  return found;
}

// Each target of each file under its own name, in the order of the files.
std::vector<ServerResults> ByTarget(const std::vector<ServerResults>& servers) {
  std::vector<ServerResults> all;
  for (const ServerResults& server : servers) {
    std::map<std::string, size_t> places;  // in `all`
    for (ResultRun run : server.runs) {
      const std::string target = std::exchange(run.target, "any target");
      const auto [place, is_new] = places.try_emplace(target, all.size());
      if (is_new) all.push_back({servers.size() == 1 ? target : server.name + "/" + target, {}});
      all[place->second].runs.push_back(std::move(run));
    }
  }
  return all;
}

ServerResults Named(const std::string& argument, std::string* path) {
  const size_t equals = argument.find('=');
  if (equals != std::string::npos && equals > 0 &&
      argument.substr(0, equals).find('/') == std::string::npos) {
    *path = argument.substr(equals + 1);
    return {argument.substr(0, equals), {}};
  }
  *path = argument;
  return {std::filesystem::path(argument).stem().string(), {}};
}

}  // namespace

Result<CompareResult> CompareServers(const std::vector<ServerResults>& files,
                                     const CompareOptions& options) {
  const std::vector<ServerResults> servers = options.by_target ? ByTarget(files) : files;
  auto specs = SpecsOf(servers, options);
  if (!specs) return specs.error();
  std::vector<Groups> groups;
  std::map<Key, int> servers_with;
  for (const ServerResults& server : servers) {
    groups.push_back(GroupsOf(server.runs));
    if (options.best_load) groups.back() = BestOf(groups.back());
    for (const auto& [key, runs] : groups.back()) ++servers_with[key];
  }
  CompareResult result;
  for (const auto& [key, count] : servers_with) {
    auto found = CaseOf(key, servers, groups, options, *specs);
    if (!found) return found.error();
    if (count == 1 && servers.size() > 1) {
      result.notes.push_back(
          fmt::format("only {} has {}", found->servers.front().server, LabelOf(key)));
    }
    result.cases.push_back(std::move(*found));
  }
  return result;
}

Result<CompareResult> CompareFiles(const CompareOptions& options) {
  if (Status status = CheckOptions(options); !status.ok()) return status;
  std::vector<ServerResults> servers;
  for (const std::string& argument : options.files) {
    std::string path;
    ServerResults server = Named(argument, &path);
    for (const ServerResults& other : servers) {
      if (other.name != server.name) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("two files have the name {}; NAME={} gives this one another",
                                server.name, path));
    }
    auto runs = ReadResultFile(path);
    if (!runs) return runs.error();
    server.runs = std::move(*runs);
    servers.push_back(std::move(server));
  }
  return CompareServers(servers, options);
}

}  // namespace weft::bench
