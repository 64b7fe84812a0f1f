#include "bench/target/binary_session.h"

#include <gtest/gtest.h>

#include "bench/target/target_test_kit.h"

namespace weft::bench {
namespace {

constexpr char kGet = 0, kSet = 1, kDelete = 4;
constexpr size_t kHeaderSize = 24;
constexpr size_t kVersionAt = 16;  // of the header, which nobody checks

std::string BigEndian(uint64_t number, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(number >> 8 * bytes);
  return text;
}

class BinarySessionTest : public SessionTest {
 protected:
  BinarySessionTest() : SessionTest(RecordFormat::Make({}).value()) {}

  std::unique_ptr<BinarySession> Make() {
    server_ = std::make_unique<ServerEnd>();
    return std::make_unique<BinarySession>(std::make_unique<Stream>(server_->TakeSessionEnd()),
                                           format_);
  }
  // `number` as the session has it: in the order of this machine.
  static std::string Head(char magic, char opcode, size_t key, size_t extra, int status,
                          size_t body, uint32_t number) {
    const std::string counted(reinterpret_cast<const char*>(&number), sizeof number);
    return std::string{magic, opcode} + BigEndian(key, 2) + BigEndian(extra, 1) + '\0' +
           BigEndian(static_cast<uint64_t>(status), 2) + BigEndian(body, 4) + counted +
           std::string(8, '\0');
  }
  static std::string Answer(char opcode, int status, uint32_t number,
                            const std::string& text = "") {
    return Head('\x81', opcode, 0, 0, status, text.size(), number) + text;
  }
  static std::string Hit(const std::string& value, uint32_t number) {
    return Head('\x81', kGet, 0, 4, 0, 4 + value.size(), number) + std::string(4, '\0') + value;
  }
  std::string Asking(char opcode, uint64_t record, uint32_t number) const {
    const std::string key = Key(record);
    return Head('\x80', opcode, key.size(), 0, 0, key.size(), number) + key;
  }
  std::string Setting(uint64_t record, uint32_t version, uint32_t ttl, uint32_t number) const {
    const std::string key = Key(record), value = Value(record, version);
    return Head('\x80', kSet, key.size(), 8, 0, 8 + key.size() + value.size(), number) +
           std::string(4, '\0') + BigEndian(ttl, 4) + key + value;
  }

  // What becomes of reads of records 1, 2, ... that are answered with `answer` and nothing more.
  Kinds Reads(const std::string& answer, size_t reads, Status* status) {
    session_ = Make();
    std::vector<Operation> operations;
    for (uint64_t i = 1; i <= reads; ++i) operations.push_back(Read(i));
    EXPECT_TRUE(session_->Submit(operations).ok());
    server_->Answer(answer);
    std::vector<Outcome> outcomes;
    *status = session_->Take(&outcomes);
    return KindsOf(outcomes);
  }

  std::unique_ptr<BinarySession> session_;
};

TEST_F(BinarySessionTest, SendsWhatTheProtocolSays) {
  auto session = Make();
  Operation set{OperationKind::kUpdate, 0, 9, 3, 3};
  set.ttl_s = 77;
  ASSERT_TRUE(
      session->Submit(std::vector{Read(1), set, {OperationKind::kDelete, 0, 0, 4, 4}}).ok());
  EXPECT_EQ(server_->Asked(), Asking(kGet, 1, 0) + Setting(3, 9, 77, 1) + Asking(kDelete, 4, 2));
  const Operation scan{OperationKind::kScan, 5, 0, 1, 1};
  EXPECT_EQ(session->Submit({&scan, 1}).code(), Code::kUnsupported);
}

TEST_F(BinarySessionTest, TakesAnswersInAnyPieces) {
  ExpectTakenInAnyPieces(Hit(Value(1, 5), 0) + Answer(kGet, 1, 1, "Not found") +
                             Answer(kSet, 0, 2) + Answer(kDelete, 0, 3) +
                             Answer(kDelete, 1, 4, "Not found") +
                             Answer(kSet, 0x82, 5, "Out of memory"),
                         [this] { return Make(); });
}

TEST_F(BinarySessionTest, WritesOnceTheReadIsThere) {
  auto session = Make();
  const Operation operation{OperationKind::kReadModifyWrite, 0, 6, 1, 77};
  ASSERT_TRUE(session->Submit({&operation, 1}).ok());
  EXPECT_EQ(server_->Asked(), Asking(kGet, 1, 0));
  server_->Answer(Hit(Value(1, 5), 0));
  std::vector<Outcome> outcomes;
  ASSERT_TRUE(session->Take(&outcomes).ok());
  EXPECT_TRUE(outcomes.empty());
  EXPECT_EQ(server_->Asked(), Setting(1, 6, 0, 1));
  server_->Answer(Answer(kSet, 0, 1));
  ASSERT_TRUE(session->Take(&outcomes).ok());
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].tag, 77u);
  EXPECT_EQ(outcomes[0].version, 5u);
  EXPECT_EQ(outcomes[0].records, 1u);
}

TEST_F(BinarySessionTest, TakesNoAnswerWithAChangedByte) {
  const std::string good = Hit(Value(1, 5), 0);
  Status status;
  EXPECT_EQ(Reads(good, 1, &status), Kinds({kDone}));
  for (size_t at = 0; at < good.size(); ++at) {
    if (at >= kVersionAt && at < kHeaderSize) continue;
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    const Kinds kinds = Reads(bad, 1, &status);
    EXPECT_FALSE(status.ok() && kinds == Kinds({kDone})) << "byte " << at;
  }
}

TEST_F(BinarySessionTest, KnowsAWrongAnswerAndGoesOn) {
  Status status;
  const std::string rest = Hit(Value(2, 1), 1);
  // another record's value, one that is too short, an error that a get never has
  EXPECT_EQ(Reads(Hit(Value(2, 5), 0) + rest, 2, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Reads(Hit(Value(1, 5).substr(0, 999), 0) + rest, 2, &status), Kinds({kWrong, kDone}));
  EXPECT_EQ(Reads(Answer(kGet, 0x81, 0, "Unknown command") + rest, 2, &status),
            Kinds({kWrong, kDone}));
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(session_->FirstError().starts_with("an answer that cannot be: \"\\x81"))
      << session_->FirstError();
}

TEST_F(BinarySessionTest, BreaksOffWhereNothingMakesSense) {
  Status status;
  for (const std::string& answer :
       {std::string("ERROR\r\n"), Hit(Value(1, 5), 1), Answer(kSet, 0, 0),
        Head('\x81', kGet, 0, 4, 0, 3, 0), Head('\x81', kGet, 0, 4, 0, 1u << 30, 0)}) {
    EXPECT_EQ(Reads(answer, 1, &status), Kinds({kWrong}));
    EXPECT_EQ(status.code(), Code::kCorruption);
    const Operation read = Read(1);
    EXPECT_EQ(session_->Submit({&read, 1}).code(), Code::kCorruption);
  }
  EXPECT_EQ(Reads(Hit(Value(1, 5), 0) + "x", 1, &status), Kinds({kDone}));
  EXPECT_EQ(status.message(), "unexpected bytes: \"x\"");
}

}  // namespace
}  // namespace weft::bench
