// pipeline/plan_test_kit.h: random requests, plans of every kind, and a runner that keeps each
// request's result, for tests that compare any plan with the one-stage plan.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pipeline/plan_runner.h"
#include "pipeline/runner_test_kit.h"
#include "processor/cpu_processor.h"

namespace weft::pipeline {

inline constexpr const char* kAllOnDevice =
    "[RV PP MM]cpu → [IN.search KC RD IN.insert IN.delete]gpu0 → [WR SD]cpu";
inline constexpr const char* kReadsOnDevice =
    "[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu";

// A request with its own bytes.
struct TestRequest {
  uint32_t source = 0;
  bool plain_read = false;
  bool barrier = false;  // a query about no key, which empties the store
  Command command;
  std::string key;
  std::string value;
};

// Requests of `sources` clients over `keys` keys, of all kinds. If `own_keys`, each client has its
// own keys.
class RequestMaker {
 public:
  RequestMaker(uint64_t seed, uint32_t sources, uint32_t keys, bool own_keys)
      : random_(seed), sources_(sources), keys_(keys), own_keys_(own_keys) {}

  std::deque<TestRequest> Make(uint32_t count) {
    std::deque<TestRequest> requests;
    for (uint32_t i = 0; i < count; i++) AddOne(&requests.emplace_back());
    return requests;
  }
  uint64_t Below(uint64_t n) { return random_() % n; }
  std::string KeyOf(uint32_t source, uint64_t number) const {
    std::string key = (own_keys_ ? std::to_string(source) + "/" : "k") + std::to_string(number);
    return key + std::string(number % 7 == 0 ? number % 200 : number % 9, 'x');
  }
  uint32_t keys() const { return keys_; }
  // Whether some requests empty the store: true for half of all makers.
  bool flushes() const { return flushes_; }

 private:
  void AddOne(TestRequest* request) {
    request->source = static_cast<uint32_t>(Below(sources_));
    request->key = KeyOf(request->source, Below(keys_));
    Command& command = request->command;
    const uint64_t draw = Below(100);
    if (draw < 45) {
      request->plain_read = true;
    } else if (draw < 75) {
      command.verb = Verb::kStore;
      request->value = std::string(Below(8) == 0 ? Below(20'000) : Below(60),
                                   static_cast<char>('a' + Below(26)));
      if (Below(6) == 0) command.client_flags = static_cast<uint32_t>(Below(100));
    } else if (draw < 85) {
      command.verb = Verb::kDelete;
    } else {
      AddRare(request, draw);
    }
  }
  void AddRare(TestRequest* request, uint64_t draw) {
    Command& command = request->command;
    command.verb = Verb::kStore;
    request->value = std::to_string(Below(1000));
    switch (draw) {
      case 85: command.store_mode = cache::StoreMode::kAdd; return;
      case 86: command.store_mode = cache::StoreMode::kReplace; return;
      case 87: command.store_mode = cache::StoreMode::kAppend; return;
      case 88: command.store_mode = cache::StoreMode::kPrepend; return;
      case 89: command.expiry = cache::kExpiredAtOnce; return;
      case 90: command.want_cas = true; return;
      case 91: command.verb = Verb::kTouch; return;
      case 92:
      case 93: command.verb = Verb::kArithmetic; return;
      case 94:
        command.verb = Verb::kRead;
        command.want_access = true;
        return;
      case 95:
        command.verb = Verb::kRead;
        command.vivify = true;
        return;
      case 96:
        command.verb = Verb::kDelete;
        command.invalidate = true;
        return;
      case 97:
        request->barrier = flushes_;
        request->plain_read = !flushes_;
        return;
      default: return;
    }
  }

  std::mt19937_64 random_;
  const uint32_t sources_;
  const uint32_t keys_;
  const bool own_keys_;
  const bool flushes_ = Below(2) == 0 && !own_keys_;  // otherwise their order among clients counts
};

// A result as text: what a client would see.
inline std::string Told(const QueryResult& result) {
  const cache::Reply& reply = result.reply;
  return std::to_string(static_cast<int>(reply.outcome)) + " " + std::to_string(reply.number) +
         " " + std::to_string(reply.client_flags) + (reply.hit_before ? " h" : "") +
         (reply.stale ? " s" : "") + (reply.won ? " w" : "") + " " +
         (result.value.size() > 40 ? result.value.substr(0, 40) + "..." : result.value) + " " +
         std::to_string(result.value.size());
}

inline void AddTo(Batch* batch, const cache::Store& store, const TestRequest& request,
                  uint32_t source, uint32_t tag) {
  if (request.barrier) return batch->AddOther(source, tag);
  const uint64_t hash = store.HashOf(request.key);
  if (request.plain_read) return batch->AddRead(source, tag, request.key, hash);
  Command command = request.command;
  command.key = request.key;
  command.value = request.value;
  command.hash = hash;
  batch->AddCommand(source, tag, command);
}

// Runs requests through a plan, in batches of random sizes with `under_way` at once, and keeps the
// results as texts, by request.
class PlanTester : public Sink {
 public:
  PlanTester(cache::Store* store, PlanRunner* runner) : store_(store), runner_(runner) {}

