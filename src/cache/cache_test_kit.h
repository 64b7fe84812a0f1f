// cache/cache_test_kit.h: what tests of the store share: the seed, a store, a client that asks it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/clock.h"
#include "base/seed_test_kit.h"
#include "cache/store.h"

namespace weft::cache {

using base::Rounds;
using base::Stride;
using base::TestSeed;

// The i-th of the keys that a test makes up.
inline std::string Key(uint64_t i) { return "key" + std::to_string(i); }

// A log for one writer.
inline std::unique_ptr<ObjectLog> OpenLog(uint32_t segments, uint64_t segment_bytes,
                                          Epochs* epochs) {
  LogGeometry geometry;
  geometry.segment_bytes = segment_bytes;
  geometry.budget_segments = segments;
  geometry.budget_min = 4;
  geometry.groups = 4;
  geometry.lanes = 1;
  return std::move(ObjectLog::Create(geometry, false, epochs).value());
}

inline std::unique_ptr<Store> OpenStore(CacheOptions options = {}) {
  options.huge_pages = false;  // a huge page is resident whole, which blurs what tests measure
  if (options.hash_seed == 0) options.hash_seed = TestSeed() + 1;
  auto store = Store::Open(options);
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().ToString().c_str());
    std::abort();
  }
  return std::move(store.value());
}

// As the server and Cache::Open have it where nothing mirrors it.
inline std::unique_ptr<Store> OpenFillingStore(const CacheOptions& options = {}) {
  auto store = OpenStore(options);
  store->AllowFilling();
  return store;
}

// A reply whose value is the test's own.
struct Answer {
  Reply reply;
  std::string value;
};

// One thread's way into a store, a command at a time.
class Client {
 public:
  explicit Client(Store* store) : store_(store), session_(store->NewSession()) {
    WEFT_CHECK(session_ != nullptr);
  }

  Session& session() { return *session_; }

  Answer Run(Command command) {
    command.hash = store_->HashOf(command.key);
    Answer answer;
    session_->Begin();
    answer.reply = ExecuteWithRoom(*session_, command);
    if (command.verb != Verb::kRead || command.want_value)
      answer.value = std::string(answer.reply.value);
    session_->End();
    store_->Maintain(*session_, command.verb == Verb::kRead ? 0 : 1);
    return answer;
  }

  Outcome Set(std::string_view key, std::string_view value, Expiry expiry = kNeverExpires) {
    return Put(StoreMode::kSet, key, value, expiry).reply.outcome;
  }
  Answer Put(StoreMode mode, std::string_view key, std::string_view value,
             Expiry expiry = kNeverExpires) {
    Command command = Of(Verb::kStore, key);
    command.store_mode = mode;
    command.value = value;
    command.expiry = expiry;
    return Run(command);
  }
  Answer Get(std::string_view key) { return Run(Of(Verb::kRead, key)); }
  // The value, or "(none)".
  std::string Value(std::string_view key) {
    Answer answer = Get(key);
    return answer.reply.outcome == Outcome::kHit ? answer.value : "(none)";
  }
  Answer Gets(std::string_view key) {
    Command command = Of(Verb::kRead, key);
    command.want_cas = true;
    return Run(command);
  }
  Outcome Cas(std::string_view key, std::string_view value, uint64_t cas) {
    Command command = Of(Verb::kStore, key);
    command.value = value;
    command.compare_cas = true;
    command.cas_expected = cas;
    return Run(command).reply.outcome;
  }
  Answer Count(std::string_view key, uint64_t delta, bool decrement = false) {
    Command command = Of(Verb::kArithmetic, key);
    command.delta = delta;
    command.decrement = decrement;
    return Run(command);
  }
  Outcome Touch(std::string_view key, Expiry expiry) {
    Command command = Of(Verb::kTouch, key);
    command.expiry = expiry;
    return Run(command).reply.outcome;
  }
  Outcome Delete(std::string_view key) { return Run(Of(Verb::kDelete, key)).reply.outcome; }
  void Flush(uint32_t at_s = 0) {
    session_->Begin();
    store_->Flush(*session_, at_s);
    session_->End();
    store_->Maintain(*session_, 0);
  }

  static Command Of(Verb verb, std::string_view key) {
    Command command;
    command.verb = verb;
    command.key = key;
    return command;
  }

 private:
  Store* const store_;
  const std::unique_ptr<Session> session_;
};

}  // namespace weft::cache
