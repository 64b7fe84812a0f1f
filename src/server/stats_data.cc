#include "server/stats_writer.h"

namespace weft::server {
namespace {

void WriteLookups(const tier::TierStats& s, StatsWriter* out) {
  out->Line("lookups", s.lookups);
  out->Line("lookup_hits", s.lookup_hits);
  out->Line("lookup_ended", s.lookup_ended);
  out->Line("lookup_errors", s.lookup_errors);
  out->Line("loads", s.loads);
  out->Line("waits", s.waits);
  out->Line("filters_asked", s.db.filters_asked);
  out->Line("filters_useful", s.db.filters_useful);
  out->Line("blocks_read", s.db.blocks_read);
  out->Line("block_cache_hits", s.db.block_cache_hits);
  out->Line("block_cache_misses", s.db.block_cache_misses);
}

void WriteChanges(const tier::TierStats& s, StatsWriter* out) {
  out->Line("changes", s.changes);
  out->Line("change_batches", s.batches);
  out->Line("write_errors", s.write_errors);
  out->Line("log_bytes", s.db.log_bytes);
  out->Line("log_syncs", s.db.log_syncs);
  out->Line("slowdown_us", s.db.slowdown_us);
  out->Line("stop_us", s.db.stop_us);
}

void WriteTables(const tier::TierStats& s, StatsWriter* out) {
  out->Line("memtable_bytes", s.db.memtable_bytes);
  out->Line("table_bytes", s.disk_bytes);
  out->Line("tables_by_level", s.level_files);
  out->Line("flushes", s.db.flushes);
  out->Line("compactions", s.db.compactions);
  out->Line("compaction_bytes_read", s.db.compaction_bytes_read);
  out->Line("compaction_bytes_written", s.db.compaction_bytes_written);
  out->Line("compaction_keys_dropped", s.db.compaction_keys_dropped);
  out->Line("compaction_keys_ended", s.db.compaction_keys_ended);
  out->Line("compactions_by_device", s.db.compactions_by_device);
  out->Line("compactions_left_to_cpu", s.db.compactions_left_to_cpu);
  out->Line("compaction_debt_bytes", s.db.compaction_debt_bytes);
}

}  // namespace

std::string DataStats(const ServerSnapshot& snapshot, const ServerOptions& options) {
  StatsWriter out;
  if (!snapshot.data) return out.End();
  out.Line("directory", options.data_dir);
  out.Line("sync_ms", options.sync_ms);
  out.Line("compaction_device", options.compaction_device);
  out.Line("compaction_direct_io", options.compaction_direct_io ? "yes" : "no");
  out.Line("takes_changes", snapshot.data->failed ? "no" : "yes");
  out.Line("flush_generation", snapshot.data->generation);
  WriteLookups(*snapshot.data, &out);
  WriteChanges(*snapshot.data, &out);
  WriteTables(*snapshot.data, &out);
  return out.End();
}

}  // namespace weft::server