  // Requests of one source are in one batch at a time, in their order.
  std::vector<std::string> Run(const std::deque<TestRequest>& requests, RequestMaker* random,
                               uint32_t batch_max, uint32_t under_way) {
    told_.assign(requests.size(), "");
    size_t next = 0;
    std::map<uint32_t, uint32_t> busy;  // sources under way
    while (next < requests.size() || runner_->under_way() > 0) {
      BatchRun* run = runner_->under_way() < under_way ? runner_->Free() : nullptr;
      if (run != nullptr && next < requests.size() && busy.count(requests[next].source) == 0) {
        next = Fill(run, requests, next, 1 + random->Below(batch_max), &busy);
        if (before_begin) before_begin(runner_);
        runner_->Begin(run);
        for (uint64_t sets = random->Below(8); sets > 0 && runner_->Help(); sets--) {
        }
      } else if (random->Below(3) == 0) {
        for (uint64_t sets = random->Below(60); sets > 0 && runner_->Help(); sets--) {
        }
      } else if (runner_->Ready() == nullptr) {
        runner_->Wait();
      }
      if (BatchRun* ready = runner_->Ready(); ready != nullptr && random->Below(2) == 0) {
        found_bytes_ = 0;
        misses_ = 0;
        runner_->Finish(ready, *this);
        EXPECT_EQ(ready->batch().ReplyValueBytes(), found_bytes_);
        EXPECT_EQ(ready->batch().misses(), misses_);
        std::erase_if(busy, [&](const auto& each) { return each.second == ready->number(); });
      }
    }
    return told_;
  }

  std::function<void(PlanRunner*)> before_begin;  // called for each batch; may be null
  uint64_t gathered = 0;  // reads whose values a stage before the last gathered

  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session& session) override {
    for (uint32_t i = begin; i < end; i++) {
      EXPECT_EQ(batch.state(i), QueryState::kDone);
      EXPECT_EQ(told_[batch.tag(i)], "") << "answered twice";
      QueryResult result;
      gathered += batch.result(i) == kResultRead;
      if (batch.kind(i) != QueryKind::kOther) result.reply = ReplyOf(batch, i, session);
      result.value = std::string(result.reply.value);
      found_bytes_ += result.value.size();
      misses_ += IsRead(batch, i) && result.reply.outcome == Outcome::kMiss;
      told_[batch.tag(i)] = Told(result);
    }
  }
  // Each query about no key empties the store.
  void RunOther(Batch&, uint32_t, cache::Session& session) override { store_->Flush(session, 0); }

 private:
  static bool IsRead(const Batch& batch, uint32_t i) {
    return batch.kind(i) == QueryKind::kRead ||
           (batch.kind(i) == QueryKind::kCommand && batch.command(i).verb == Verb::kRead);
  }
  size_t Fill(BatchRun* run, const std::deque<TestRequest>& requests, size_t next, uint64_t count,
              std::map<uint32_t, uint32_t>* busy) {
    Batch& batch = run->batch();
    batch.Clear();
    std::map<uint32_t, uint32_t> numbers;
    for (; count > 0 && next < requests.size() && !batch.full(); count--, next++) {
      const TestRequest& request = requests[next];
      const auto at = busy->find(request.source);
      if (at != busy->end() && at->second != run->number()) break;
      (*busy)[request.source] = run->number();
      if (numbers.count(request.source) == 0) numbers[request.source] = batch.AddSource(kMuchRoom);
      AddTo(&batch, *store_, request, numbers[request.source], static_cast<uint32_t>(next));
    }
    return next;
  }

