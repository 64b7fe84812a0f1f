#include <algorithm>

#include "server/stats_writer.h"

namespace weft::server {
namespace {

// Objects of all sizes lie side by side in the log. To memcached's tools they are one slab class,
// whose chunk is the mean object and whose pages are the memory in use.
constexpr uint64_t kPageBytes = uint64_t{1} << 20;
constexpr int kClass = 1;

struct SlabView {
  uint64_t chunk_bytes = 0;
  uint64_t chunks_per_page = 0;
  uint64_t pages = 0;
  uint64_t chunks = 0;
};

// REQUIRES: snapshot.cache.items > 0
SlabView ViewOf(const CacheStats& cache) {
  SlabView view;
  view.chunk_bytes = std::max<uint64_t>((cache.object_bytes / cache.items + 7) / 8 * 8, 8);
  view.chunks_per_page = std::max<uint64_t>(kPageBytes / view.chunk_bytes, 1);
  view.pages = std::max<uint64_t>((cache.memory_bytes + kPageBytes - 1) / kPageBytes, 1);
  view.chunks = std::max(view.pages * view.chunks_per_page, cache.items);
  return view;
}

std::string ItemName(std::string_view name) { return fmt::format("items:{}:{}", kClass, name); }
std::string SlabName(std::string_view name) { return fmt::format("{}:{}", kClass, name); }

}  // namespace

std::string ItemsStats(const ServerSnapshot& s, const ServerOptions& options) {
  StatsWriter out;
  if (s.cache.items == 0) return out.End();
  const bool segmented = options.unused.lru_maintainer;  // memcached's lists go with it
  const auto number = [&out](std::string_view name, uint64_t value) {
    out.Line(ItemName(name), value);
  };
  const auto zeros = [&number](std::initializer_list<std::string_view> names) {
    for (std::string_view name : names) number(name, 0);
  };
  number("number", s.cache.items);
  if (segmented) {
    zeros({"number_hot", "number_warm"});
    number("number_cold", s.cache.items);
    zeros({"age_hot", "age_warm"});
  }
  zeros({"age"});  // the log keeps no age of its oldest object
  number("mem_requested", s.cache.object_bytes);
  number("evicted", s.sessions.evictions);
  zeros({"evicted_nonzero"});
  number("evicted_time", s.cache.eviction_age_last_s);
  number("outofmemory", s.commands.store_no_memory);
  zeros({"tailrepairs"});
  number("reclaimed", s.sessions.expired);
  number("expired_unfetched", s.sessions.expired_unread);
  number("evicted_unfetched", s.sessions.evicted_unread);
  if (segmented) number("evicted_active", s.evicted_read());
  zeros({"crawler_reclaimed", "crawler_items_checked", "lrutail_reflocked"});
  if (!segmented) return out.End();
  zeros({"moves_to_cold", "moves_to_warm"});
  number("moves_within_lru", s.sessions.carried);
  zeros({"direct_reclaims"});
  // Young items are memcached's hot ones, main ones its warm ones. The shares are those of a
  // sample.
  const uint64_t sampled = s.sessions.young_hits + s.sessions.main_hits;
  const auto part = [&](uint64_t of) {
    const double share = sampled == 0 ? 0 : static_cast<double>(of) / static_cast<double>(sampled);
    return static_cast<uint64_t>(static_cast<double>(s.commands.get_hits) * share);
  };
  const uint64_t main_hits = part(s.sessions.main_hits);
  number("hits_to_hot", s.commands.get_hits - main_hits);
  number("hits_to_warm", main_hits);
  zeros({"hits_to_cold", "hits_to_temp"});
  return out.End();
}

std::string SlabsStats(const ServerSnapshot& s) {
  StatsWriter out;
  if (s.cache.items != 0) {
    const SlabView view = ViewOf(s.cache);
    out.Line(SlabName("chunk_size"), view.chunk_bytes);
    out.Line(SlabName("chunks_per_page"), view.chunks_per_page);
    out.Line(SlabName("total_pages"), view.pages);
    out.Line(SlabName("total_chunks"), view.chunks);
    out.Line(SlabName("used_chunks"), s.cache.items);
    out.Line(SlabName("free_chunks"), view.chunks - s.cache.items);
    out.Line(SlabName("free_chunks_end"), 0u);
    out.Line(SlabName("get_hits"), s.commands.get_hits);
    out.Line(SlabName("cmd_set"), s.commands.cmd_set);
    out.Line(SlabName("delete_hits"), s.commands.delete_hits);
    out.Line(SlabName("incr_hits"), s.commands.incr_hits);
    out.Line(SlabName("decr_hits"), s.commands.decr_hits);
    out.Line(SlabName("cas_hits"), s.commands.cas_hits);
    out.Line(SlabName("cas_badval"), s.commands.cas_badval);
    out.Line(SlabName("touch_hits"), s.commands.touch_hits);
  }
  out.Line("active_slabs", s.cache.items == 0 ? 0u : 1u);
  out.Line("total_malloced", s.cache.memory_bytes);
  return out.End();
}

}  // namespace weft::server
