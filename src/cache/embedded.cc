// The embedded API (include/weft/cache.h) over the store: sessions for any thread, one call a
// command.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "cache/multi.h"
#include "cache/store.h"

namespace weft {
namespace cache {
namespace {

// The sessions of one cache: handed to threads, taken back when a thread ends.
class SessionPool {
 public:
  explicit SessionPool(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  Store& store() { return *store_; }

  // Null when no further session can exist.
  Session* Take() WEFT_EXCLUDES(mutex_) {
    base::MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      Session* session = idle_.back();
      idle_.pop_back();
      return session;
    }
    std::unique_ptr<Session> session = store_->NewSession();
    if (session == nullptr) return nullptr;
    all_.push_back(std::move(session));
    return all_.back().get();
  }
  void Return(Session* session) WEFT_EXCLUDES(mutex_) {
    session->GiveUpHoles();
    base::MutexLock lock(&mutex_);
    idle_.push_back(session);
  }

 private:
  const std::unique_ptr<Store> store_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<Session>> all_ WEFT_GUARDED_BY(mutex_);
  std::vector<Session*> idle_ WEFT_GUARDED_BY(mutex_);
};

// This thread's sessions, one a cache it has used. Caches that are gone leave an expired entry.
class ThreadSessions {
 public:
  ~ThreadSessions() {
    for (const Held& held : held_)
      if (std::shared_ptr<SessionPool> pool = held.owner.lock()) pool->Return(held.session);
  }

  Session* Of(const std::shared_ptr<SessionPool>& pool) {
    for (const Held& held : held_)
      if (held.pool == pool.get() && !held.owner.expired()) return held.session;
    std::erase_if(held_, [](const Held& held) { return held.owner.expired(); });
    Session* session = pool->Take();
    if (session != nullptr) held_.push_back({pool.get(), pool, session});
    return session;
  }

 private:
  struct Held {
    const SessionPool* pool;
    std::weak_ptr<SessionPool> owner;
    Session* session;
  };
  std::vector<Held> held_;
};

class EmbeddedCache final : public Cache {
 public:
  explicit EmbeddedCache(std::unique_ptr<Store> store)
      : pool_(std::make_shared<SessionPool>(std::move(store))) {}

  Outcome Get(std::string_view key, std::string* value, ItemInfo* info) override {
    Command command = CommandOf(Verb::kRead, key);
    command.want_cas = info != nullptr;
    return Run(command, [&](const Reply& reply) {
      if (reply.outcome != Outcome::kHit) return;
      value->assign(reply.value);
      if (info != nullptr) *info = {reply.client_flags, reply.cas, reply.ttl_s};
    });
  }

  void MultiGet(std::span<Lookup> lookups) override {
    Session* session = MySession();
    if (session != nullptr) return MultiRead(*session, lookups);
    for (Lookup& lookup : lookups) lookup.outcome = Outcome::kNoMemory;
  }
  void MultiView(std::span<View> views, const ViewUse& use) override {
    Session* session = MySession();
    if (session != nullptr) return cache::MultiView(*session, views, use);
    for (View& view : views) view = {view.key, {}, Outcome::kNoMemory};
    for (size_t at = 0; at < views.size(); at += kGroupQueries)
      use(views.subspan(at, std::min<size_t>(kGroupQueries, views.size() - at)));
  }
  void MultiSet(std::span<Pair> pairs) override {
    Session* session = MySession();
    if (session != nullptr) return MultiStore(*session, pairs);
    for (Pair& pair : pairs) pair.outcome = Outcome::kNoMemory;
  }

