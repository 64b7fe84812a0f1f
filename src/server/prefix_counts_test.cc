#include "server/prefix_counts.h"

#include <gtest/gtest.h>

namespace weft::server {
namespace {

using protocol::Request;
using protocol::RequestKind;

void Note(PrefixCounts* counts, RequestKind kind, cache::Verb verb, std::string_view key,
          Outcome outcome) {
  Request request;
  request.kind = kind;
  request.command.verb = verb;
  cache::Reply reply;
  reply.outcome = outcome;
  counts->Note(request, key, reply);
}

TEST(PrefixCounts, CountsGetsStoresAndDeletes) {
  PrefixCounts counts(':');
  Note(&counts, RequestKind::kRead, cache::Verb::kRead, "a:1", Outcome::kHit);
  Note(&counts, RequestKind::kRead, cache::Verb::kRead, "a:2:x", Outcome::kMiss);
  Note(&counts, RequestKind::kStore, cache::Verb::kStore, "a:1", Outcome::kExists);
  Note(&counts, RequestKind::kDelete, cache::Verb::kDelete, "a:1", Outcome::kMiss);
  Note(&counts, RequestKind::kBinary, cache::Verb::kRead, "b:1", Outcome::kHit);
  Note(&counts, RequestKind::kRead, cache::Verb::kRead, ":1", Outcome::kMiss);
  Note(&counts, RequestKind::kRead, cache::Verb::kRead, "without", Outcome::kHit);
  Note(&counts, RequestKind::kMetaRead, cache::Verb::kRead, "a:1", Outcome::kHit);
  Note(&counts, RequestKind::kArithmetic, cache::Verb::kArithmetic, "a:1", Outcome::kNumber);
  Note(&counts, RequestKind::kTouch, cache::Verb::kTouch, "a:1", Outcome::kTouched);
  EXPECT_EQ(counts.ToText(),
            "PREFIX  get 1 hit 0 set 0 del 0\r\n"
            "PREFIX a get 2 hit 1 set 1 del 1\r\n"
            "PREFIX b get 1 hit 1 set 0 del 0\r\nEND\r\n");
  counts.Clear();
  EXPECT_EQ(counts.ToText(), "END\r\n");
}

TEST(PrefixCounts, KeepTheirBound) {
  PrefixCounts counts('/');
  PrefixCounts sum('/');
  for (size_t i = 0; i < 3 * PrefixCounts::kPrefixesMax; ++i)
    Note(&counts, RequestKind::kRead, cache::Verb::kRead, std::to_string(i) + "/x", Outcome::kHit);
  Note(&counts, RequestKind::kBinary, cache::Verb::kRead, "a\r\nEND/x", Outcome::kHit);
  counts.AddTo(&sum);
  counts.AddTo(&sum);
  const std::string text = sum.ToText();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), PrefixCounts::kPrefixesMax + 2);
  const uint64_t others = 2 * (2 * PrefixCounts::kPrefixesMax + 1);
  EXPECT_NE(text.find("PREFIX <other> get " + std::to_string(others) + " hit "), text.npos);
}

}  // namespace
}  // namespace weft::server
