// Bytes to queries of a batch: what lasts, and where a connection goes on.
#include "protocol/batch_io.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/cache_test_kit.h"
#include "protocol/binary_test_kit.h"

namespace weft::protocol {
namespace {

class BatchIoTest : public ::testing::Test {
 protected:
  // Enters `input` into an empty batch.
  Entering EnterInto(std::string_view input, KeptBytes* kept = nullptr, bool gets_alone = false) {
    batch_.Clear();
    entered_.Clear();
    ParseContext context;
    context.gets_alone = gets_alone;
    context.item_bytes_max = 4096;
    context.scratch = scratch_;
    return Enter(input, context, *store_, batch_.AddSource(1 << 20), &conversation_, &batch_,
                 &entered_, kept);
  }

  // As though the connection were new.
  void Restart() {
    std::destroy_at(&conversation_);
    std::construct_at(&conversation_, Terms(Dialect::kAny, Gate::kOpen));
  }

  const Request& RequestOf(uint32_t tag) { return entered_.RequestOf(entered_[tag]); }

  std::unique_ptr<cache::Store> store_ = cache::OpenStore();
  pipeline::Batch batch_{pipeline::Plan::OneStageCpu()};
  Entries entered_;
  Conversation conversation_{{Dialect::kAny, Gate::kOpen}};
  char scratch_[kScratchBytes];
};

std::string RefusedStore(std::string_view line) {
  return std::string(line) + std::string(5000, 'z') + "\r\n";
}

TEST_F(BatchIoTest, RefusedStoreKeepsItsKeyWhateverIsDecodedBehindIt) {
  EnterInto(RefusedStore("ms QUFBQQ== 5000 b\r\n") + RefusedStore("ms Q0ND 5000 b\r\n") +
            "mg QkJCQg== b v\r\n");
  ASSERT_EQ(batch_.size(), 3u);
  EXPECT_TRUE(RequestOf(0).drop_key);
  EXPECT_EQ(batch_.key(0), "AAAA");
  EXPECT_EQ(batch_.hash(0), store_->HashOf("AAAA"));
  EXPECT_EQ(batch_.key(1), "CCC");
  EXPECT_EQ(batch_.key(2), "BBBB");
}

// Gets of one key go another way than what Parse is asked about. The batch shows no difference.
TEST_F(BatchIoTest, GetsAreEnteredAsTheyAreParsed) {
  std::string all;
  for (const size_t bytes : {1, 2, 11, 12, 13, 28, 29, 100, 249, 250, 251})
    all += "get " + std::string(bytes, 'k') + "\r\n";
  const std::string lines[] = {all,
                               "get a\r\nget b\r\n",
                               "get a \r\nget b\r\n",
                               "get  a\r\n",
                               "get a\n",
                               "get \r\n",
                               "get a b\r\nget c\r\n",
                               "gets a\r\nget b\r\n",
                               "get a\tb\r\n",
                               "get a\rb\r\n",
                               "get a\r\r\n",
                               "get \xff\x80\r\nget c\r\n",
                               "get a\r\nget b\r",
                               "get",
                               "get a\r\nset b 0 0 1\r\nx\r\nget c\r\nget d\r\n",
                               std::string("get a\0b\r\n", 9),
                               "get get \r\n",
                               "GET a\r\n"};
  for (const std::string& line : lines) {
    // A buffer of the exact size, so that the sanitizer sees a read past it.
    const std::vector<char> bytes(line.begin(), line.end());
    const std::string_view input(bytes.data(), bytes.size());
    const Entering entering = EnterInto(input);
    const uint32_t entered = entered_.size();
    ParseContext context;
    context.item_bytes_max = 4096;
    context.scratch = scratch_;
    uint32_t tag = 0, query = 0;
    size_t at = 0;
    for (;; tag++) {
      Request request;
      const ParseResult parsed = Parse(input.substr(at), context, &request);
      if (parsed.status != ParseStatus::kRequest) break;
      ASSERT_LT(tag, entered) << line;
      EXPECT_EQ(RequestOf(tag).kind, request.kind) << line;
      EXPECT_EQ(entered_[tag].begin, at) << line;
      at += parsed.consumed_bytes;
      EXPECT_EQ(entered_[tag].end, at) << line;
      std::string_view key;  // a refused line is entered without its key
      if (request.kind != RequestKind::kText) key = request.command.key;
      do {
        ASSERT_LT(query, batch_.size()) << line;
        EXPECT_EQ(batch_.tag(query), tag) << line;
        EXPECT_EQ(batch_.key(query), key) << line;
        query++;
      } while (NextKey(&request.keys, &key));
    }
    EXPECT_EQ(tag, entered) << line;
    EXPECT_EQ(query, batch_.size()) << line;
    EXPECT_EQ(entering.parsed_bytes, at) << line;
    Restart();
  }
}

// Where the batch is full in the midst of such gets, they go on in the next.
TEST_F(BatchIoTest, GetsThatFillABatchGoOnInTheNext) {
  std::string input;
  const uint32_t gets = 2 * batch_.queries_max() + 10;
  for (uint32_t i = 0; i < gets; i++) input += "get k" + std::to_string(i) + "\r\n";
  uint32_t count = 0;
  for (size_t done = 0; done < input.size();) {
    const Entering entering = EnterInto(std::string_view(input).substr(done));
    ASSERT_GT(batch_.size(), 0u);
    for (uint32_t i = 0; i < batch_.size(); i++)
      ASSERT_EQ(batch_.key(i), "k" + std::to_string(count++));
    EXPECT_EQ(entering.exhausted, batch_.full() ? Exhausted::kBatchFull : Exhausted::kInput);
    // One that was not carried out comes back as itself.
    const uint32_t last = batch_.size() - 1;
    const size_t back =
        ComeBack(entered_, entered_[last], 0, std::string_view(input).substr(done), &conversation_);
    EXPECT_EQ(std::string_view(input).substr(done + back, 1), "k");
    EXPECT_EQ(conversation_.read.keys_bytes, batch_.key(last).size());
    EXPECT_EQ(conversation_.read.line_bytes, batch_.key(last).size() + 2);
    Restart();
    done += entering.parsed_bytes;
  }
  EXPECT_EQ(count, gets);
}

// Those of the binary protocol, too. Their replies differ by opcode and opaque alone.
TEST_F(BatchIoTest, BinaryGetsTravelAsTheirKeys) {
  const std::string input =
      Bytes({.opcode = Opcode::kGet, .opaque = 1, .key = "a"}) +
      Bytes({.opcode = Opcode::kGetKQ, .opaque = 2, .key = "b"}) +
      Bytes({.opcode = Opcode::kSet, .opaque = 3, .extras = std::string(8, '\0'), .key = "c"}) +
      Bytes({.opcode = Opcode::kNoop, .opaque = 4}) +
      Bytes({.opcode = Opcode::kGetQ, .opaque = 5, .key = "d"}) +
      Bytes({.opcode = Opcode::kGetK, .opaque = 6, .key = std::string(250, 'e')}) +
      Bytes({.opcode = Opcode::kGat, .opaque = 7, .extras = Big(uint32_t{0}), .key = "f"}) +
      Bytes({.opcode = Opcode::kGet, .opaque = 8, .key = "g"}).substr(0, 24);
  std::vector<size_t> begins[2];
  for (const bool gets_alone : {false, true}) {
    const Entering entering = EnterInto(input, nullptr, gets_alone);
    EXPECT_EQ(entering.parsed_bytes, input.size() - 24);
    EXPECT_EQ(entering.needed_bytes, 25u);
    ASSERT_EQ(batch_.size(), 7u);
    EXPECT_EQ(batch_.shows_versions(0), gets_alone);
    const std::string keys[] = {"a", "b", "c", "", "d", std::string(250, 'e'), "f"};
    for (uint32_t i = 0; i < 7; i++) {
      const Entered& entered = entered_[i];
      const bool is_alone = gets_alone && (i < 2 || i == 4 || i == 5);
      ASSERT_EQ(batch_.tag(i), i);
      if (i != 3) {
        EXPECT_EQ(batch_.key(i), keys[i]);
        EXPECT_EQ(batch_.hash(i), store_->HashOf(keys[i]));
      }
      EXPECT_EQ(batch_.kind(i) == pipeline::QueryKind::kRead, is_alone) << i;
      EXPECT_EQ(entered.is_binary_read(), is_alone) << i;
      EXPECT_EQ(is_alone ? __builtin_bswap32(entered.opaque)
                         : __builtin_bswap32(RequestOf(i).binary_words.opaque),
                i + 1);
      EXPECT_TRUE(entered.whole);
      // It comes back as a whole packet.
      EXPECT_EQ(ComeBack(entered_, entered, 0, input, &conversation_), entered.begin);
      begins[gets_alone ? 1 : 0].push_back(entered.begin);
    }
    Restart();
  }
  EXPECT_EQ(begins[0], begins[1]);
}

// A connection that has not been admitted has no such way.
TEST_F(BatchIoTest, BinaryGetsBeforeALoginAreRefused) {
  std::destroy_at(&conversation_);
  std::construct_at(&conversation_, Terms(Dialect::kAny, Gate::kSasl));
  EnterInto(Bytes({.opcode = Opcode::kGet, .key = "a"}), nullptr, true);
  ASSERT_EQ(batch_.size(), 1u);
  EXPECT_EQ(RequestOf(0).kind, RequestKind::kText);
  EXPECT_TRUE(RequestOf(0).close);
}

TEST_F(BatchIoTest, RefusedStoreIsABarrier) {
  EnterInto("get key\r\n" + RefusedStore("set key 0 0 5000\r\n") + "get key\r\n");
  EXPECT_TRUE(batch_.has_barrier());
  EnterInto("get key\r\nbogus\r\nget key\r\n");
  EXPECT_FALSE(batch_.has_barrier());
}

TEST_F(BatchIoTest, RecordsHoldNoKey) {
  EnterInto("get a b c\r\nmg QkJCQg== b v\r\nset k 0 0 1\r\nx\r\ndelete k\r\n" +
            RefusedStore("ms QUFBQQ== 5000 b\r\n"));
  ASSERT_EQ(entered_.size(), 5u);
  for (uint32_t tag = 0; tag < entered_.size(); tag++) {
    EXPECT_EQ(RequestOf(tag).command.key.data(), nullptr);
    EXPECT_EQ(RequestOf(tag).keys.data(), nullptr);
  }
  for (const cache::Command& command : batch_.commands()) {
    EXPECT_NE(command.key.data(), scratch_);
    EXPECT_FALSE(command.key.empty());
  }
}

TEST_F(BatchIoTest, WhatIsKeptOutlivesTheInput) {
  KeptBytes kept;
  std::string input = "ms k 1 O7 c\r\nx\r\nstats some words\r\nset k 0 0 3\r\nabc\r\nget k\r\n";
  EnterInto(input, &kept);
  std::fill(input.begin(), input.end(), '!');
  EXPECT_EQ(RequestOf(0).meta_tokens, "O7 c");
  EXPECT_EQ(batch_.command(0).value, "x");
  EXPECT_EQ(RequestOf(0).command.value, "x");
  EXPECT_EQ(RequestOf(1).arguments, "some words");
  EXPECT_EQ(batch_.command(2).value, "abc");
  EXPECT_EQ(batch_.key(3), "k");
}

// Whatever a long line holds behind the keys of the next batch, it is not looked at again: there is
// anything there, as the test puts it.
TEST_F(BatchIoTest, LongReadIsLookedAtOnce) {
  constexpr size_t kKeys = 50'000;
  std::string keys;
  for (size_t i = 0; i < kKeys; i++) keys += std::string(1 + i % 3, ' ') + "k" + std::to_string(i);
  std::string input = "gat 100" + keys + "  \r\nget behind\r\n";
  size_t done = 0;  // bytes of the input
  std::string behind;
  size_t count = 0;
  for (;;) {
    std::string window = input.substr(done);
    if (count != 0) {
      // Keys are short here: a batch needs no more than this.
      const size_t needed = std::min(window.size(), size_t{12} << 10);
      std::fill(window.begin() + static_cast<ptrdiff_t>(needed), window.end(), '\n');
    }
    const Entering entering = EnterInto(window);
    ASSERT_FALSE(entered_.empty());
    const Entered& read = entered_[0];
    for (uint32_t i = 0; i < read.keys_entered; i++) {
      ASSERT_EQ(batch_.key(i), "k" + std::to_string(count++));
      ASSERT_TRUE(batch_.command(i).update_expiry);
    }
    if (read.whole) {
      EXPECT_EQ(count, kKeys);
      ASSERT_EQ(entered_.size(), 2u);
      EXPECT_EQ(batch_.key(read.keys_entered), "behind");
      EXPECT_EQ(done + entering.parsed_bytes, input.size());
      return;
    }
    ASSERT_EQ(entering.exhausted, Exhausted::kBatchFull);
    ASSERT_EQ(batch_.size(), batch_.queries_max());
    const size_t step = ComeBack(entered_, read, read.keys_entered, window, &conversation_);
    ASSERT_GT(step, 0u);
    done += step;
  }
}

TEST_F(BatchIoTest, ReadComesBackAtTheKeyWhereItStopped) {
  const std::string input = "gets  a bb   ccc d \r\nget e\r\n";
  EnterInto(input);
  ASSERT_EQ(entered_.size(), 2u);
  entered_[0].failure = ReadFailure::kNoMemory;
  const Entries first = entered_;
  for (uint32_t keys_done = 0; keys_done < 4; keys_done++) {
    const size_t done = ComeBack(first, first[0], keys_done, input, &conversation_);
    const Entering entering = EnterInto(std::string_view(input).substr(done));
    ASSERT_EQ(batch_.size(), 5 - keys_done);
    constexpr std::string_view kKeys[] = {"a", "bb", "ccc", "d", "e"};
    for (uint32_t i = keys_done; i < 5; i++) EXPECT_EQ(batch_.key(i - keys_done), kKeys[i]);
    EXPECT_TRUE(entered_[0].whole);
    EXPECT_EQ(entered_[0].failure, ReadFailure::kNoMemory);
    EXPECT_TRUE(RequestOf(0).command.want_cas);
    EXPECT_FALSE(RequestOf(1).command.want_cas);
    EXPECT_EQ(done + entering.parsed_bytes, input.size());
    // And once more from there.
    const size_t again =
        ComeBack(entered_, entered_[0], 0, std::string_view(input).substr(done), &conversation_);
    EXPECT_EQ(again, 0u);
    Restart();
  }
}

// A line that comes byte by byte is looked at once: what was looked at may be anything.
TEST_F(BatchIoTest, LineThatComesByteByByteIsLookedAtOnce) {
  std::string line = "get";
  for (int i = 0; i < 2000; i++) line += " key" + std::to_string(i);
  line += "\r\n";
  for (size_t bytes = 1; bytes < line.size(); bytes++) {
    std::string window = line.substr(0, bytes);
    if (bytes > 64) std::fill(window.begin() + 5, window.end() - 1, '\n');
    const Entering entering = EnterInto(window);
    ASSERT_EQ(entering.exhausted, Exhausted::kInput);
    ASSERT_EQ(entering.parsed_bytes, 0u);
    ASSERT_TRUE(entered_.empty());
    ASSERT_EQ(conversation_.scanned_bytes, bytes);
  }
}

// Counts what a reply reserves.
struct CountingOutput {
  char* Reserve(size_t n) {
    reserved = n;
    space.resize(n);
    return space.data();
  }
  void Commit(size_t n) { committed = n; }
  std::string space;
  size_t reserved = 0;
  size_t committed = 0;
};

TEST_F(BatchIoTest, ReplyThatShowsNoValueReservesNoneOfIt) {
  const std::string value(100'000, 'v');
  const std::pair<std::string_view, bool> cases[] = {
      {"get k\r\n", true},
      {"mg k v\r\n", true},
      {"mg k s t\r\n", false},
      {"me k\r\n", false},
      {"append k 0 0 1\r\nx\r\n", false},
      {"ms k 1 MA s\r\nx\r\n", false},
  };
  for (const auto& [input, shows] : cases) {
    EnterInto(input);
    ASSERT_EQ(entered_.size(), 1u) << input;
    cache::Reply reply;
    reply.outcome = shows || input.starts_with("m") ? Outcome::kHit : Outcome::kStored;
    reply.value = value;
    CountingOutput out;
    WriteQuery(RequestOf(0), "k", true, ReadFailure::kNone, reply, out);
    EXPECT_LE(out.committed, out.reserved) << input;
    EXPECT_EQ(out.reserved > value.size(), shows) << input;
    EXPECT_LT(out.reserved, value.size() + 2000) << input;
  }
}

// Also where a key before it failed: then a text stands where END would.
TEST_F(BatchIoTest, AHitIsWrittenWithinWhatItReserves) {
  const std::string bytes(70'000, 'v');
  EnterInto("get k\r\n");
  const Request& get = RequestOf(0);
  const std::string key(kKeyBytesMax, 'k');
  for (const ReadFailure failure : {ReadFailure::kNone, ReadFailure::kTooLarge,
                                    ReadFailure::kNoMemory, ReadFailure::kIoError}) {
    for (const uint32_t flags : {0u, 65536u, ~0u}) {
      for (const size_t value_bytes : {0, 100, 70'000}) {
        for (const bool last_key : {false, true}) {
          cache::Reply reply;
          reply.outcome = Outcome::kHit;
          reply.client_flags = flags;
          reply.value = std::string_view(bytes).substr(0, value_bytes);
          CountingOutput out;
          WriteQuery(get, key, last_key, failure, reply, out);
          ASSERT_LE(out.committed, out.reserved);
          std::string expected(ReplyBytesMax(get, key.size()) + value_bytes, '\0');
          char* end = WriteReply(get, key, reply, expected.data());
          if (last_key) end = WriteEnd(get, failure, end);
          expected.resize(static_cast<size_t>(end - expected.data()));
          ASSERT_EQ(out.space.substr(0, out.committed), expected);
        }
      }
    }
  }
}

TEST(KeptBytes, StayWhateverIsKeptBehindThem) {
  KeptBytes kept;
  for (int round = 0; round < 3; round++) {
    std::vector<std::pair<std::string, std::string_view>> all;
    for (size_t i = 0; i < 500; i++) {
      const size_t bytes = i % 50 == 0 ? 100'000 + i : i;
      all.emplace_back(std::string(bytes, static_cast<char>('a' + i % 26)), std::string_view());
      all.back().second = kept.Keep(all.back().first);
    }
    for (const auto& [bytes, copy] : all) EXPECT_EQ(bytes, copy);
    kept.Clear();
  }
}

}  // namespace
}  // namespace weft::protocol
