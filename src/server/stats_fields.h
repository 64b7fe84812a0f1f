// server/stats_fields.h: which counter of a worker is summed into which number of a snapshot, said
// once for summing, for `stats reset` and for the metrics page.
//
// Threads: constants.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "server/stats.h"

namespace weft::server {

// One summed counter. `name` is the metric's, after "weft_"; `help` its description there.
template <typename Source, typename Totals>
struct CounterField {
  std::string_view name;
  std::string_view help;
  base::Counter Source::*source;
  uint64_t Totals::*total;
};

namespace fields {

using C = protocol::CommandCounters;
using CT = CommandTotals;
inline constexpr CounterField<C, CT> kCommandFields[] = {
    {"get_commands_total", "Keys requested by reads that set no time to live.", &C::cmd_get,
     &CT::cmd_get},
    {"set_commands_total", "Store commands.", &C::cmd_set, &CT::cmd_set},
    {"flush_commands_total", "flush_all commands.", &C::cmd_flush, &CT::cmd_flush},
    {"touch_commands_total", "Touch and get-and-touch commands.", &C::cmd_touch, &CT::cmd_touch},
    {"meta_commands_total", "Meta debug commands (me).", &C::cmd_meta, &CT::cmd_meta},
    {"get_hits_total", "Reads that found their key.", &C::get_hits, &CT::get_hits},
    {"get_misses_total", "Reads that did not find their key.", &C::get_misses, &CT::get_misses},
    {"get_expired_total", "Commands that found an expired item.", &C::get_expired,
     &CT::get_expired},
    {"get_flushed_total", "Commands that found a flushed item.", &C::get_flushed, &CT::get_flushed},
    {"delete_hits_total", "Deletes that found their key.", &C::delete_hits, &CT::delete_hits},
    {"delete_misses_total", "Deletes that did not find their key.", &C::delete_misses,
     &CT::delete_misses},
    {"incr_hits_total", "Increments that found their key.", &C::incr_hits, &CT::incr_hits},
    {"incr_misses_total", "Increments that did not find their key.", &C::incr_misses,
     &CT::incr_misses},
    {"decr_hits_total", "Decrements that found their key.", &C::decr_hits, &CT::decr_hits},
    {"decr_misses_total", "Decrements that did not find their key.", &C::decr_misses,
     &CT::decr_misses},
    {"cas_hits_total", "cas commands that stored.", &C::cas_hits, &CT::cas_hits},
    {"cas_misses_total", "cas commands that found no key.", &C::cas_misses, &CT::cas_misses},
    {"cas_badval_total", "cas commands that found a different version.", &C::cas_badval,
     &CT::cas_badval},
    {"touch_hits_total", "Touches that found their key.", &C::touch_hits, &CT::touch_hits},
    {"touch_misses_total", "Touches that did not find their key.", &C::touch_misses,
     &CT::touch_misses},
    {"store_too_large_total", "Stores refused for their size.", &C::store_too_large,
     &CT::store_too_large},
    {"store_no_memory_total", "Stores refused because memory was full.", &C::store_no_memory,
     &CT::store_no_memory},
    {"auth_commands_total", "Attempts of clients to log in.", &C::auth_cmds, &CT::auth_cmds},
    {"auth_errors_total", "Attempts to log in that failed.", &C::auth_errors, &CT::auth_errors},
    {"items_stored_total", "Items created, by stores and other commands.", &C::total_items,
     &CT::total_items},
};
static_assert(std::size(kCommandFields) * sizeof(uint64_t) == sizeof(CommandTotals));
static_assert(sizeof(CommandTotals) == sizeof(protocol::CommandCounters));

using S = cache::SessionCounters;
using ST = SessionTotals;
inline constexpr CounterField<S, ST> kSessionFields[] = {
    {"evictions_total", "Live items evicted to make room.", &S::evictions, &ST::evictions},
    {"evicted_unread_total", "Evicted items that were never read.", &S::evicted_unread,
     &ST::evicted_unread},
    {"expired_total", "Items whose time to live ended.", &S::expired, &ST::expired},
    {"expired_unread_total", "Expired items that were never read.", &S::expired_unread,
     &ST::expired_unread},
    {"ghosts_stored_total", "Items stored again soon after being evicted unused.",
     &S::ghosts_stored, &ST::ghosts_stored},
    {"young_hits_sampled_total", "Hits on new items; one hit in 64 is counted.", &S::young_hits,
     &ST::young_hits},
    {"main_hits_sampled_total", "Hits on items used before; one hit in 64 is counted.",
     &S::main_hits, &ST::main_hits},
    {"carried_total", "Items copied forward out of a segment that was freed.", &S::carried,
     &ST::carried},
    {"segments_freed_total", "Segments of the object log emptied.", &S::segments_freed,
     &ST::segments_freed},
    {"victim_looks_total", "Items examined in segments that were being emptied.", &S::victim_looks,
     &ST::victim_looks},
    {"room_made_total", "Times that a store had to wait for room.", &S::room_made, &ST::room_made},
    {"retries_total", "Changes that lost a race and were tried again.", &S::retries, &ST::retries},
    {"overwritten_total", "Plain sets written to the place of an item replaced before.",
     &S::overwritten, &ST::overwritten},
};
static_assert(std::size(kSessionFields) * sizeof(uint64_t) == sizeof(SessionTotals));
static_assert(sizeof(SessionTotals) == sizeof(cache::SessionCounters));

}  // namespace fields

using fields::kCommandFields;
using fields::kSessionFields;

// Counters of a snapshot that no table above holds; levels are not among them.
struct LooseCounter {
  std::string_view name;
  std::string_view help;
  uint64_t& (*in)(ServerSnapshot&);
};
inline constexpr LooseCounter kLooseCounters[] = {
    {"connections_opened_total", "Connections opened.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.connections_opened; }},
    {"connections_rejected_total", "Connections refused because the limit was reached.",
     [](ServerSnapshot& s) -> uint64_t& { return s.connections_rejected; }},
    {"connections_idle_closed_total", "Connections closed because they were idle.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.idle_closed; }},
    {"connections_shed_total", "Connections closed because others waited for the memory they held.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.shed_closed; }},
    {"accept_pauses_total", "Times that accepting stopped for lack of descriptors or memory.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.accept_pauses; }},
    {"listen_disabled_microseconds_total", "Time during which no connection was accepted.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.accept_paused_us; }},
    {"connection_yields_total", "Times that a connection had to let others go first.",
     [](ServerSnapshot& s) -> uint64_t& { return s.conn_yields; }},
    {"bytes_received_total", "Bytes received from clients.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.bytes_in; }},
    {"bytes_sent_total", "Bytes sent to clients.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.bytes_out; }},
    {"loop_turns_total", "Turns of the event loops.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.turns; }},
    {"loop_batches_total", "Turns of the event loops that had requests.",
     [](ServerSnapshot& s) -> uint64_t& { return s.net.batches; }},
};

}  // namespace weft::server
