#include "protocol/reply.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/parse.h"

namespace weft::protocol {
namespace {

class ReplyTest : public testing::Test {
 protected:
  // The reply to `input` when the store answers `reply_`.
  std::string ReplyTo(std::string_view input) {
    input_ = input;
    ParseContext context;
    context.scratch = scratch_;
    Request request;
    EXPECT_EQ(Parse(input_, context, &request).status, ParseStatus::kRequest);
    EXPECT_LE(request.kind, RequestKind::kMetaDebug) << request.text;
    const std::string_view key = request.command.key;
    std::vector<char> out(ReplyBytesMax(request, key.size()) + reply_.value.size());
    const char* const end = WriteReply(request, key, reply_, out.data());
    return {out.data(), static_cast<size_t>(end - out.data())};
  }

  std::string ReplyTo(std::string_view input, Outcome outcome) {
    reply_.outcome = outcome;
    return ReplyTo(input);
  }

  cache::Reply reply_;
  std::string input_;
  char scratch_[kScratchBytes];
};

TEST_F(ReplyTest, ClassicOutcomesHaveOneLineEach) {
  const std::string_view set = "set k 0 0 1\r\nx\r\n";
  EXPECT_EQ(ReplyTo(set, Outcome::kStored), "STORED\r\n");
  EXPECT_EQ(ReplyTo(set, Outcome::kNotStored), "NOT_STORED\r\n");
  EXPECT_EQ(ReplyTo(set, Outcome::kExists), "EXISTS\r\n");
  EXPECT_EQ(ReplyTo(set, Outcome::kMiss), "NOT_FOUND\r\n");
  EXPECT_EQ(ReplyTo(set, Outcome::kTooLarge), "SERVER_ERROR object too large for cache\r\n");
  EXPECT_EQ(ReplyTo(set, Outcome::kNoMemory), "SERVER_ERROR out of memory storing object\r\n");
  EXPECT_EQ(ReplyTo("delete k\r\n", Outcome::kDeleted), "DELETED\r\n");
  EXPECT_EQ(ReplyTo("touch k 0\r\n", Outcome::kTouched), "TOUCHED\r\n");
  EXPECT_EQ(ReplyTo("incr k 1\r\n", Outcome::kNoMemory), "SERVER_ERROR out of memory\r\n");
}

TEST_F(ReplyTest, NoreplyHidesEveryOutcome) {
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::kBadKey); ++outcome) {
    const Outcome each = static_cast<Outcome>(outcome);
    EXPECT_EQ(ReplyTo("set k 0 0 1 noreply\r\nx\r\n", each), "");
    EXPECT_EQ(ReplyTo("incr k 1 noreply\r\n", each), "");
    EXPECT_EQ(ReplyTo("delete k noreply\r\n", each), "");
    EXPECT_EQ(ReplyTo("touch k 0 noreply\r\n", each), "");
  }
}

TEST_F(ReplyTest, NumbersAreWrittenWhole) {
  reply_.number = 18446744073709551615u;
  EXPECT_EQ(ReplyTo("incr k 1\r\n", Outcome::kNumber), "18446744073709551615\r\n");
  EXPECT_EQ(ReplyTo("ma k v\r\n"), "VA 20\r\n18446744073709551615\r\n");
}

TEST_F(ReplyTest, ReadShowsTheVersionWhereAsked) {
  reply_.client_flags = 4294967295u;
  reply_.cas = 18446744073709551615u;
  reply_.value = "hi";
  EXPECT_EQ(ReplyTo("get k\r\n", Outcome::kHit), "VALUE k 4294967295 2\r\nhi\r\n");
  EXPECT_EQ(ReplyTo("gets k\r\n"), "VALUE k 4294967295 2 18446744073709551615\r\nhi\r\n");
  EXPECT_EQ(ReplyTo("gats 0 k\r\n"), "VALUE k 4294967295 2 18446744073709551615\r\nhi\r\n");
  EXPECT_EQ(ReplyTo("get k\r\n", Outcome::kMiss), "");
}

