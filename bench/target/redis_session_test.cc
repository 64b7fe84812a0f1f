#include "bench/target/redis_session.h"

#include <gtest/gtest.h>

#include "bench/target/target_test_kit.h"

namespace weft::bench {
namespace {

class RedisSessionTest : public SessionTest {
 protected:
  RedisSessionTest() : SessionTest(RecordFormat::OfSizes(24, 1000, true)) {}

  std::unique_ptr<RedisSession> Make(const RedisSessionOptions& options = {}) {
    server_ = std::make_unique<ServerEnd>();
    return std::make_unique<RedisSession>(std::make_unique<Stream>(server_->TakeSessionEnd()),
                                          format_, options);
  }
  static std::string Bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }
  static std::string Array(const std::vector<std::string>& elements) {
    std::string text = "*" + std::to_string(elements.size()) + "\r\n";
    for (const std::string& element : elements) text += element;
    return text;
  }

  // What becomes of `operations` that are answered with `answer` and nothing more.
  std::vector<OutcomeKind> Run(const std::vector<Operation>& operations, const std::string& answer,
                               Status* status, const RedisSessionOptions& options = {}) {
    session_ = Make(options);
    EXPECT_TRUE(session_->Submit(operations).ok());
    server_->Answer(answer);
    outcomes_.clear();
    *status = session_->Take(&outcomes_);
    return KindsOf(outcomes_);
  }

  std::unique_ptr<RedisSession> session_;
  std::vector<Outcome> outcomes_;
};

TEST_F(RedisSessionTest, SendsWhatTheProtocolSays) {
  auto session = Make({.multi_get = false, .scans = true});
  const std::vector<Operation> operations = {Read(1),
                                             {OperationKind::kInsert, 0, 9, 3, 3},
                                             {OperationKind::kDelete, 0, 0, 4, 4},
                                             {OperationKind::kScan, 7, 0, 5, 5}};
  ASSERT_TRUE(session->Submit(operations).ok());
  EXPECT_EQ(server_->Asked(),
            Array({Bulk("GET"), Bulk(Key(1))}) +
                Array({Bulk("SET"), Bulk(Key(3)), Bulk(Value(3, 9))}) +
                Array({Bulk("ZADD"), Bulk("weft:index"), Bulk("0"), Bulk(Key(3))}) +
                Array({Bulk("DEL"), Bulk(Key(4))}) +
                Array({Bulk("ZREM"), Bulk("weft:index"), Bulk(Key(4))}) +
                Array({Bulk("ZRANGEBYLEX"), Bulk("weft:index"), Bulk("[" + Key(5)), Bulk("+"),
                       Bulk("LIMIT"), Bulk("0"), Bulk("7")}));
  session = Make({.multi_get = false, .scans = false});
  Operation ends{OperationKind::kUpdate, 0, 9, 3, 3};
  ends.ttl_s = 77;
  ASSERT_TRUE(session->Submit({&ends, 1}).ok());
  EXPECT_EQ(server_->Asked(),
            Array({Bulk("SET"), Bulk(Key(3)), Bulk(Value(3, 9)), Bulk("EX"), Bulk("77")}));
  session = Make({.multi_get = true, .scans = false});
  const std::vector<Operation> reads = {Read(1), Read(2)};
  ASSERT_TRUE(session->Submit(reads).ok());
  EXPECT_EQ(server_->Asked(), Array({Bulk("MGET"), Bulk(Key(1)), Bulk(Key(2))}));
}

TEST_F(RedisSessionTest, TakesRepliesInAnyPieces) {
  ExpectTakenInAnyPieces(Bulk(Value(1, 5)) + "$-1\r\n+OK\r\n:1\r\n:0\r\n-OOM too much\r\n",
                         [this] { return Make(); });
}

TEST_F(RedisSessionTest, WritesOnceTheReadIsThere) {
  Status status;
  const Operation operation{OperationKind::kReadModifyWrite, 0, 6, 1, 77};
  EXPECT_EQ(Run({operation}, Bulk(Value(1, 5)), &status), Kinds());
  EXPECT_EQ(server_->Asked(), Array({Bulk("GET"), Bulk(Key(1))}) +
                                  Array({Bulk("SET"), Bulk(Key(1)), Bulk(Value(1, 6))}));
  server_->Answer("+OK\r\n");
  ASSERT_TRUE(session_->Take(&outcomes_).ok());
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].tag, 77u);
  EXPECT_EQ(outcomes_[0].version, 5u);
  EXPECT_EQ(outcomes_[0].records, 1u);
}

TEST_F(RedisSessionTest, ScansByTheIndex) {
  const RedisSessionOptions scans{.multi_get = false, .scans = true};
  const Operation scan{OperationKind::kScan, 3, 0, 5, 9};
  Status status;
  EXPECT_EQ(Run({scan}, Array({Bulk(Key(5)), Bulk(Key(7)), Bulk(Key(8))}), &status, scans),
            Kinds());
  EXPECT_TRUE(
      server_->Asked().ends_with(Array({Bulk("MGET"), Bulk(Key(5)), Bulk(Key(7)), Bulk(Key(8))})));
  server_->Answer(Array({Bulk(Value(5, 1)), "$-1\r\n", Bulk(Value(8, 2))}));
  ASSERT_TRUE(session_->Take(&outcomes_).ok());
  ASSERT_EQ(outcomes_.size(), 1u);
  EXPECT_EQ(outcomes_[0].outcome, kDone);
  EXPECT_EQ(outcomes_[0].records, 2u);  // one was deleted meanwhile

  EXPECT_EQ(Run({scan}, "*0\r\n", &status, scans), Kinds({kDone}));
  for (const std::string& keys :
       {Array({Bulk(Key(4))}), Array({Bulk(Key(8)), Bulk(Key(7))}), Array({Bulk("other")}),
        Array({Bulk(Key(5)), Bulk(Key(5))}),
        Array({Bulk(Key(5)), Bulk(Key(6)), Bulk(Key(7)), Bulk(Key(8))}), std::string("+OK\r\n")})
    EXPECT_EQ(Run({scan, Read(1)}, keys + Bulk(Value(1, 1)), &status, scans),
              Kinds({kWrong, kDone}));
  EXPECT_TRUE(status.ok());
}

