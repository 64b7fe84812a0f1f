#include "server/stats.h"

#include <array>

#include "base/parse_number.h"
#include "server/stats_writer.h"

namespace weft::server {
namespace {

constexpr std::string_view kDetailUsage = "CLIENT_ERROR usage: stats detail on|off|dump\r\n";

// The next word of `text`, which loses it; empty at the end.
std::string_view NextWord(std::string_view* text) {
  const size_t begin = text->find_first_not_of(' ');
  if (begin == text->npos) {
    *text = {};
    return {};
  }
  const size_t end = text->find(' ', begin);
  const std::string_view word = text->substr(begin, end - begin);
  *text = end == text->npos ? std::string_view() : text->substr(end);
  return word;
}

constexpr uint32_t kClassMax = 63;

// Without the keys, which whoever has a session adds (CachedumpLimit).
std::string CachedumpAnswer(std::string_view arguments, const ServerOptions& options) {
  if (!options.allow_dump) return "CLIENT_ERROR stats cachedump not allowed\r\n";
  const std::string_view slab_class = NextWord(&arguments);
  const std::string_view limit = NextWord(&arguments);
  if (limit.empty()) return "CLIENT_ERROR bad command line\r\n";
  uint32_t class_number = 0, limit_number = 0;
  if (!base::ParseNumber(slab_class, &class_number) || !base::ParseNumber(limit, &limit_number)) {
    return "CLIENT_ERROR bad command line format\r\n";
  }
  if (class_number > kClassMax) return "CLIENT_ERROR Illegal slab id\r\n";
  return std::string(kEmptyReport);
}

// Without the counts, which the server adds (StatsAction::kDetailDump).
std::string DetailText(std::string_view arguments, const ServerOptions& options) {
  if (!options.allow_dump) return "CLIENT_ERROR stats detail not allowed\r\n";
  const std::string_view what = NextWord(&arguments);
  if (what == "on" || what == "off") return "OK\r\n";
  if (what == "dump") return std::string(kEmptyReport);
  return std::string(kDetailUsage);
}

std::string LatencyText(std::string_view arguments, const ServerSnapshot& snapshot) {
  const std::string_view what = NextWord(&arguments);
  if (what.empty() || what == "cells") return LatencyStats(snapshot, !what.empty());
  return "CLIENT_ERROR usage: stats latency [cells]\r\n";
}

}  // namespace

StatsAction StatsActionOf(std::string_view arguments) {
  const std::string_view report = NextWord(&arguments);
  if (report == "reset") return StatsAction::kReset;
  if (report != "detail") return StatsAction::kNone;
  const std::string_view what = NextWord(&arguments);
  if (what == "on") return StatsAction::kDetailOn;
  if (what == "dump") return StatsAction::kDetailDump;
  return what == "off" ? StatsAction::kDetailOff : StatsAction::kNone;
}

bool CachedumpLimit(std::string_view arguments, uint32_t* limit) {
  uint32_t class_number = 0;
  return NextWord(&arguments) == "cachedump" &&
         base::ParseNumber(NextWord(&arguments), &class_number) && class_number == 1 &&
         base::ParseNumber(NextWord(&arguments), limit);
}

bool WantsSizes(std::string_view arguments) { return NextWord(&arguments) == "sizes"; }

bool StatsNeedsConnections(std::string_view arguments) { return NextWord(&arguments) == "conns"; }

bool StatsNeedsLatency(std::string_view arguments) {
  const std::string_view report = NextWord(&arguments);
  return report == "latency" || report == "reset";
}

std::string StatsText(std::string_view arguments, const ServerSnapshot& snapshot,
                      const ServerOptions& options) {
  const std::string_view report = NextWord(&arguments);
  if (report.empty()) return GeneralStats(snapshot, options);
  if (report == "settings") return SettingsStats(snapshot, options);
  if (report == "items") return ItemsStats(snapshot, options);
  if (report == "slabs") return SlabsStats(snapshot);
  if (report == "conns") return ConnsStats(snapshot);
  if (report == "pipeline") return PipelineStats(snapshot);
  if (report == "latency") return LatencyText(arguments, snapshot);
  if (report == "data") return DataStats(snapshot, options);
  if (report == "reset") return "RESET\r\n";
  if (report == "detail") return DetailText(arguments, options);
  if (report == "cachedump") return CachedumpAnswer(arguments, options);
  // The sizes are added by whoever has a session (WantsSizes).
  if (report == "sizes" && options.track_sizes) return std::string(kEmptyReport);
  if (report == "sizes") return "STAT sizes_status disabled\r\nEND\r\n";
  // memcached ends these two without END. Sizes are looked at when they are asked for, or never.
  if (report == "sizes_enable" || report == "sizes_disable") {
    return options.track_sizes ? "STAT sizes_status enabled\r\n" : "STAT sizes_status disabled\r\n";
  }
  if (report == "extstore") return "END\r\n";
  return "ERROR\r\n";
}

}  // namespace weft::server
