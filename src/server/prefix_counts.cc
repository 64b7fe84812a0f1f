#include "server/prefix_counts.h"

#include <fmt/format.h>

namespace weft::server {
namespace {

// Meta commands do not count in memcached either.
bool MayCount(protocol::RequestKind kind) {
  using protocol::RequestKind;
  return kind == RequestKind::kRead || kind == RequestKind::kStore ||
         kind == RequestKind::kDelete || kind == RequestKind::kBinary;
}

}  // namespace

void PrefixCounts::Note(const protocol::Request& request, std::string_view key,
                        const cache::Reply& reply) {
  const cache::Verb verb = request.command.verb;
  const bool counts =
      verb == cache::Verb::kRead || verb == cache::Verb::kStore || verb == cache::Verb::kDelete;
  const size_t end = key.find(delimiter_);
  if (!counts || end == key.npos || !MayCount(request.kind)) return;
  base::MutexLock lock(&mutex_);
  Counts& of_prefix = CountsOfLocked(key.substr(0, end));
  switch (verb) {
    case cache::Verb::kRead:
      of_prefix.get++;
      of_prefix.hit += reply.outcome == Outcome::kHit ? 1 : 0;
      return;
    case cache::Verb::kStore: of_prefix.set++; return;
    default: of_prefix.del++; return;
  }
}

PrefixCounts::Counts& PrefixCounts::CountsOfLocked(std::string_view prefix) {
  if (const auto found = counts_.find(prefix); found != counts_.end()) return found->second;
  const bool fits = counts_.size() < kPrefixesMax && protocol::IsTextKey(prefix);
  return counts_[std::string(fits ? prefix : kOther)];
}

void PrefixCounts::AddTo(PrefixCounts* sum) const {
  std::map<std::string, Counts, std::less<>> copy;
  {
    base::MutexLock lock(&mutex_);
    copy = counts_;
  }
  base::MutexLock lock(&sum->mutex_);
  for (const auto& [prefix, counts] : copy) {
    Counts& total = sum->CountsOfLocked(prefix);
    total.get += counts.get;
    total.hit += counts.hit;
    total.set += counts.set;
    total.del += counts.del;
  }
}

void PrefixCounts::Clear() {
  base::MutexLock lock(&mutex_);
  counts_.clear();
}

std::string PrefixCounts::ToText() const {
  std::string text;
  base::MutexLock lock(&mutex_);
  for (const auto& [prefix, counts] : counts_)
    text += fmt::format("PREFIX {} get {} hit {} set {} del {}\r\n", prefix, counts.get, counts.hit,
                        counts.set, counts.del);
  return text + "END\r\n";
}

}  // namespace weft::server