  Outcome Set(std::string_view key, std::string_view value, uint32_t ttl_s,
              uint32_t client_flags) override {
    return Put(StoreMode::kSet, key, value, ttl_s, client_flags);
  }
  Outcome Add(std::string_view key, std::string_view value, uint32_t ttl_s,
              uint32_t client_flags) override {
    return Put(StoreMode::kAdd, key, value, ttl_s, client_flags);
  }
  Outcome Replace(std::string_view key, std::string_view value, uint32_t ttl_s,
                  uint32_t client_flags) override {
    return Put(StoreMode::kReplace, key, value, ttl_s, client_flags);
  }
  Outcome Append(std::string_view key, std::string_view tail) override {
    return Put(StoreMode::kAppend, key, tail, 0, 0);
  }
  Outcome Prepend(std::string_view key, std::string_view head) override {
    return Put(StoreMode::kPrepend, key, head, 0, 0);
  }
  Outcome CompareAndSwap(std::string_view key, std::string_view value, uint64_t cas, uint32_t ttl_s,
                         uint32_t client_flags) override {
    Command command = StoreCommand(StoreMode::kSet, key, value, ttl_s, client_flags);
    command.compare_cas = true;
    command.cas_expected = cas;
    return Run(command);
  }
  Outcome Increment(std::string_view key, uint64_t delta, uint64_t* number) override {
    return Count(key, delta, false, number);
  }
  Outcome Decrement(std::string_view key, uint64_t delta, uint64_t* number) override {
    return Count(key, delta, true, number);
  }
  Outcome Touch(std::string_view key, uint32_t ttl_s) override {
    Command command = CommandOf(Verb::kTouch, key);
    command.expiry = ExpiryOf(ttl_s);
    return Run(command);
  }
  Outcome Delete(std::string_view key) override { return Run(CommandOf(Verb::kDelete, key)); }

  void Clear() override {
    Session* session = MySession();
    if (session == nullptr) return;
    {
      const InBatch batch(*session);
      pool_->store().Flush(*session, 0);
    }
    pool_->store().Maintain(*session, 0);
  }

  CacheStats Stats() const override { return pool_->store().Stats(); }

 private:
  Session* MySession() {
    thread_local ThreadSessions sessions;
    Session* const session = sessions.Of(pool_);
    WEFT_CHECK(session == nullptr || !session->inside());  // MultiView's `use` calls nothing
    return session;
  }

  static Expiry ExpiryOf(uint32_t ttl_s) {
    if (ttl_s == 0) return kNeverExpires;
    return static_cast<Expiry>(
        std::min<uint64_t>(uint64_t{base::NowSeconds()} + ttl_s, UINT32_MAX));
  }
  Command CommandOf(Verb verb, std::string_view key) const {
    Command command;
    command.verb = verb;
    command.key = key;
    command.hash = pool_->store().HashOf(key);
    return command;
  }
  Command StoreCommand(StoreMode mode, std::string_view key, std::string_view value, uint32_t ttl_s,
                       uint32_t client_flags) const {
    Command command = CommandOf(Verb::kStore, key);
    command.store_mode = mode;
    command.value = value;
    command.expiry = ExpiryOf(ttl_s);
    command.client_flags = client_flags;
    return command;
  }
  Outcome Put(StoreMode mode, std::string_view key, std::string_view value, uint32_t ttl_s,
              uint32_t client_flags) {
    return Run(StoreCommand(mode, key, value, ttl_s, client_flags));
  }
  Outcome Count(std::string_view key, uint64_t delta, bool decrement, uint64_t* number) {
    Command command = CommandOf(Verb::kArithmetic, key);
    command.delta = delta;
    command.decrement = decrement;
    return Run(command, [&](const Reply& reply) {
      if (reply.outcome == Outcome::kNumber && number != nullptr) *number = reply.number;
    });
  }
  Outcome Run(const Command& command) {
    return Run(command, [](const Reply&) {});
  }
  // `use` sees the reply while its value is still there.
  template <typename Use>
  Outcome Run(const Command& command, Use use) {
    if (command.key.empty() || command.key.size() > kKeyBytesMax) return Outcome::kBadKey;
    Session* session = MySession();
    if (session == nullptr) return Outcome::kNoMemory;
    Outcome outcome;
    {
      const InBatch batch(*session);
      const Reply reply = ExecuteWithRoom(*session, command);
      use(reply);  // may find no memory for the value
      outcome = reply.outcome;
    }
    pool_->store().Maintain(*session, command.verb == Verb::kRead ? 0 : 1, session->now_s());
    return outcome;
  }

  // Shared so that a thread that ends later than the cache can tell.
  const std::shared_ptr<SessionPool> pool_;
};

}  // namespace
}  // namespace cache

Result<std::unique_ptr<Cache>> Cache::Open(const CacheOptions& options) {
  auto store = cache::Store::Open(options);
  if (!store) return store.error();
  (*store)->AllowFilling();
  return std::unique_ptr<Cache>(std::make_unique<cache::EmbeddedCache>(std::move(store.value())));
}

}  // namespace weft