TEST_F(RedisSessionTest, ChecksTheValuesOfAScan) {
  const Operation scan{OperationKind::kScan, 3, 0, 5, 9};
  Status status;
  for (const std::string& values :
       {Array({Bulk(Value(5, 1)), Bulk(Value(5, 1))}), Array({Bulk(Value(5, 1))}),
        std::string("+OK\r\n"), std::string("-ERR what\r\n")}) {
    Run({scan}, Array({Bulk(Key(5)), Bulk(Key(7))}), &status, {.multi_get = false, .scans = true});
    const Operation read = Read(1);
    ASSERT_TRUE(session_->Submit({&read, 1}).ok());
    server_->Answer(values + Bulk(Value(1, 1)));
    ASSERT_TRUE(session_->Take(&outcomes_).ok());
    ASSERT_EQ(outcomes_.size(), 2u);
    EXPECT_EQ(outcomes_[0].outcome, kWrong);
    EXPECT_EQ(outcomes_[1].outcome, kDone);
  }
}

TEST_F(RedisSessionTest, HasOneOutcomeOfAnInsertAndItsIndex) {
  const Operation insert{OperationKind::kInsert, 0, 1, 5, 9};
  const RedisSessionOptions scans{.multi_get = false, .scans = true};
  Status status;
  EXPECT_EQ(Run({insert}, "+OK\r\n:1\r\n", &status, scans), Kinds({kDone}));
  EXPECT_EQ(Run({insert}, "-OOM no\r\n:1\r\n", &status, scans), Kinds({kRefused}));
  EXPECT_EQ(Run({insert}, "+OK\r\n-OOM no\r\n", &status, scans), Kinds({kRefused}));
  EXPECT_EQ(Run({insert, Read(1)}, "-OOM no\r\n-ERR no\r\n$-1\r\n", &status, scans),
            Kinds({kWrong, kMissing}));
}

TEST_F(RedisSessionTest, KnowsWrongValuesAndGoesOn) {
  Status status;
  std::string spoiled = Value(1, 5);
  spoiled[999] ^= 1;
  const std::string good = Bulk(Value(2, 1));
  EXPECT_EQ(Run({Read(1), Read(2)}, Bulk(spoiled) + good, &status), Kinds({kWrong, kDone}));
  EXPECT_TRUE(session_->FirstError().starts_with("a value that was not written for its key"));
  EXPECT_EQ(Run({Read(1), Read(2)}, good + Bulk(Value(1, 1)), &status), Kinds({kWrong, kWrong}));
  EXPECT_EQ(Run({Read(1), Read(2)}, "$0\r\n\r\n" + good, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Run({Read(1), Read(2)}, ":1\r\n" + good, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Run({Read(1), Read(2)}, Array({good}) + good, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Run({Read(1), Read(2)}, "-ERR what\r\n-LOADING\r\n", &status),
            Kinds({kWrong, kRefused}));
  EXPECT_EQ(Run({{OperationKind::kUpdate, 0, 1, 1, 1}}, "+QUEUED\r\n", &status), Kinds({kWrong}));
  EXPECT_EQ(Run({{OperationKind::kUpdate, 0, 1, 1, 1}}, "$-1\r\n", &status), Kinds({kWrong}));
  EXPECT_TRUE(status.ok());
}

TEST_F(RedisSessionTest, ReadsSeveralAtOnce) {
  const RedisSessionOptions multi{.multi_get = true, .scans = false};
  const std::vector<Operation> reads = {Read(1), Read(2), Read(3)};
  Status status;
  EXPECT_EQ(Run(reads, Array({Bulk(Value(1, 1)), "$-1\r\n", Bulk(Value(1, 1))}), &status, multi),
            Kinds({kDone, kMissing, kWrong}));
  EXPECT_EQ(Run(reads, "-OOM no\r\n", &status, multi), Kinds({kRefused, kRefused, kRefused}));
  EXPECT_EQ(Run(reads, Array({"$-1\r\n"}), &status, multi), Kinds({kWrong, kWrong, kWrong}));
  EXPECT_TRUE(status.ok());
}

TEST_F(RedisSessionTest, BreaksOffWhereNothingMakesSense) {
  Status status;
  EXPECT_EQ(Run({Read(1)}, "HELLO\r\n", &status), Kinds({kWrong}));
  EXPECT_EQ(status.code(), Code::kCorruption);
  std::vector<Outcome> outcomes;
  EXPECT_EQ(session_->Take(&outcomes).code(), Code::kCorruption);
  EXPECT_EQ(Run({Read(1)}, "$-1\r\n$-1\r\n", &status), Kinds({kMissing}));
  EXPECT_EQ(status.ToString(), "corruption: an unexpected reply");
  EXPECT_EQ(Run({Read(1)}, Bulk(Value(1, 1)).substr(0, 500), &status), Kinds());
  EXPECT_TRUE(status.ok());
  server_->Asked();  // closed with bytes unread, a socket is reset instead
  server_->Close();
  EXPECT_EQ(session_->Take(&outcomes).ToString(), "i/o error: the server closed the connection");
}

}  // namespace
}  // namespace weft::bench