  cache::Store* const store_;
  PlanRunner* const runner_;
  std::vector<std::string> told_;
  // For the batch that is written.
  uint64_t found_bytes_ = 0;
  uint32_t misses_ = 0;
};

// Every legal plan of `stages` stages whose middle stages are each on the CPU or on gpu0. RV and PP
// are in the first, WR and SD in the last.
inline std::vector<Plan> LegalPlans(uint32_t stages) {
  constexpr const char* kFree[] = {"MM", "IN.search", "IN.insert", "IN.delete", "KC", "RD"};
  std::vector<Plan> plans;
  uint64_t ways = 1;
  for (size_t i = 0; i < std::size(kFree); i++) ways *= stages;
  const uint32_t middles = stages > 2 ? stages - 2 : 0;
  for (uint64_t devices = 0; devices < (uint64_t{1} << middles); devices++) {
    for (uint64_t way = 0; way < ways; way++) {
      std::vector<std::string> tasks(stages);
      tasks[0] = "RV PP ";
      uint64_t rest = way;
      for (const char* task : kFree) {
        tasks[rest % stages] += std::string(task) + " ";
        rest /= stages;
      }
      tasks[stages - 1] += "WR SD";
      std::string text;
      bool empty = false;
      for (uint32_t s = 0; s < stages; s++) {
        empty |= tasks[s].empty();
        const bool device = s > 0 && s + 1 < stages && (devices >> (s - 1) & 1) != 0;
        text += (s == 0 ? "[" : " → [") + tasks[s] + "]" + (device ? "gpu0" : "cpu");
      }
      if (empty) continue;
      auto plan = Plan::Parse(text);
      if (plan.has_value()) plans.push_back(std::move(plan.value()));
    }
  }
  return plans;
}

inline CacheOptions WeakHash(uint32_t bits) {
  CacheOptions options;
  options.memory_bytes = 64u << 20;
  options.hash_bits = bits;
  return options;
}

// Results of the one-stage plan, one batch after the other.
inline std::vector<std::string> OneStage(cache::Store* store,
                                         const std::deque<TestRequest>& requests) {
  TaskTimes times;
  auto runner = PlanRunner::Create(store, &times, Plan::OneStageCpu(), {}, {});
  EXPECT_TRUE(runner.has_value());
  RequestMaker random(1, 1, 1, false);
  return PlanTester(store, runner->get()).Run(requests, &random, 100, 1);
}

inline std::vector<std::string> Contents(cache::Store* store, const RequestMaker& maker,
                                         uint32_t sources) {
  Client client(store);
  std::vector<std::string> contents;
  for (uint32_t source = 0; source < sources; source++)
    for (uint64_t key = 0; key < maker.keys(); key++)
      contents.push_back(client.Value(maker.KeyOf(source, key)));
  return contents;
}

// Words in the index, whatever they are: more than there are items if a batch left some.
inline uint64_t WordsInIndex(cache::Store* store) {
  Client client(store);
  client.session().Begin();
  uint64_t words = 0;
  for (const task::TableRef& table :
       {client.session().index().older, client.session().index().newer})
    for (uint64_t bucket = 0; bucket < table.bucket_count; bucket++)
      for (const uint64_t& slot : table.buckets[bucket].slots)
        words += task::LoadAcquire64(&slot) != 0;
  client.session().End();
  return words;
}

class Devices {
 public:
  explicit Devices(std::unique_ptr<processor::Processor> processor)
      : guard_(std::move(processor)), list_{&guard_} {}
  std::span<processor::Guard* const> list() const { return list_; }
  processor::Guard& guard() { return guard_; }

 private:
  processor::Guard guard_;
  std::vector<processor::Guard*> list_;
};

// A device that seems busy with another job until it is let go.
class HeldProcessor final : public processor::Processor {
 public:
  const processor::Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  Status Start(processor::Job* job) override {
    job_ = job;
    job->Begin();
    return Status::Ok();
  }
  const task::QueryJob& query() const { return job_->query; }
  // Runs what the CPU has left, and ends the job. Returns how many sets it ran.
  uint32_t LetGo() {
    uint32_t left = 0;
    for (uint32_t set = 0; set < task::SetCount(job_->query); set++) {
      if (!task::ClaimSet(job_->query, set)) continue;
      left++;
      task::RunQueries(job_->query, task::SetBegin(job_->query, set),
                       task::SetEnd(job_->query, set), 0);
    }
    job_->Finish(Status::Ok());
    return left;
  }

