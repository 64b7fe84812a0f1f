#include "pipeline/large_item.h"

#include <algorithm>

#include "cache/entry.h"
#include "cache/number.h"

namespace weft::pipeline {
namespace {

uint64_t NextVersion(const cache::Command& command, cache::Session& session) {
  return command.explicit_cas ? command.cas_new : session.store().log().NextVersion();
}

// As cache::Describe does for an object. What was read last, and whether, no item says.
void Describe(const cache::Command& command, const tier::Item& item, cache::Session& session,
              cache::Reply* reply) {
  cache::ObjectSpec spec;
  spec.key = command.key;
  spec.head = item.value;
  spec.has_cas = true;
  reply->object_bytes = static_cast<uint32_t>(cache::SpecBytes(spec));
  reply->binary_key = (item.marks & tier::kMarkBinaryKey) != 0;
  reply->client_flags = item.client_flags;
  reply->ttl_s = cache::SecondsLeft(session, item.expiry);
  reply->cas = item.version;
  reply->value = item.value;
  if (command.want_cas) session.store().log().NoteShown(item.version);
}

LargeAnswer Read(const cache::Command& command, const tier::Item& item, cache::Session& session) {
  LargeAnswer answer{LargeFate::kStays, item, cache::Plain(Outcome::kHit), {}};
  cache::Reply& reply = answer.reply;
  const uint32_t access = AccessOfMarks(item.marks);
  reply.won =
      cache::WinsRefresh(session, command, cache::ExpiryToRefreshBy(command, item.expiry), access);
  reply.stale = (access & kAccessStale) != 0;
  reply.win_taken = (access & kAccessWinSent) != 0;
  reply.ttl_before_s = cache::SecondsLeft(session, item.expiry);
  if (reply.won) answer.item.marks |= tier::kMarkWinSent;
  if (command.update_expiry) answer.item.expiry = command.expiry;
  if (reply.won || command.update_expiry) answer.fate = LargeFate::kChanged;
  Describe(command, answer.item, session, &reply);
  return answer;
}

LargeAnswer Refused(Outcome outcome) { return {{}, {}, cache::Plain(outcome), {}}; }

std::string_view ViewOf(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

LargeAnswer Concatenate(const cache::Command& command, const tier::Item& item,
                        cache::Session& session) {
  LargeAnswer answer{LargeFate::kChanged, item, cache::Plain(Outcome::kStored), {}};
  const bool appends = command.store_mode == cache::StoreMode::kAppend;
  answer.made.reserve(item.value.size() + command.value.size());
  for (const std::string_view part :
       {appends ? item.value : command.value, appends ? command.value : item.value}) {
    answer.made.insert(answer.made.end(), part.begin(), part.end());
  }
  answer.item.marks = command.binary_key ? tier::kMarkBinaryKey : 0;
  answer.item.version = NextVersion(command, session);
  answer.item.value = ViewOf(answer.made);
  Describe(command, answer.item, session, &answer.reply);
  return answer;
}

LargeAnswer Store(const cache::Command& command, const tier::Item& item, cache::Session& session) {
  const cache::Verdict verdict = cache::JudgePresent(command, item.version);
  if (verdict == cache::Verdict::kNotStored) return Refused(Outcome::kNotStored);
  if (verdict == cache::Verdict::kExists) return Refused(Outcome::kExists);
  const bool concatenates = cache::IsConcatenation(command);
  const size_t bytes = command.value.size() + (concatenates ? item.value.size() : 0);
  if (cache::IsTooLarge(session, command.key.size(), bytes)) return Refused(Outcome::kTooLarge);
  if (concatenates) return Concatenate(command, item, session);
  LargeAnswer answer{LargeFate::kChanged, {}, cache::Plain(Outcome::kStored), {}};
  answer.item.marks = command.binary_key ? tier::kMarkBinaryKey : 0;
  answer.item.client_flags = command.client_flags;
  answer.item.expiry = command.expiry;
  answer.item.version = NextVersion(command, session);
  answer.item.value = command.value;
  if (verdict == cache::Verdict::kStoreStale) {
    answer.item.expiry = item.expiry;
    answer.item.marks |= tier::kMarkStale | (item.marks & tier::kMarkWinSent);
  }
  if (command.want_cas) Describe(command, answer.item, session, &answer.reply);
  return answer;
}

LargeAnswer Delete(const cache::Command& command, const tier::Item& item, cache::Session& session) {
  if (command.compare_cas && item.version != command.cas_expected) return Refused(Outcome::kExists);
  LargeAnswer answer{LargeFate::kRemoved, item, cache::Plain(Outcome::kDeleted), {}};
  if (!command.invalidate && !command.drop_value) return answer;
  answer.fate = LargeFate::kChanged;
  answer.item.version = NextVersion(command, session);
  if (command.invalidate) {
    answer.item.marks = static_cast<uint8_t>((item.marks | tier::kMarkStale) & ~tier::kMarkWinSent);
    if (command.update_expiry) answer.item.expiry = command.expiry;
  }
  if (command.drop_value) {
    answer.item.value = {};
    answer.item.client_flags = 0;
  }
  return answer;
}

LargeAnswer Touch(const cache::Command& command, const tier::Item& item, cache::Session& session) {
  LargeAnswer answer{LargeFate::kChanged, item, cache::Plain(Outcome::kTouched), {}};
  answer.item.expiry = command.expiry;
  if (command.want_cas) Describe(command, answer.item, session, &answer.reply);
  return answer;
}

// As cache::ArithmeticEntry counts.
LargeAnswer Count(const cache::Command& command, const tier::Item& item, cache::Session& session) {
  if (item.value.empty()) return Refused(Outcome::kNotNumeric);
  if (command.compare_cas && item.version != command.cas_expected) return Refused(Outcome::kExists);
  uint64_t number;
  size_t read_bytes;
  if (!cache::ParseNumber(item.value, &number, &read_bytes)) {
    LargeAnswer answer = Refused(Outcome::kNotNumeric);
    answer.reply.worked_bytes = static_cast<uint32_t>(read_bytes);
    return answer;
  }
  number = cache::CountFrom(command, number);
  char buffer[cache::kDigitsMax];
  const std::string_view digits = cache::FormatNumber(number, buffer);
  LargeAnswer answer{LargeFate::kChanged, item, cache::Plain(Outcome::kNumber), {}};
  cache::Reply& reply = answer.reply;
  answer.made.assign(std::max(digits.size(), item.value.size()), ' ');
  std::ranges::copy(digits, answer.made.begin());
  reply.lengthened = answer.made.size() > item.value.size();
  if (reply.lengthened) answer.item.marks &= tier::kMarkBinaryKey;
  answer.item.value = ViewOf(answer.made);
  answer.item.version = NextVersion(command, session);
  if (command.update_expiry) answer.item.expiry = command.expiry;
  Describe(command, answer.item, session, &reply);
  reply.ttl_before_s = cache::SecondsLeft(session, item.expiry);
  reply.number = number;
  return answer;
}

}  // namespace

uint8_t MarksOfAccess(uint32_t access) {
  return static_cast<uint8_t>(((access & kAccessStale) != 0 ? tier::kMarkStale : 0) |
                              ((access & kAccessWinSent) != 0 ? tier::kMarkWinSent : 0) |
                              ((access & kAccessBinary) != 0 ? tier::kMarkBinaryKey : 0));
}

uint32_t AccessOfMarks(uint8_t marks) {
  return ((marks & tier::kMarkStale) != 0 ? kAccessStale : 0) |
         ((marks & tier::kMarkWinSent) != 0 ? kAccessWinSent : 0) |
         ((marks & tier::kMarkBinaryKey) != 0 ? kAccessBinary : 0);
}

LargeAnswer AnswerLarge(const cache::Command& command, const tier::Item& item,
                        cache::Session& session) {
  switch (command.verb) {
    case cache::Verb::kRead: return Read(command, item, session);
    case cache::Verb::kStore: return Store(command, item, session);
    case cache::Verb::kDelete: return Delete(command, item, session);
    case cache::Verb::kTouch: return Touch(command, item, session);
    case cache::Verb::kArithmetic: break;
  }
  return Count(command, item, session);
}

}  // namespace weft::pipeline
