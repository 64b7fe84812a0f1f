// bench/target/target_test_kit.h: for tests: carries operations out to their end, and checks what
// every target must do against a model.
//
// A new adapter gets CheckTarget for free: it runs over all that LocalTargets names.
//
// Threads   CheckTarget makes its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/posix_fd.h"
#include "bench/target/round_trip.h"
#include "bench/target/target.h"

namespace weft::bench {

// To compare with the outcomes of a session's operations.
using Kinds = std::vector<OutcomeKind>;
inline constexpr auto kDone = OutcomeKind::kDone;
inline constexpr auto kMissing = OutcomeKind::kMissing;
inline constexpr auto kRefused = OutcomeKind::kRefused;
inline constexpr auto kWrong = OutcomeKind::kWrong;

// The outcomes of all `operations`, which have the tags 0, 1, ... in their order; each tag must
// come back once, and no other.
inline std::vector<Outcome> RunOperations(Session* session, std::vector<Operation> operations) {
  for (size_t i = 0; i < operations.size(); ++i) operations[i].tag = i;
  std::vector<Outcome> outcomes;
  const Status status = RoundTrip(session, operations, &outcomes);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(outcomes.size(), operations.size()) << session->FirstError();
  std::sort(outcomes.begin(), outcomes.end(),
            [](const Outcome& a, const Outcome& b) { return a.tag < b.tag; });
  for (size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(outcomes[i].tag, i) << "a tag came twice, or not at all";
    EXPECT_EQ(outcomes[i].kind, operations[std::min(outcomes[i].tag, operations.size() - 1)].kind);
  }
  outcomes.resize(operations.size());
  return outcomes;
}

inline Outcome RunOne(Session* session, OperationKind kind, uint64_t record, uint32_t version = 0,
                      uint32_t scan_length = 0) {
  return RunOperations(session, {{kind, scan_length, version, record, 0}})[0];
}

// One session's records, as they must be: those whose number modulo `parts` is `part`.
class RecordModel {
 public:
  RecordModel(uint64_t seed, uint64_t part, uint64_t parts)
      : random_(seed), part_(part), parts_(parts) {}

  // Random operations, no two of them on one record, checked one by one.
  void RunBatch(Session* session) {
    std::vector<Operation> operations;
    std::set<uint64_t> used;
    for (uint64_t i = 1 + random_.Below(24); i > 0; --i) {
      const uint64_t record = random_.Below(kRecords) * parts_ + part_;
      if (used.insert(record).second) operations.push_back(Draw(record));
    }
    const std::vector<Outcome> outcomes = RunOperations(session, operations);
    for (size_t i = 0; i < operations.size(); ++i) Check(operations[i], outcomes[i]);
    ASSERT_EQ(session->FirstError(), "");
  }
  const std::map<uint64_t, uint32_t>& versions() const { return versions_; }

 private:
  static constexpr uint64_t kRecords = 200;

  Operation Draw(uint64_t record) {
    const uint64_t draw = random_.Below(100);
    Operation operation{OperationKind::kRead, 0, ++version_, record, 0};
    if (draw < 15) operation.kind = OperationKind::kReadModifyWrite;
    if (draw >= 60) operation.kind = OperationKind::kInsert;
    if (draw >= 60 && versions_.count(record) > 0)
      operation.kind = draw < 85 ? OperationKind::kUpdate : OperationKind::kDelete;
    return operation;
  }

  void Check(const Operation& operation, const Outcome& outcome) {
    const auto held = versions_.find(operation.record);
    const bool is_there = held != versions_.end();
    const bool reads =
        operation.kind == OperationKind::kRead || operation.kind == OperationKind::kReadModifyWrite;
    ASSERT_EQ(outcome.outcome, reads && !is_there ? OutcomeKind::kMissing : OutcomeKind::kDone)
        << "operation " << static_cast<int>(operation.kind) << " of record " << operation.record;
    ASSERT_EQ(outcome.records, reads && is_there ? 1u : 0u);
    ASSERT_EQ(outcome.version, reads && is_there ? held->second : 0u);
    if (operation.kind == OperationKind::kDelete) {
      versions_.erase(operation.record);
    } else if (operation.kind != OperationKind::kRead && (!reads || is_there)) {
      versions_[operation.record] = operation.version;
    }
  }

