// Resident bytes an item: what the server has after storing, less what it had before.
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "bench/server/duel.h"

namespace weft::bench {
namespace {

constexpr int kSettlePolls = 20;  // half seconds; a growing index may still copy itself

struct Footprint {
  double bytes_per_item = 0;
  uint64_t before = 0;
  uint64_t after = 0;
  uint64_t huge = 0;
  double fill_cpu_s_per_million = 0;
  std::string version, command;

  nlohmann::json ToJson() const {
    return {{"resident_before", before}, {"resident_after", after},
            {"huge_page_bytes", huge},   {"load_cpu_s_per_million", fill_cpu_s_per_million},
            {"version", version},        {"command", command}};
  }
};

// Resident bytes once they have stood still for two seconds.
uint64_t SettledBytes(const Process& process) {
  uint64_t bytes = process.ResidentBytes();
  int still = 0;
  for (int i = 0; i < kSettlePolls && still < 4; ++i) {
    usleep(500'000);
    const uint64_t now = process.ResidentBytes();
    still = now == bytes ? still + 1 : 0;
    bytes = now;
  }
  return bytes;
}

// After options.keys records.
Result<Footprint> Measure(const ServerOptions& options, const PeerSpec& spec) {
  auto format = FormatOf(options);
  if (!format) return format.error();
  const PeerOptions how{options.memory_mb, options.threads, defaults::kConnectionsMax,
                        options.server_cpus};
  auto peer = Peer::Start(spec, how);
  if (!peer) return peer.error();
  Process& process = (*peer)->process();
  Footprint footprint;
  footprint.before = SettledBytes(process);
  const double cpu = process.Cpu().total;
  RecordSpace space;
  const Status filled = FillServer(options, **peer, *format, &space);
  if (!filled.ok()) return filled;
  footprint.fill_cpu_s_per_million = (process.Cpu().total - cpu) / options.keys * 1e6;
  footprint.after = SettledBytes(process);
  footprint.huge = process.HugePageBytes();
  footprint.version = (*peer)->version();
  footprint.command = (*peer)->command_line();
  footprint.bytes_per_item =
      (static_cast<double>(footprint.after) - static_cast<double>(footprint.before)) / options.keys;
  return footprint;
}

}  // namespace

Status RunMemory(const ServerOptions& options, uint32_t items, Report& report) {
  const PeerSpec* specs[2] = {&options.subject, &options.peer};
  ServerOptions filled = options;
  filled.keys = items;
  Samples bytes[2];
  Footprint last[2];
  const Status status = Alternate(options.repetitions, [&](int side, int) {
    auto footprint = Measure(filled, *specs[side]);
    if (!footprint) return footprint.error();
    last[side] = *footprint;
    bytes[side].Add(footprint->bytes_per_item);
    Progress(
        fmt::format("memory/{}: {:.1f} B an item", specs[side]->name, footprint->bytes_per_item));
    return Status::Ok();
  });
  if (!status.ok()) return status;
  Row row;
  row.bench = "memory";
  row.name =
      fmt::format("{}M-items-{}+{}B", items / 1'000'000, options.key_bytes, options.value_bytes);
  row.unit = "resident B an item";
  row.subject = {specs[0]->name, bytes[0]};
  row.peer = Side{specs[1]->name, bytes[1]};
  row.judged_name = "B an item of the subject";
  row.judged = bytes[0].Median();
  row.pair_ratios = bytes[0];
  row.goal = Goal::kAtMost;
  row.target = options.target.value_or(defaults::kTargetItemBytes);
  row.details = DetailsOf(options);
  row.details.update({{"items", items},
                      {"subject_over_peer", bytes[0].Median() / bytes[1].Median()},
                      {"subject", last[0].ToJson()},
                      {"peer", last[1].ToJson()}});
  report.Add(std::move(row));
  fmt::print("    subject / peer {:.3f}; load CPU s / M sets: {} {:.3f}, {} {:.3f}\n",
             bytes[0].Median() / bytes[1].Median(), specs[0]->name, last[0].fill_cpu_s_per_million,
             specs[1]->name, last[1].fill_cpu_s_per_million);
  return Status::Ok();
}

}  // namespace weft::bench
