// Commands about the server. Those about slab classes, LRU queues and their threads, which this
// store does not have, are checked as memcached checks them and change nothing.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "protocol/parse_internal.h"

namespace weft::protocol::internal {
namespace {

constexpr std::string_view kBadClass = "BADCLASS invalid class id\r\n";
constexpr int32_t kClassMin = 1;
constexpr int32_t kClassMax = 62;
constexpr uint32_t kMemoryMibMin = 8;

// lru, slabs and lru_crawler never have more words than this that matter.
constexpr size_t kTokensMax = 8;

struct Words {
  std::string_view token[kTokensMax];
  size_t count = 0;

  // The word at `index`, empty where there is none.
  std::string_view operator[](size_t index) const {
    return index < count ? token[index] : std::string_view();
  }
};

Words Split(const Line& line) {
  Words words;
  words.count = SplitTokens(line, words.token, kTokensMax);
  if (words.count > kTokensMax) words.count = kTokensMax;
  return words;
}

void HideIfNoreply(const Words& words, Request* request) {
  request->noreply = words.count > 0 && IsNoreply(words[words.count - 1]);
}

bool ParseReal(std::string_view token, double* number) {
  char text[32];
  if (token.empty() || token.size() >= sizeof text) return false;
  std::memcpy(text, token.data(), token.size());
  text[token.size()] = '\0';
  char* stop = nullptr;
  *number = std::strtod(text, &stop);
  return stop == text + token.size();
}

ParseResult ParseVerbosity(const Line& line, Request* request) {
  const Words words = Split(line);
  HideIfNoreply(words, request);
  if (words.count < 1 || words.count > 2) {
    request->noreply = false;
    return Text(line, kUnknownCommand, request);
  }
  if (!ParseU32(words[0], &request->number)) return Text(line, kBadFormat, request);
  request->kind = RequestKind::kVerbosity;
  return Done(line.bytes);
}

ParseResult ParseFlushAll(const Line& line, const ParseContext& context, Request* request) {
  const Words words = Split(line);
  if (words.count > 2) return Text(line, kUnknownCommand, request);
  HideIfNoreply(words, request);
  int32_t exptime = 0;
  request->kind = RequestKind::kFlushAll;
  if (words.count > (request->noreply ? 1u : 0u) && !ParseI32(words[0], &exptime)) {
    request->text = kBadExptime;
    return Done(line.bytes);
  }
  if (exptime > 0) {
    const cache::Expiry at = ExpiryFrom(exptime, context);
    request->flush_at_s = at == cache::kExpiredAtOnce ? 0 : at;
  }
  return Done(line.bytes);
}

ParseResult ParseMemoryLimit(const Line& line, Request* request) {
  const Words words = Split(line);
  if (words.count < 1 || words.count > 2) return Text(line, kUnknownCommand, request);
  HideIfNoreply(words, request);
  if (!ParseU32(words[0], &request->number)) return Text(line, kUnknownCommand, request);
  if (request->number < kMemoryMibMin) {
    return Text(line, "MEMLIMIT_TOO_SMALL cannot set maxbytes to less than 8m\r\n", request);
  }
  request->kind = RequestKind::kMemoryLimit;
  return Done(line.bytes);
}

ParseResult ParseShutdown(const Line& line, const ParseContext& context, Request* request) {
  const Words words = Split(line);
  if (!context.shutdown_enabled) return Text(line, "ERROR: shutdown not enabled\r\n", request);
  request->graceful = words.count == 1 && words[0] == "graceful";
  if (words.count != 0 && !request->graceful) {
    return Text(line, "CLIENT_ERROR invalid shutdown mode\r\n", request);
  }
  request->kind = RequestKind::kShutdown;
  request->close = true;
  return Done(line.bytes);
}

std::string_view SlabsReassign(const Words& words) {
  int32_t from = 0;
  int32_t to = 0;
  if (words.count != 3) return kUnknownCommand;
  if (!ParseI32(words[1], &from) || !ParseI32(words[2], &to)) return kBadFormat;
  if (from == to) return "SAME src and dst class are identical\r\n";
  if (from < -1 || from > kClassMax || to < 0 || to > kClassMax) {
    return "BADCLASS invalid src or dst class id\r\n";
  }
  return from == -1 ? kOk : "NOSPARE source class has no spare pages\r\n";
}

std::string_view SlabsAutomove(const Words& words) {
  uint32_t mode = 0;
  double ratio = 0;
  if (words.count < 2) return kUnknownCommand;
  if (words[1] == "ratio") return ParseReal(words[2], &ratio) ? kOk : kUnknownCommand;
  if (!ParseU32(words[1], &mode)) return kBadFormat;
  return mode <= 2 ? kOk : kUnknownCommand;
}

ParseResult ParseSlabs(const Line& line, Request* request) {
  const Words words = Split(line);
  if (words[0] == "automove") {
    HideIfNoreply(words, request);
    return Text(line, SlabsAutomove(words), request);
  }
  return Text(line, words[0] == "reassign" ? SlabsReassign(words) : kUnknownCommand, request);
}

std::string_view LruTune(const Words& words) {
  uint32_t hot_percent = 0;
  uint32_t warm_percent = 0;
  double hot_factor = 0;
  double warm_factor = 0;
  if (words.count < 5 || !ParseU32(words[1], &hot_percent) || !ParseU32(words[2], &warm_percent) ||
      !ParseReal(words[3], &hot_factor) || !ParseReal(words[4], &warm_factor)) {
    return kUnknownCommand;
  }
  if (uint64_t{hot_percent} + warm_percent > 80) {
    return "ERROR hot and warm pcts must not exceed 80\r\n";
  }
  return hot_factor > 0 && warm_factor > 0
             ? kOk
             : "ERROR hot/warm age factors must be greater than 0\r\n";
}

ParseResult ParseLru(const Line& line, Request* request) {
  const Words words = Split(line);
  HideIfNoreply(words, request);
  std::string_view text = kUnknownCommand;
  int32_t seconds = 0;
  if (words.count >= 2 && words[0] == "tune") {
    text = LruTune(words);
  } else if (words.count >= 2 && words[0] == "mode") {
    if (words[1] == "flat" || words[1] == "segmented") text = kOk;
  } else if (words.count >= 2 && words[0] == "temp_ttl") {
    if (ParseI32(words[1], &seconds)) text = kOk;
  }
  return Text(line, text, request);
}

// The list of classes: "all", or ids with commas between and perhaps behind.
bool IsClassList(std::string_view list) {
  if (list == "all") return true;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    int32_t id = 0;
    if (!ParseI32(list.substr(0, comma), &id) || id < kClassMin || id > kClassMax + 1) return false;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return true;
}

// Everything is of class 1; of other classes there is nothing to list.
bool NamesClassOne(std::string_view list) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == "1") return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

ParseResult ParseDump(const Line& line, bool mg, std::string_view classes, Request* request) {
  const bool is_all = classes == "all" || classes == "hash";
  if (!is_all && !IsClassList(classes)) return Text(line, kBadClass, request);
  const bool lists = is_all || NamesClassOne(classes);
  const DumpForm form = mg ? (lists ? DumpForm::kMg : DumpForm::kNoMg)
                           : (lists ? DumpForm::kMeta : DumpForm::kNoMeta);
  request->kind = RequestKind::kDump;
  request->number = static_cast<uint32_t>(form);
  return Done(line.bytes);
}

ParseResult ParseLruCrawler(const Line& line, Request* request) {
  const Words words = Split(line);
  if (words.count == 2 && (words[0] == "metadump" || words[0] == "mgdump"))
    return ParseDump(line, words[0] == "mgdump", words[1], request);
  std::string_view text = kUnknownCommand;
  uint32_t number = 0;
  if (words.count == 1 && (words[0] == "enable" || words[0] == "disable")) {
    text = kOk;
  } else if (words.count == 2 && words[0] == "crawl") {
    text = IsClassList(words[1]) ? kOk : kBadClass;
  } else if (words.count == 2 && words[0] == "sleep") {
    text = !ParseU32(words[1], &number) ? kBadFormat
           : number > 1'000'000         ? "CLIENT_ERROR sleep must be one second or less\r\n"
                                        : kOk;
  } else if (words.count == 2 && words[0] == "tocrawl") {
    text = ParseU32(words[1], &number) ? kOk : kBadFormat;
  }
  return Text(line, text, request);
}

uint32_t WatchClass(std::string_view word) {
  constexpr std::pair<std::string_view, uint32_t> kClasses[] = {
      {"fetchers", kWatchFetchers},
      {"mutations", kWatchMutations},
      {"evictions", kWatchEvictions},
      {"deletions", kWatchDeletions},
      {"connevents", kWatchConnections},
      {"pipeline", kWatchPipeline},
      // Of threads and of a proxy, which are not here; and of commands as they came, which have
      // values and passwords in them.
      {"sysevents", kWatchNothing},
      {"rawcmds", kWatchNothing},
      {"proxyreqs", kWatchNothing},
      {"proxyevents", kWatchNothing},
      {"proxyuser", kWatchNothing},
  };
  for (const auto& [name, bits] : kClasses)
    if (word == name) return bits;
  return kWatchUnknown;
}

ParseResult ParseWatch(Line line, Request* request) {
  request->kind = RequestKind::kWatch;
  std::string_view word;
  bool any = false;
  for (; NextToken(&line, &word); any = true) {
    request->noreply = IsNoreply(word);
    request->number |= WatchClass(word);
  }
  if (!any) request->number = kWatchFetchers;
  return Done(line.bytes);
}

}  // namespace

ParseResult ParseAdmin(std::string_view word, const Line& line, const ParseContext& context,
                       Request* request) {
  if (word == "version") {
    request->kind = RequestKind::kVersion;
    return Done(line.bytes);
  }
  if (word == "stats") {
    request->kind = RequestKind::kStats;
    request->arguments = RestOf(line);
    return Done(line.bytes);
  }
  if (word == "quit") {
    request->kind = RequestKind::kQuit;
    request->close = true;
    return Done(line.bytes);
  }
  if (word == "verbosity") return ParseVerbosity(line, request);
  if (word == "flush_all") return ParseFlushAll(line, context, request);
  if (word == "cache_memlimit") return ParseMemoryLimit(line, request);
  if (word == "shutdown") return ParseShutdown(line, context, request);
  if (word == "slabs") return ParseSlabs(line, request);
  if (word == "lru") return ParseLru(line, request);
  if (word == "lru_crawler") return ParseLruCrawler(line, request);
  if (word == "watch") return ParseWatch(line, request);
  if (word == "refresh_certs") {
    request->kind = RequestKind::kRefreshCerts;
    return Done(line.bytes);
  }
  return Text(line, kUnknownCommand, request);
}

}  // namespace weft::protocol::internal