 private:
  const std::unique_ptr<processor::Processor> inner_ = processor::NewCpuProcessor();
  processor::Job* job_ = nullptr;
};

// Called before each batch of a scene begins; null: its plan stays.
using PlanChange = std::function<void(PlanRunner*)>;

// What a comparison saw.
struct Seen {
  uint32_t reruns = 0;
  uint64_t gathered = 0;
};

// The plan, and those that `change` sets after it, return and leave what the one-stage plan does.
inline void ExpectSameAsOneStage(const Plan& plan, Devices* devices, uint64_t seed,
                                 uint32_t under_way, Seen* seen = nullptr,
                                 const CacheOptions& cache_options = WeakHash(20),
                                 const PlanChange& change = nullptr) {
  SCOPED_TRACE(plan.ToText());
  SCOPED_TRACE(seed);
  // With several batches under way, only requests about the same keys keep their order.
  const bool own_keys = under_way > 1;
  const uint32_t sources = own_keys ? 40 : 5;
  RequestMaker maker(seed, sources, own_keys ? 12 : 150, own_keys);
  const std::deque<TestRequest> requests = maker.Make(1200);
  const auto expected_store = OpenStore(cache_options);
  const std::vector<std::string> expected = OneStage(expected_store.get(), requests);
  const auto store = OpenStore(cache_options);
  ASSERT_TRUE(devices->guard().Attach(store.get()).ok());
  TaskTimes times;
  PlanRunner::Options options;
  options.queries_max = 300;
  options.gather_bytes = 100'000;  // some values find no room
  options.any_plan = change != nullptr;
  auto runner = PlanRunner::Create(store.get(), &times, plan, devices->list(), options);
  ASSERT_TRUE(runner.has_value()) << runner.error().ToString();
  PlanTester tester(store.get(), runner->get());
  tester.before_begin = change;
  // Many small ones, too, so that more of them are under way at once.
  const uint32_t batch_max = change != nullptr && maker.Below(2) == 0 ? 20 : 300;
  const std::vector<std::string> told = tester.Run(requests, &maker, batch_max, under_way);
  for (size_t i = 0; i < requests.size(); i++) {
    ASSERT_EQ(told[i], expected[i])
        << "request " << i << " of source " << requests[i].source << " about " << requests[i].key
        << ", verb " << static_cast<int>(requests[i].command.verb);
  }
  EXPECT_EQ(Contents(store.get(), maker, sources), Contents(expected_store.get(), maker, sources));
  EXPECT_EQ(WordsInIndex(store.get()), store->ItemCount());
  // Flushed items are counted until somebody meets them.
  if (!maker.flushes()) {
    EXPECT_EQ(store->ItemCount(), expected_store->ItemCount());
  }
  if (seen != nullptr) {
    seen->reruns += static_cast<uint32_t>((*runner)->counters().reruns.value());
    seen->gathered += tester.gathered;
  }
  runner->reset();
  EXPECT_TRUE(devices->guard().Detach());
}

// Reads and stores of growing versions of each key.
struct VersionedRequests {
  VersionedRequests(RequestMaker* maker, uint32_t count) {
    std::map<std::string, std::string> last;
    for (uint32_t i = 0; i < count; i++) {
      TestRequest& request = requests.emplace_back();
      request.source = i % 80;
      request.key = std::to_string(request.source) + "/" + std::to_string(maker->Below(20));
      request.plain_read = maker->Below(2) == 0;
      std::string& value = last[request.key];
      if (request.plain_read) {
        expected.push_back(value);
        continue;
      }
      request.command.verb = Verb::kStore;
      request.value = std::to_string(i) + std::string(maker->Below(12'000), 'v');
      value = request.value;
      expected.push_back("");
    }
  }

  std::deque<TestRequest> requests;
  std::vector<std::string> expected;  // by request: the value that a hit has
};

// In a small store that evicts: hits have the last value, and missing keys were evicted.
inline void ExpectLastValuesOnly(const Plan& plan, Devices* devices, uint64_t seed,
                                 uint32_t under_way, const PlanChange& change = nullptr) {
  SCOPED_TRACE(plan.ToText());
  CacheOptions cache_options;
  cache_options.memory_bytes = 8u << 20;
  cache_options.object_bytes_max = 64u << 10;
  const auto store = OpenStore(cache_options);
  ASSERT_TRUE(devices->guard().Attach(store.get()).ok());
  TaskTimes times;
  PlanRunner::Options options;
  options.queries_max = 256;
  options.any_plan = change != nullptr;
  auto runner = PlanRunner::Create(store.get(), &times, plan, devices->list(), options);
  ASSERT_TRUE(runner.has_value());
  RequestMaker maker(seed, 8, 1000, false);
  const VersionedRequests versioned(&maker, 12'000);
  PlanTester tester(store.get(), runner->get());
  tester.before_begin = change;
  const std::vector<std::string> told = tester.Run(versioned.requests, &maker, 64, under_way);
  uint32_t hits = 0;
  for (size_t i = 0; i < told.size(); i++) {
    const bool reads = versioned.requests[i].plain_read;
    if (reads && told[i] == Told(QueryResult{})) continue;
    QueryResult result;
    result.reply.outcome = reads ? Outcome::kHit : Outcome::kStored;
    result.value = versioned.expected[i];
    ASSERT_EQ(told[i], Told(result)) << i;
    hits += reads;
  }
  EXPECT_GT(hits, 100u);
  cache::SessionCounters counters;
  store->SumCounters(&counters);
  EXPECT_GT(counters.evictions.value(), 0u);
  runner->reset();
  EXPECT_TRUE(devices->guard().Detach());
}

inline Plan PlanOf(std::string_view text) { return Plan::Parse(text).value(); }

}  // namespace weft::pipeline
