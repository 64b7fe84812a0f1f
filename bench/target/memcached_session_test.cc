#include "bench/target/memcached_session.h"

#include <gtest/gtest.h>

#include "bench/target/target_test_kit.h"

namespace weft::bench {
namespace {

class MemcachedSessionTest : public SessionTest {
 protected:
  MemcachedSessionTest() : SessionTest(RecordFormat::Make({}).value()) {}

  std::unique_ptr<MemcachedSession> Make(bool multi_get = false) {
    server_ = std::make_unique<ServerEnd>();
    return std::make_unique<MemcachedSession>(std::make_unique<Stream>(server_->TakeSessionEnd()),
                                              format_, multi_get);
  }
  std::string Hit(const std::string& key, const std::string& value) const {
    return "VALUE " + key + " 0 " + std::to_string(value.size()) + "\r\n" + value + "\r\n";
  }

  // What becomes of reads of records 1, 2, ... that are answered with `answer` and nothing more.
  std::vector<OutcomeKind> Reads(const std::string& answer, size_t reads, Status* status,
                                 bool multi_get = false) {
    session_ = Make(multi_get);
    std::vector<Operation> operations;
    for (uint64_t i = 1; i <= reads; ++i) operations.push_back(Read(i));
    EXPECT_TRUE(session_->Submit(operations).ok());
    server_->Answer(answer);
    std::vector<Outcome> outcomes;
    *status = session_->Take(&outcomes);
    return KindsOf(outcomes);
  }

  std::unique_ptr<MemcachedSession> session_;
};

TEST_F(MemcachedSessionTest, SendsWhatTheProtocolSays) {
  auto session = Make();
  const std::vector<Operation> operations = {
      Read(1), Read(2), {OperationKind::kUpdate, 0, 9, 3, 3}, {OperationKind::kDelete, 0, 0, 4, 4}};
  ASSERT_TRUE(session->Submit(operations).ok());
  EXPECT_EQ(server_->Asked(), "get " + Key(1) + "\r\nget " + Key(2) + "\r\nset " + Key(3) +
                                  " 0 0 1000\r\n" + Value(3, 9) + "\r\ndelete " + Key(4) + "\r\n");
  session = Make(true);
  ASSERT_TRUE(session->Submit(operations).ok());
  EXPECT_TRUE(server_->Asked().starts_with("get " + Key(1) + " " + Key(2) + "\r\nset "));
}

TEST_F(MemcachedSessionTest, SendsTimesToLiveThatAreNoDates) {
  auto session = Make();
  Operation set{OperationKind::kInsert, 0, 9, 3, 3};
  set.ttl_s = 77;
  ASSERT_TRUE(session->Submit({&set, 1}).ok());
  EXPECT_TRUE(server_->Asked().starts_with("set " + Key(3) + " 0 77 1000\r\n"));
  set.ttl_s = UINT32_MAX;
  session = Make();
  ASSERT_TRUE(session->Submit({&set, 1}).ok());
  EXPECT_TRUE(server_->Asked().starts_with("set " + Key(3) + " 0 2592000 1000\r\n"));
}

TEST_F(MemcachedSessionTest, RefusesAScan) {
  auto session = Make();
  const Operation scan{OperationKind::kScan, 5, 0, 1, 1};
  EXPECT_EQ(session->Submit({&scan, 1}).code(), Code::kUnsupported);
}

TEST_F(MemcachedSessionTest, TakesAnswersInAnyPieces) {
  ExpectTakenInAnyPieces(Hit(Key(1), Value(1, 5)) + "END\r\n" + "END\r\n" + "STORED\r\n" +
                             "DELETED\r\n" + "NOT_FOUND\r\n" + "SERVER_ERROR out of memory\r\n",
                         [this] { return Make(); });
}

TEST_F(MemcachedSessionTest, WritesOnceTheReadIsThere) {
  auto session = Make();
  const Operation operation{OperationKind::kReadModifyWrite, 0, 6, 1, 77};
  ASSERT_TRUE(session->Submit({&operation, 1}).ok());
  EXPECT_EQ(server_->Asked(), "get " + Key(1) + "\r\n");
  server_->Answer(Hit(Key(1), Value(1, 5)) + "END\r\n");
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(session->Take(&outcomes).ok());
  EXPECT_TRUE(outcomes.empty());
  EXPECT_EQ(server_->Asked(), "set " + Key(1) + " 0 0 1000\r\n" + Value(1, 6) + "\r\n");
  server_->Answer("STORED\r\n");
  ASSERT_TRUE(session->Take(&outcomes).ok());
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].tag, 77u);
  EXPECT_EQ(outcomes[0].kind, OperationKind::kReadModifyWrite);
  EXPECT_EQ(outcomes[0].version, 5u);
  EXPECT_EQ(outcomes[0].records, 1u);
}

