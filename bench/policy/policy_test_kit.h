// bench/policy/policy_test_kit.h: traces made for tests of policies, and slow models' queues.
//
// Threads   one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/seed_test_kit.h"
#include "bench/policy/policy.h"

namespace weft::bench {

// Records below `records`, each with a key of no bytes, so that an object is as large as its value.
inline Trace EmptyTrace(uint32_t records) {
  Trace trace;
  trace.key_bytes.resize(records);
  return trace;
}

// Gets of one byte: each letter is a record, 'a' is 0.
inline Trace TraceOfLetters(const std::string& letters) {
  Trace trace = EmptyTrace(26);
  for (const char letter : letters)
    trace.requests.push_back({.record = static_cast<uint32_t>(letter - 'a'), .value_bytes = 1});
  return trace;
}

struct RandomTraceOptions {
  uint32_t records = 80;
  uint32_t requests = 4000;
  uint32_t bytes_min = 1;
  uint32_t bytes_max = 1;
  uint32_t sets_percent = 10;
  uint32_t deletes_percent = 5;
};

// Low numbers come more often, and runs of neighbours come again and again.
inline Trace RandomTrace(const RandomTraceOptions& options, base::Random& random) {
  Trace trace = EmptyTrace(options.records);
  for (uint32_t i = 0; i < options.requests; ++i) {
    TraceRequest request;
    const bool runs = i / 200 % 2 == 1;
    request.record = static_cast<uint32_t>(runs ? i % (options.records / 2)
                                                : random.Below(random.Below(options.records) + 1));
    const uint64_t range = options.bytes_max - options.bytes_min + 1;
    request.value_bytes = options.bytes_min + static_cast<uint32_t>(random.Below(range));
    const uint64_t percent = random.Below(100);
    if (percent < options.deletes_percent) {
      request.operation = TraceOperation::kDelete;
    } else if (percent < options.deletes_percent + options.sets_percent) {
      request.operation = TraceOperation::kSet;
    }
    trace.requests.push_back(request);
  }
  return trace;
}

inline std::unique_ptr<Policy> PolicyNamed(const std::string& name, uint64_t capacity,
                                           const Trace& trace) {
  auto policy = MakePolicy(name, capacity, trace);
  EXPECT_TRUE(policy) << name;
  return std::move(*policy);
}

// Plays request i of the trace; what misses is stored. 'h': a get that hit, '-': one that missed,
// 's', 'd': set, delete.
inline char PlayRequest(Policy& policy, const Trace& trace, uint64_t i) {
  const TraceRequest& request = trace.requests[i];
  if (request.operation == TraceOperation::kDelete) {
    policy.Delete(request.record);
    return 'd';
  }
  const bool is_get = request.operation == TraceOperation::kGet;
  if (is_get && policy.Get(i, request.record)) return 'h';
  policy.Set(i, request.record, request.value_bytes);
  return is_get ? '-' : 's';
}

inline std::string PlayTrace(Policy& policy, const Trace& trace) {
  std::string outcomes;
  for (uint64_t i = 0; i < trace.requests.size(); ++i) outcomes += PlayRequest(policy, trace, i);
  return outcomes;
}

inline std::string PlayLetters(const std::string& name, uint64_t capacity,
                               const std::string& letters) {
  const Trace trace = TraceOfLetters(letters);
  return PlayTrace(*PolicyNamed(name, capacity, trace), trace);
}

// Both must answer alike and hold as many bytes after each request, and never too many.
inline void ExpectPlayedAlike(Policy& policy, Policy& model, const Trace& trace,
                              uint64_t capacity) {
  for (uint64_t i = 0; i < trace.requests.size(); ++i) {
    ASSERT_EQ(PlayRequest(policy, trace, i), PlayRequest(model, trace, i)) << "request " << i;
    ASSERT_EQ(policy.bytes(), model.bytes()) << "request " << i;
    ASSERT_LE(policy.bytes(), capacity) << "request " << i;
  }
}

// Random traces of equal and of several sizes against a model, in caches of several sizes.
// `make_model` is called with a capacity and a trace.
template <typename MakeModel>
void ExpectPolicyLikeModel(const std::string& name, MakeModel make_model) {
  base::Random random(base::TestSeed(17));
  for (uint32_t round = 0; round < base::Rounds(40); ++round) {
    RandomTraceOptions options;
    if (round % 2 == 1) options.bytes_max = 1 + static_cast<uint32_t>(random.Below(200));
    const Trace trace = RandomTrace(options, random);
    const uint64_t bytes_all = uint64_t{options.records} * (1 + options.bytes_max) / 2;
    const uint64_t capacity = 1 + random.Below(bytes_all);
    const auto policy = PolicyNamed(name, capacity, trace);
    const auto model = make_model(capacity, trace);
    SCOPED_TRACE(name + " of " + std::to_string(capacity) + " bytes, round " +
                 std::to_string(round));
    ExpectPlayedAlike(*policy, *model, trace, capacity);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// A model's queue, the oldest first. Every search looks at all of it.
struct NaiveObject {
  uint32_t record = 0;
  uint32_t bytes = 0;
  uint32_t uses = 0;
};

class NaiveQueue {
 public:
  // Null if it is not there. Valid until the queue changes.
  NaiveObject* Find(uint32_t record) {
    const auto at = Position(record);
    return at == objects_.end() ? nullptr : &*at;
  }
  bool Remove(uint32_t record) {
    const auto at = Position(record);
    if (at == objects_.end()) return false;
    objects_.erase(at);
    return true;
  }
  void Push(const NaiveObject& object) { objects_.push_back(object); }
  // REQUIRES: there is one whose record is not `kept`
  NaiveObject TakeOldestBut(uint32_t kept) {
    auto at = objects_.begin();
    while (at->record == kept) ++at;
    const NaiveObject object = *at;
    objects_.erase(at);
    return object;
  }
  bool HasOtherThan(uint32_t kept) const {
    return std::any_of(objects_.begin(), objects_.end(),
                       [&](const NaiveObject& object) { return object.record != kept; });
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const NaiveObject& object : objects_) sum += object.bytes;
    return sum;
  }
  const std::vector<NaiveObject>& objects() const { return objects_; }

 private:
  std::vector<NaiveObject>::iterator Position(uint32_t record) {
    return std::find_if(objects_.begin(), objects_.end(),
                        [&](const NaiveObject& object) { return object.record == record; });
  }
  std::vector<NaiveObject> objects_;
};

}  // namespace weft::bench