  base::Random random_;
  const uint64_t part_;
  const uint64_t parts_;
  uint32_t version_ = 0;
  std::map<uint64_t, uint32_t> versions_;  // of what is there
};

// Several sessions at once, each with its own records; then another session reads everything back.
// Leaves the records, and returns them.
inline std::map<uint64_t, uint32_t> CheckRandomOperations(Target* target, uint64_t seed) {
  constexpr uint64_t kSessions = 3;
  std::vector<RecordModel> models;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kSessions; ++i) models.emplace_back(seed + i, i, kSessions);
  for (RecordModel& model : models) {
    threads.emplace_back([target, &model] {
      auto session = target->NewSession();
      ASSERT_TRUE(session) << session.error().ToString();
      for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) model.RunBatch(session->get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, uint32_t> all;
  for (const RecordModel& model : models)
    all.insert(model.versions().begin(), model.versions().end());
  auto session = target->NewSession();
  EXPECT_TRUE(session);
  for (const auto& [record, version] : all) {
    const Outcome outcome = RunOne(session->get(), OperationKind::kRead, record);
    EXPECT_EQ(outcome.outcome, OutcomeKind::kDone);
    EXPECT_EQ(outcome.version, version);
  }
  return all;
}

// Scans from random records, there or not, find as many as there are; the session checks that they
// are in order and whole.
inline void CheckScans(Target* target, const RecordFormat& format,
                       const std::map<uint64_t, uint32_t>& versions, uint64_t seed) {
  std::set<std::string> keys;
  char room[kRecordKeyBytesMax];
  for (const auto& [record, version] : versions) keys.emplace(format.WriteKey(record, room));
  base::Random random(seed);
  auto session = target->NewSession();
  ASSERT_TRUE(session);
  for (int i = 0; i < 50; ++i) {
    std::vector<Operation> scans;
    std::vector<size_t> expected;
    for (int j = 0; j < 4; ++j) {
      const uint64_t record = random.Below(1000);
      const auto length = static_cast<uint32_t>(1 + random.Below(100));
      scans.push_back({OperationKind::kScan, length, 0, record, 0});
      const auto first = keys.lower_bound(std::string(format.WriteKey(record, room)));
      const auto rest = static_cast<size_t>(std::distance(first, keys.end()));
      expected.push_back(std::min<size_t>(length, rest));
    }
    const auto outcomes = RunOperations(session->get(), scans);
    for (size_t j = 0; j < scans.size(); ++j) {
      ASSERT_EQ(outcomes[j].outcome, OutcomeKind::kDone) << (*session)->FirstError();
      ASSERT_EQ(outcomes[j].records, expected[j]);
    }
  }
}

// A session that was open before must find nothing afterwards, and must still be of use.
inline void CheckClear(Target* target, uint64_t record) {
  auto session = target->NewSession();
  ASSERT_TRUE(session);
  RunOne(session->get(), OperationKind::kInsert, record, 7);
  ASSERT_EQ(RunOne(session->get(), OperationKind::kRead, record).version, 7u);
  const Status status = target->Clear();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(RunOne(session->get(), OperationKind::kRead, record).outcome, OutcomeKind::kMissing);
  if (target->WhyNot(OperationKind::kScan).empty()) {
    EXPECT_EQ(RunOne(session->get(), OperationKind::kScan, record, 0, 10).records, 0u);
  }
  RunOne(session->get(), OperationKind::kInsert, record, 8);
  EXPECT_EQ(RunOne(session->get(), OperationKind::kRead, record).version, 8u);
}

// Everything above, on an empty target.
inline void CheckTarget(Target* target, const RecordFormat& format, uint64_t seed) {
  EXPECT_NE(target->Title(), "");
  EXPECT_TRUE(target->Settings().is_object());
  EXPECT_FALSE(target->Processes().empty());
  const auto versions = CheckRandomOperations(target, seed);
  if (testing::Test::HasFailure()) return;
  EXPECT_GT(versions.size(), 50u);
  target->WaitUntilQuiet(5);
  EXPECT_TRUE(target->Figures().is_object());
  if (target->WhyNot(OperationKind::kScan).empty()) CheckScans(target, format, versions, seed);
  if (!testing::Test::HasFailure()) CheckClear(target, versions.begin()->first);
}

// Two ends of a connection: the session's, and the test's, which plays the server.
class ServerEnd {
 public:
  ServerEnd() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    session_end_ = base::Fd(ends[0]);
    end_ = base::Fd(ends[1]);
  }

  base::Fd TakeSessionEnd() { return std::move(session_end_); }
  void Answer(std::string_view bytes) {
    EXPECT_EQ(send(end_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What was asked and not yet read.
  std::string Asked() {
    std::string text(1 << 20, '\0');
    const ssize_t got = recv(end_.get(), text.data(), text.size(), MSG_DONTWAIT);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }
  void Close() { end_ = base::Fd(); }

 private:
  base::Fd session_end_, end_;
};

// Plays the server of a session, on records of one format. Each test class makes its own sessions,
// with server_->TakeSessionEnd().
class SessionTest : public testing::Test {
 protected:
  explicit SessionTest(RecordFormat format) : format_(std::move(format)) {}

  std::string Key(uint64_t record) const { return std::string(RecordKey(format_, record)); }
  std::string Value(uint64_t record, uint32_t version) const {
    std::string value(format_.ValueBytes(record, version), '\0');
    format_.WriteValue(record, version, value.data());
    return value;
  }
  static Operation Read(uint64_t record) { return {OperationKind::kRead, 0, 0, record, record}; }
  static Kinds KindsOf(const std::vector<Outcome>& outcomes) {
    Kinds kinds;
    for (const Outcome& outcome : outcomes) kinds.push_back(outcome.outcome);
    return kinds;
  }

  // Sessions that `make` returns take the same from `answer` in pieces of every size. It answers
  // reads of record 1 (version 5) and of 2 (missing), then an insert and a delete. Behind these
  // come a delete of what is not there, and an update that is refused.
  template <typename Make>
  void ExpectTakenInAnyPieces(const std::string& answer, const Make& make) {
    const std::vector<Operation> operations = {Read(1),
                                               Read(2),
                                               {OperationKind::kInsert, 0, 9, 3, 3},
                                               {OperationKind::kDelete, 0, 0, 4, 4},
                                               {OperationKind::kDelete, 0, 0, 5, 5},
                                               {OperationKind::kUpdate, 0, 0, 6, 6}};
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, size_t{1003}, answer.size()}) {
      const auto session = make();
      ASSERT_TRUE(session->Submit(operations).ok());
      std::vector<Outcome> outcomes;
      for (size_t at = 0; at < answer.size(); at += piece) {
        server_->Answer(answer.substr(at, piece));
        ASSERT_TRUE(session->Take(&outcomes).ok());
      }
      const Kinds expected = {kDone, kMissing, kDone, kDone, kMissing, kRefused};
      ASSERT_EQ(KindsOf(outcomes), expected);
      for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(outcomes[i].tag, operations[i].tag);
      EXPECT_EQ(outcomes[0].version, 5u);
    }
  }

  RecordFormat format_;
  std::unique_ptr<ServerEnd> server_;
};

}  // namespace weft::bench
