// The suboptions of -o. memcached's are accepted by name and form; few steer anything here.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "server/options_draft.h"

namespace weft::server {
namespace {

enum class Argument : uint8_t { kNone, kOptional, kNumber, kFraction, kText };

struct Suboption {
  std::string_view name;
  Argument argument;
  std::string_view reason;   // why it has no effect; empty: it has, or nothing is to be said
  std::string_view setting;  // its name in `stats settings`, where that shows it
  uint64_t unit = 1;         // of the number given, in that of the setting
};

constexpr uint64_t kKiB = uint64_t{1} << 10;

constexpr std::string_view kNoSlabs = "objects lie in a log; there are no slab classes";
constexpr std::string_view kNoLru = "whole segments are evicted; there are no LRU lists";
constexpr std::string_view kNoCrawler = "expired objects are freed with their segment";
constexpr std::string_view kNoStorage = "there is no external storage";
constexpr std::string_view kNoOffload = "records are sealed in this process";
constexpr std::string_view kGrows = "the index always grows when it has to";
constexpr std::string_view kNoFilter = "no system calls are filtered";
constexpr std::string_view kReplies = "replies are written straight to the output";

constexpr Suboption kSuboptions[] = {
    {"maxconns_fast", Argument::kNone, "", ""},
    {"no_maxconns_fast", Argument::kNone,
     "a connection beyond the limit always gets an error and is closed", ""},
    {"hashpower", Argument::kNumber, "", "hashpower_init"},
    {"no_hashexpand", Argument::kNone, kGrows, ""},
    {"hash_algorithm", Argument::kText, "the hash of keys always has a new secret at each start",
     ""},
    {"tail_repair_time", Argument::kNumber, kNoLru, "tail_repair_time"},
    {"lru_crawler", Argument::kNone, kNoCrawler, ""},
    {"no_lru_crawler", Argument::kNone, kNoCrawler, ""},
    {"lru_crawler_sleep", Argument::kNumber, kNoCrawler, "lru_crawler_sleep"},
    {"lru_crawler_tocrawl", Argument::kNumber, kNoCrawler, "lru_crawler_tocrawl"},
    {"lru_maintainer", Argument::kNone, kNoLru, ""},
    {"no_lru_maintainer", Argument::kNone, kNoLru, ""},
    {"hot_lru_pct", Argument::kNumber, kNoLru, "hot_lru_pct"},
    {"warm_lru_pct", Argument::kNumber, kNoLru, "warm_lru_pct"},
    {"hot_max_factor", Argument::kFraction, kNoLru, "hot_max_factor"},
    {"warm_max_factor", Argument::kFraction, kNoLru, "warm_max_factor"},
    {"temporary_ttl", Argument::kNumber, "objects are always grouped by time to live",
     "temporary_ttl"},
    {"idle_timeout", Argument::kNumber, "", ""},
    {"slab_reassign", Argument::kNone, kNoSlabs, ""},
    {"no_slab_reassign", Argument::kNone, kNoSlabs, ""},
    {"slab_automove", Argument::kOptional, kNoSlabs, ""},
    {"no_slab_automove", Argument::kNone, kNoSlabs, ""},
    {"slab_automove_ratio", Argument::kFraction, kNoSlabs, "slab_automove_ratio"},
    {"slab_automove_window", Argument::kNumber, kNoSlabs, "slab_automove_window"},
    {"slab_automove_freeratio", Argument::kFraction, kNoSlabs, "slab_automove_freeratio"},
    {"slab_sizes", Argument::kText, kNoSlabs, ""},
    {"slab_chunk_max", Argument::kNumber, kNoSlabs, "slab_chunk_max"},
    {"no_chunked_items", Argument::kNone, kNoSlabs, ""},
    {"track_sizes", Argument::kNone, "", ""},
    {"watcher_logbuf_size", Argument::kNumber, "", "watcher_logbuf_size", kKiB},
    {"worker_logbuf_size", Argument::kNumber, "", "worker_logbuf_size", kKiB},
    {"read_buf_mem_limit", Argument::kNumber, "buffers are always bounded", "read_buf_mem_limit",
     kMiB},
    {"resp_obj_mem_limit", Argument::kNumber, "memcached itself has dropped it", ""},
    {"inline_ascii_resp", Argument::kNone, kReplies, ""},
    {"no_inline_ascii_resp", Argument::kNone, kReplies, ""},
    {"sock_cookie_id", Argument::kNumber, "sockets carry no cookie", ""},
    {"drop_privileges", Argument::kNone, kNoFilter, ""},
    {"no_drop_privileges", Argument::kNone, "", ""},
    {"relaxed_privileges", Argument::kNone, kNoFilter, ""},
    {"modern", Argument::kNone, "", ""},
    {"no_modern", Argument::kNone, "there is one set of defaults", ""},
    {"ext_path", Argument::kText, kNoStorage, ""},
    {"ext_page_size", Argument::kNumber, kNoStorage, ""},
    {"ext_wbuf_size", Argument::kNumber, kNoStorage, "ext_wbuf_size", kMiB},
    {"ext_threads", Argument::kNumber, kNoStorage, ""},
    {"ext_io_depth", Argument::kNumber, kNoStorage, ""},
    {"ext_item_size", Argument::kNumber, kNoStorage, "ext_item_size"},
    {"ext_item_age", Argument::kNumber, kNoStorage, "ext_item_age"},
    {"ext_low_ttl", Argument::kNumber, kNoStorage, "ext_low_ttl"},
    {"ext_recache_rate", Argument::kNumber, kNoStorage, "ext_recache_rate"},
    {"ext_compact_under", Argument::kNumber, kNoStorage, "ext_compact_under"},
    {"ext_drop_under", Argument::kNumber, kNoStorage, "ext_drop_under"},
    {"ext_max_sleep", Argument::kNumber, kNoStorage, "ext_max_sleep"},
    {"ext_max_frag", Argument::kFraction, kNoStorage, "ext_max_frag"},
    {"ext_drop_unread", Argument::kNone, kNoStorage, ""},
    {"ssl_chain_cert", Argument::kText, "", "ssl_chain_cert"},
    {"ssl_key", Argument::kText, "", "ssl_key"},
    {"ssl_verify_mode", Argument::kNumber, "", "ssl_verify_mode"},
    {"ssl_keyformat", Argument::kText, "", "ssl_keyformat"},
    {"ssl_ciphers", Argument::kText, "", "ssl_ciphers"},
    {"ssl_ca_cert", Argument::kText, "", "ssl_ca_cert"},
    {"ssl_wbuf_size", Argument::kNumber, "", "ssl_wbuf_size", kKiB},
    {"ssl_session_cache", Argument::kNone, "", "ssl_session_cache"},
    {"ssl_kernel_tls", Argument::kNone, kNoOffload, ""},
    {"ssl_min_version", Argument::kText, "", "ssl_min_version"},
};

Status CheckArgument(const Suboption& suboption, bool given, std::string_view value) {
  const std::string name(suboption.name);
  const Argument argument = suboption.argument;
  if (argument == Argument::kNone || (argument == Argument::kOptional && !given)) return {};
  if (!given || value.empty()) {
    const char* const kind = argument == Argument::kText ? "Missing " : "Missing numeric ";
    return BadUsage(kind + ("argument for " + name));
  }
  const std::string complaint =
      "could not parse argument to \"" + name + "\": " + std::string(value);
  // In the setting's unit it must be a number as well.
  uint64_t number = 0;
  if (argument == Argument::kNumber) {
    if (!base::ParseNumber(value, &number)) return RefusedNumber<uint64_t>(value, complaint);
    if (number > UINT64_MAX / suboption.unit) return BadUsage("the number is too large");
  }
  double fraction = 0;
  if (argument != Argument::kFraction || base::ParseFinite(value, &fraction)) return {};
  return RefusedNumber<double>(value, complaint);
}

// As memcached shows it. REQUIRES: the value is what CheckArgument lets pass.
std::string AsShown(const Suboption& suboption, std::string_view value) {
  if (suboption.argument == Argument::kFraction) {
    double fraction = 0;
    base::ParseFinite(value, &fraction);
    return fmt::format("{:.{}f}", fraction, suboption.name == "slab_automove_freeratio" ? 3 : 2);
  }
  uint64_t number = 0;
  if (suboption.name == "ssl_session_cache") return "yes";
  if (suboption.name == "ssl_verify_mode" && base::ParseNumber(value, &number)) {
    constexpr std::string_view kFlags[] = {"0", "1", "3", "7"};  // OpenSSL's
    return std::string(kFlags[number]);
  }
  if (suboption.name == "ssl_keyformat")
    return value == "2" || (value[0] | 0x20) == 'd' ? "2" : "1";
  if (suboption.name == "ssl_min_version") return fmt::format("tlsv1.{}", value.back());
  if (suboption.argument != Argument::kNumber) return std::string(value);
  base::ParseNumber(value, &number);
  return fmt::to_string(number * suboption.unit);
}

// "no_" is memcached's way of turning one off; no_modern turns all off. The last word holds.
void TakeSwitch(std::string_view name, UnusedSettings* unused) {
  const std::pair<std::string_view, bool*> switches[] = {
      {"slab_reassign", &unused->slab_reassign},
      {"lru_crawler", &unused->lru_crawler},
      {"lru_maintainer", &unused->lru_maintainer},
  };
  const bool on = !name.starts_with("no_");
  if (!on) name.remove_prefix(3);
  for (const auto& [its_name, value] : switches) {
    if (name == its_name || (name == "modern" && !on)) *value = on;
  }
}

Status TakeHashpower(Draft& draft, std::string_view value) {
  constexpr uint32_t kPowerMin = 12, kPowerMax = 32;
  uint32_t power = 0;
  if (!base::ParseNumber(value, &power) || power > kPowerMax) {
    return BadUsage("Initial hashtable multiplier of " + std::string(value) + " is too high");
  }
  if (power < kPowerMin) {
    return BadUsage("Initial hashtable multiplier of " + std::string(value) + " is too low");
  }
  draft.options->expected_items = uint64_t{1} << power;
  return {};
}

// REQUIRES: it is a number of KiB
Status TakeLogbuf(std::string_view value, uint64_t* bytes) {
  constexpr uint64_t kKibMax = uint64_t{1} << 20;
  uint64_t number = 0;
  base::ParseNumber(value, &number);
  if (number > kKibMax) return BadUsage("a buffer of a log has at most 1048576 KiB");
  *bytes = number * kKiB;
  return {};
}

Status TakeOne(Draft& draft, std::string_view word) {
  const size_t equals = word.find('=');
  const bool given = equals != word.npos;
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = given ? word.substr(equals + 1) : std::string_view();
  const Suboption* const row =
      std::find_if(std::begin(kSuboptions), std::end(kSuboptions),
                   [name](const Suboption& suboption) { return suboption.name == name; });
  if (row == std::end(kSuboptions)) {
    return BadUsage("Illegal suboption \"" + std::string(name) + "\"");
  }
  Status status = CheckArgument(*row, given, value);
  if (status.ok() && name.starts_with("ssl_")) status = TakeTls(draft, name, value);
  if (!status.ok()) return status;
  if (!row->setting.empty()) {
    draft.options->unused.extended[std::string(row->setting)] = AsShown(*row, value);
  }
  TakeSwitch(name, &draft.options->unused);
  if (name == "hashpower") return TakeHashpower(draft, value);
  if (name == "watcher_logbuf_size") return TakeLogbuf(value, &draft.options->watcher_logbuf_bytes);
  if (name == "worker_logbuf_size") return TakeLogbuf(value, &draft.options->worker_logbuf_bytes);
  if (name == "track_sizes") draft.options->track_sizes = true;
  if (name == "idle_timeout") base::ParseNumber(value, &draft.options->idle_timeout_s);
  if (name == "hash_algorithm" && value != "jenkins" && value != "murmur3" && value != "xxh3") {
    return BadUsage("Unknown hash_algorithm option (jenkins, murmur3, xxh3)");
  }
  if (!row->reason.empty()) draft.NoEffect("-o " + std::string(name), row->reason);
  return {};
}

}  // namespace

Status TakeExtended(Draft& draft, std::string_view list) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
    if (word.empty()) continue;
    Status status = TakeOne(draft, word);
    if (!status.ok()) return status;
  }
  return {};
}

std::string ExtendedHelp() {
  std::string in_force, accepted;
  for (const Suboption& suboption : kSuboptions) {
    std::string* const list = suboption.reason.empty() ? &in_force : &accepted;
    *list += list->empty() ? "" : list->size() - list->rfind('\n') > 75 ? ",\n  " : ", ";
    *list += suboption.name;
  }
  return "Suboptions of -o that have an effect:\n  " + in_force + "\nand that have none:\n  " +
         accepted + "\n";
}

}  // namespace weft::server