TEST_F(MemcachedSessionTest, KnowsAWrongValueAndGoesOn) {
  Status status;
  std::string spoiled = Value(1, 5);
  spoiled[700] ^= 1;
  const std::string rest = "END\r\n" + Hit(Key(2), Value(2, 1)) + "END\r\n";
  EXPECT_EQ(Reads(Hit(Key(1), spoiled) + rest, 2, &status), Kinds({kWrong, kDone}));
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(
      session_->FirstError().starts_with("a value that was not written for its key: \"VALUE"))
      << session_->FirstError();
  // another record's, another key, a value that is too short
  EXPECT_EQ(Reads(Hit(Key(1), Value(2, 5)) + rest, 2, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Reads(Hit(Key(3), Value(1, 5)) + rest, 2, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Reads(Hit(Key(1), Value(1, 5).substr(0, 999)) + rest, 2, &status),
            Kinds({kWrong, kDone}));
  EXPECT_TRUE(status.ok());
}

TEST_F(MemcachedSessionTest, TakesNoAnswerWithAChangedByte) {
  const std::string good = Hit(Key(1), Value(1, 5)) + "END\r\n";
  Status status;
  EXPECT_EQ(Reads(good, 1, &status), Kinds({kDone}));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    const Kinds kinds = Reads(bad, 1, &status);
    EXPECT_FALSE(status.ok() && kinds == Kinds({kDone})) << "byte " << at;
  }
}

// A length is most often that of the value before: here it rarely is.
TEST_F(MemcachedSessionTest, TakesKeysAndValuesOfAllLengths) {
  RecordOptions options;
  options.key_bytes = SizeDistribution::Listed({{8, 1}, {15, 1}, {16, 1}, {24, 1}, {250, 1}});
  options.value_bytes =
      SizeDistribution::Listed({{8, 1}, {9, 1}, {99, 1}, {100, 1}, {1000, 1}, {1 << 20, 1}});
  format_ = std::move(RecordFormat::Make(options).value());
  constexpr size_t kReads = 60;
  for (const bool multi_get : {false, true}) {
    auto session = Make(multi_get);
    std::vector<Outcome> outcomes;
    for (uint64_t record = 1; record <= kReads; record += 2) {
      ASSERT_TRUE(session->Submit(std::vector{Read(record), Read(record + 1)}).ok());
      for (const uint64_t i : {record, record + 1}) {
        const std::string hit = Hit(Key(i), Value(i, 3)) + (multi_get ? "" : "END\r\n");
        for (size_t at = 0; at < hit.size(); at += size_t{1} << 16) {
          server_->Answer(hit.substr(at, size_t{1} << 16));
          ASSERT_TRUE(session->Take(&outcomes).ok());
        }
      }
      if (multi_get) server_->Answer("END\r\n");
      ASSERT_TRUE(session->Take(&outcomes).ok());
    }
    ASSERT_EQ(outcomes.size(), kReads);
    for (const Outcome& outcome : outcomes) {
      EXPECT_EQ(outcome.outcome, kDone);
      EXPECT_EQ(outcome.version, 3u);
    }
  }
}

TEST_F(MemcachedSessionTest, KnowsAnswersOutOfOrder) {
  Status status;
  const std::string swapped =
      Hit(Key(2), Value(2, 1)) + "END\r\n" + Hit(Key(1), Value(1, 1)) + "END\r\n";
  EXPECT_EQ(Reads(swapped, 2, &status), Kinds({kWrong, kWrong}));
  EXPECT_EQ(Reads("STORED\r\n", 1, &status), Kinds({kWrong}));
  EXPECT_EQ(status.code(), Code::kCorruption);
}

TEST_F(MemcachedSessionTest, SkipsTheMissesOfAMultiGet) {
  Status status;
  EXPECT_EQ(Reads(Hit(Key(2), Value(2, 1)) + "END\r\n", 3, &status, true),
            Kinds({kMissing, kDone, kMissing}));
  EXPECT_EQ(Reads(Hit(Key(3), Value(3, 1)) + "END\r\n", 3, &status, true),
            Kinds({kMissing, kMissing, kDone}));
  EXPECT_EQ(Reads("END\r\n", 3, &status, true), Kinds({kMissing, kMissing, kMissing}));
  EXPECT_EQ(Reads("SERVER_ERROR busy\r\n", 3, &status, true),
            Kinds({kRefused, kRefused, kRefused}));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(Reads(Hit(Key(3), Value(3, 1)) + Hit(Key(2), Value(2, 1)), 3, &status, true),
            Kinds({kMissing, kMissing, kWrong}));
  EXPECT_EQ(status.code(), Code::kCorruption);
}

TEST_F(MemcachedSessionTest, KnowsErrorLines) {
  Status status;
  EXPECT_EQ(Reads("SERVER_ERROR out of memory\r\nERROR\r\nCLIENT_ERROR bad\r\n", 3, &status),
            Kinds({kRefused, kWrong, kWrong}));
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(session_->FirstError(), "the server did not understand the request: \"ERROR\\r\\n\"");
}

TEST_F(MemcachedSessionTest, BreaksOffWhereNothingMakesSense) {
  Status status;
  for (const std::string& answer :
       {std::string("HELLO\r\n"), std::string("VALUE\r\n"), std::string("VALUE x y z\r\n"),
        "VALUE " + Key(1) + " 0 99999999999\r\n", std::string("END\n"), std::string(4000, 'x'),
        "VALUE " + Key(1) + " 0 3\r\n" + Value(1, 5) + "\r\nEND\r\n"}) {
    EXPECT_EQ(Reads(answer, 1, &status), Kinds({kWrong})) << answer.substr(0, 40);
    EXPECT_EQ(status.code(), Code::kCorruption);
    std::vector<Outcome> outcomes;
    EXPECT_EQ(session_->Take(&outcomes).code(), Code::kCorruption);
    const Operation read = Read(1);
    EXPECT_EQ(session_->Submit({&read, 1}).code(), Code::kCorruption);
  }
  EXPECT_EQ(Reads("END\r\nEND\r\n", 1, &status), Kinds({kMissing}));
  EXPECT_EQ(status.message(), "unexpected bytes: \"END\\r\\n\"");
}

TEST_F(MemcachedSessionTest, TellsThatTheServerClosed) {
  Status status;
  EXPECT_EQ(Reads(Hit(Key(1), Value(1, 5)).substr(0, 500), 1, &status), Kinds());
  EXPECT_TRUE(status.ok());
  server_->Asked();  // closed with bytes unread, a socket is reset instead
  server_->Close();
  std::vector<Outcome> outcomes;
  EXPECT_EQ(session_->Take(&outcomes).ToString(), "i/o error: the server closed the connection");
  EXPECT_TRUE(outcomes.empty());
}

// More than a socket holds: the rest follows when it can be written, and is what it must be.
TEST_F(MemcachedSessionTest, SendsTheRestWhenItCanBeWritten) {
  auto session = Make();
  std::vector<Operation> writes;
  std::string expected, answer;
  for (uint64_t i = 0; i < 3000; ++i) {
    writes.push_back({OperationKind::kInsert, 0, 1, i, i});
    expected += "set " + Key(i) + " 0 0 1000\r\n" + Value(i, 1) + "\r\n";
    answer += "STORED\r\n";
  }
  for (size_t at = 0; at < writes.size(); at += 100)
    ASSERT_TRUE(session->Submit(std::span(writes).subspan(at, 100)).ok());
  EXPECT_TRUE(session->wants_to_write());
  std::string asked;
  std::vector<Outcome> outcomes;
  while (asked.size() < expected.size()) {
    const std::string more = server_->Asked();
    ASSERT_TRUE(!more.empty() || session->wants_to_write());
    asked += more;
    ASSERT_TRUE(session->Take(&outcomes).ok());
  }
  EXPECT_TRUE(asked == expected);
  EXPECT_FALSE(session->wants_to_write());
  server_->Answer(answer);
  ASSERT_TRUE(session->Take(&outcomes).ok());
  EXPECT_EQ(outcomes.size(), writes.size());
}

}  // namespace
}  // namespace weft::bench