TEST_F(ReplyTest, PlainHitIsWrittenAsByWriteReply) {
  reply_.outcome = Outcome::kHit;
  const std::string bytes(70'000, 'x');
  std::vector<char> out(kPlainHitBytesMax + kKeyBytesMax + bytes.size());
  for (const size_t key_bytes : {1, 7, 16, 33, 100, 250}) {
    const std::string key(key_bytes, 'k');
    for (const uint32_t flags : {0u, 1u, 9u, 10u, 4294967295u}) {
      for (const size_t value_bytes : {0, 1, 9, 10, 64, 99, 1000, 70'000}) {
        reply_.client_flags = flags;
        reply_.value = std::string_view(bytes).substr(0, value_bytes);
        const char* const end = WritePlainHit(key, reply_.client_flags, reply_.value, out.data());
        const std::string_view written(out.data(), static_cast<size_t>(end - out.data()));
        ASSERT_EQ(written, ReplyTo("get " + key + "\r\n"));
        ASSERT_LE(written.size(), kPlainHitBytesMax + key.size() + value_bytes - 5) << "and END";
      }
    }
  }
}

TEST_F(ReplyTest, HeadLeavesTheValueToTheCaller) {
  char scratch[kScratchBytes];
  ParseContext context;
  context.scratch = scratch;
  Request request;
  Parse("mg k v k\r\n", context, &request);
  reply_.outcome = Outcome::kHit;
  reply_.value = "hello";
  char out[256];
  bool value_follows = false;
  const char* end = WriteHead(request, "k", reply_, out, &value_follows);
  EXPECT_TRUE(value_follows);
  EXPECT_EQ(std::string_view(out, static_cast<size_t>(end - out)), "VA 5 kk\r\n");
  EXPECT_EQ(WriteEnd(request, ReadFailure::kNone, out), out);
  Parse("get k\r\n", context, &request);
  end = WriteEnd(request, ReadFailure::kNone, out);
  EXPECT_EQ(std::string_view(out, static_cast<size_t>(end - out)), "END\r\n");
  end = WriteEnd(request, ReadFailure::kNoMemory, out);
  EXPECT_EQ(std::string_view(out, static_cast<size_t>(end - out)),
            "SERVER_ERROR out of memory writing get response\r\n");
}

// Neither a miss nor made-up fields, whatever a read was refused for.
TEST_F(ReplyTest, AFailureNeverReadsAsAMiss) {
  ParseContext context;
  context.scratch = scratch_;
  Request get, debug;
  Parse("get k\r\n", context, &get);
  Parse("me k\r\n", context, &debug);
  char out[256];
  bool value_follows = false;
  for (const Outcome outcome :
       {Outcome::kTooLarge, Outcome::kNoMemory, Outcome::kBadKey, Outcome::kIoError}) {
    reply_ = {};
    reply_.outcome = outcome;
    for (const Outcome beside : {Outcome::kHit, Outcome::kMiss}) {
      const ReadFailure failure = Worse(Worse(Worse(ReadFailure::kNone, beside), outcome), beside);
      const char* const end = WriteEnd(get, failure, out);
      EXPECT_TRUE(
          std::string_view(out, static_cast<size_t>(end - out)).starts_with("SERVER_ERROR"));
    }
    const char* const end = WriteHead(debug, "k", reply_, out, &value_follows);
    EXPECT_NE(std::string_view(out, static_cast<size_t>(end - out)).find("_ERROR "),
              std::string_view::npos);
  }
}

TEST_F(ReplyTest, ReadFlagsFollowTheRequestAndTheMarksComeLast) {
  reply_.outcome = Outcome::kHit;
  reply_.client_flags = 7;
  reply_.ttl_s = 90;
  reply_.last_access_s = 5;
  reply_.hit_before = true;
  reply_.cas = 42;
  reply_.value = "hey";
  EXPECT_EQ(ReplyTo("mg k t s O12 k h f c l\r\n"), "HD t90 s3 O12 kk h1 f7 c42 l5\r\n");
  reply_.stale = reply_.won = true;
  EXPECT_EQ(ReplyTo("mg k f\r\n"), "HD f7 X W\r\n");
  reply_.won = false;
  reply_.win_taken = true;
  EXPECT_EQ(ReplyTo("mg k v\r\n"), "VA 3 Z X\r\nhey\r\n");
  reply_.ttl_s = -1;
  EXPECT_EQ(ReplyTo("mg k t\r\n"), "HD t-1 Z X\r\n");
}

TEST_F(ReplyTest, ReadLeavesOutTheValueThatTheClientKnows) {
  reply_.outcome = Outcome::kHit;
  reply_.cas = 42;
  reply_.value = "hey";
  EXPECT_EQ(ReplyTo("mg k C42 v s c\r\n"), "HD s3 c42\r\n");
  EXPECT_EQ(ReplyTo("mg k C41 v s c\r\n"), "VA 3 s3 c42\r\nhey\r\n");
  EXPECT_EQ(ReplyTo("mg k C41 s\r\n"), "HD s3\r\n");
  EXPECT_EQ(ReplyTo("mg k C42 v q O7\r\n"), "HD O7\r\n");
  EXPECT_EQ(ReplyTo("mg k C0 v\r\n", Outcome::kMiss), "EN\r\n");
}

TEST_F(ReplyTest, ReadThatCreatesHasWon) {
  EXPECT_EQ(ReplyTo("mg k N30 v\r\n", Outcome::kStored), "VA 0 W\r\n\r\n");
}

TEST_F(ReplyTest, QuietHidesOnlyWhatIsExpected) {
  struct Case {
    std::string_view input;
    std::vector<Outcome> hidden;
    std::vector<Outcome> shown;
  };
  using enum Outcome;
  for (const Case& each : std::vector<Case>{
           {"mg k q\r\n", {kMiss}, {kHit, kStored, kNoMemory}},
           {"ms k 1 q\r\nx\r\n", {kStored}, {kNotStored, kExists, kMiss, kTooLarge, kNoMemory}},
           {"md k q\r\n", {kDeleted}, {kMiss, kExists}},
           {"ma k q v\r\n", {kNumber}, {kMiss, kExists, kStored, kNotNumeric, kNoMemory}},
           {"me k q\r\n", {}, {kMiss, kHit}}}) {
    for (const Outcome outcome : each.hidden) EXPECT_EQ(ReplyTo(each.input, outcome), "");
    for (const Outcome outcome : each.shown) EXPECT_NE(ReplyTo(each.input, outcome), "");
  }
}

TEST_F(ReplyTest, StoreTellsTheStoredSize) {
  EXPECT_EQ(ReplyTo("ms k 3 s\r\nabc\r\n", Outcome::kStored), "HD s3\r\n");
  EXPECT_EQ(ReplyTo("ms k 3 s\r\nabc\r\n", Outcome::kNotStored), "NS\r\n");
  reply_.value = "0123456789";
  EXPECT_EQ(ReplyTo("ms k 3 s MA\r\nabc\r\n", Outcome::kStored), "HD s10\r\n");
}

TEST_F(ReplyTest, FailedStoreShowsNoVersion) {
  reply_.cas = 42;
  EXPECT_EQ(ReplyTo("ms k 1 c\r\nx\r\n", Outcome::kStored), "HD c42\r\n");
  EXPECT_EQ(ReplyTo("ms k 1 c\r\nx\r\n", Outcome::kExists), "EX c0\r\n");
  EXPECT_EQ(ReplyTo("ma k c\r\n", Outcome::kExists), "EX\r\n");
}

TEST_F(ReplyTest, DebugDescribesTheObject) {
  reply_.outcome = Outcome::kHit;
  reply_.ttl_s = 100;
  reply_.last_access_s = 3;
  reply_.object_bytes = 66;
  reply_.cas = 9;
  reply_.hit_before = true;
  EXPECT_EQ(ReplyTo("me k\r\n"), "ME k exp=-100 la=3 cas=9 fetch=yes cls=1 size=66\r\n");
  reply_.binary_key = true;
  EXPECT_EQ(ReplyTo("me ab\r\n"), "ME YWI= exp=-100 la=3 cas=9 fetch=yes cls=1 size=66\r\n");
}

TEST_F(ReplyTest, TheLongestReplyKeepsItsBound) {
  reply_.client_flags = reply_.last_access_s = reply_.object_bytes = 4294967295u;
  reply_.ttl_s = 2147483647;
  reply_.cas = reply_.number = 18446744073709551615u;
  reply_.binary_key = reply_.stale = reply_.win_taken = true;
  const std::string key(250, 'k');
  for (const std::string& input :
       {"gets " + key + "\r\n", "mg " + key + " c f h k l s t v O" + std::string(31, 'o') + "\r\n",
        "me " + key + "\r\n", "ma " + key + " c k t v\r\n"}) {
    // ReplyTo writes to a buffer of the promised size, which the sanitizer guards.
    EXPECT_GT(ReplyTo(input, Outcome::kHit).size(), key.size());
    EXPECT_GE(ReplyTo(input, Outcome::kStored).size(), 0u);
  }
}

TEST(WriteText, IsSilentWithNoreply) {
  Request request;
  char out[16];
  EXPECT_EQ(WriteText(request, kOkText, out) - out, 4);
  request.noreply = true;
  EXPECT_EQ(WriteText(request, kOkText, out), out);
}

}  // namespace
}  // namespace weft::protocol
