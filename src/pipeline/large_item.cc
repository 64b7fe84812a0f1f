#include "pipeline/large_item.h"

#include "cache/entry.h"

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
  LargeAnswer answer{LargeFate::kStays, item, cache::Plain(Outcome::kHit)};
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

LargeAnswer Replace(const cache::Command& command, const tier::Item& item,
                    cache::Session& session) {
  const cache::Verdict verdict = cache::JudgePresent(command, item.version);
  if (verdict == cache::Verdict::kNotStored) return {{}, {}, cache::Plain(Outcome::kNotStored)};
  if (verdict == cache::Verdict::kExists) return {{}, {}, cache::Plain(Outcome::kExists)};
  if (cache::IsConcatenation(command) ||
      cache::IsTooLarge(session, command.key.size(), command.value.size())) {
    return {{}, {}, cache::Plain(Outcome::kTooLarge)};
  }
  LargeAnswer answer{LargeFate::kChanged, {}, cache::Plain(Outcome::kStored)};
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
  if (command.compare_cas && item.version != command.cas_expected)
    return {{}, {}, cache::Plain(Outcome::kExists)};
  LargeAnswer answer{LargeFate::kRemoved, item, cache::Plain(Outcome::kDeleted)};
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

LargeAnswer Touch(const cache::Command& command, const tier::Item& item) {
  LargeAnswer answer{LargeFate::kChanged, item, cache::Plain(Outcome::kTouched)};
  answer.item.expiry = command.expiry;
  return answer;
}

// No number is as long.
LargeAnswer Count(const cache::Command& command, const tier::Item& item) {
  const bool differs = command.compare_cas && item.version != command.cas_expected;
  return {{}, {}, cache::Plain(differs ? Outcome::kExists : Outcome::kNotNumeric)};
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
    case cache::Verb::kStore: return Replace(command, item, session);
    case cache::Verb::kDelete: return Delete(command, item, session);
    case cache::Verb::kTouch: return Touch(command, item);
    case cache::Verb::kArithmetic: break;
  }
  return Count(command, item);
}

}  // namespace weft::pipeline
