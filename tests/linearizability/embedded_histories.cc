// Makes histories with the embedded cache (include/weft/cache.h) and has them checked.
//
// Each history takes another setting: index policy, weak or whole hash, little or enough memory,
// two to six threads, some of which answer their requests in groups. In half of them further
// threads, not recorded, fill the cache, so that it evicts and moves objects all the time.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/program.h"
#include "linearizability/driver.h"
#include "linearizability/workload.h"
#include "weft/cache.h"

namespace weft::linearizability {
namespace {

constexpr uint32_t kValueBytesMax = 4096;  // longest value that MultiGet can read back whole

struct Setting {
  CacheOptions cache;
  WorkloadShape shape;
  int threads = 4;
  int operations = 60;  // per thread
  int fillers = 0;
  bool evicting = false;

  std::string ToString() const {
    std::string text;
    text += cache.index_policy == IndexPolicy::kCuckoo ? "cuckoo" : "set-associative";
    text += ", " + std::to_string(cache.hash_bits) + " hash bits, ";
    text += std::to_string(cache.memory_bytes >> 20) + " MiB, " + std::to_string(threads);
    text += " threads, " + std::to_string(fillers) + " fillers";
    return text;
  }
};

Setting SettingFor(uint64_t seed) {
  std::mt19937_64 rng(seed);
  Setting setting;
  setting.shape.name = "h" + std::to_string(seed);
  setting.shape.registers = 2 + static_cast<int>(rng() % 4);
  setting.shape.counters = 1 + static_cast<int>(rng() % 2);
  setting.threads = 2 + static_cast<int>(rng() % 5);
  setting.cache.huge_pages = false;
  setting.cache.object_bytes_max = 64 << 10;
  setting.cache.index_policy = rng() % 2 == 0 ? IndexPolicy::kCuckoo : IndexPolicy::kSetAssociative;
  const uint32_t hash_bits[] = {4, 5, 6, 8, 12, 64};
  setting.cache.hash_bits = hash_bits[rng() % 6];
  setting.evicting = rng() % 2 == 0;
  if (setting.evicting) {
    setting.cache.memory_bytes = (1 + rng() % 3) << 20;
    setting.fillers = 1 + static_cast<int>(rng() % 2);
    setting.shape.padding_bytes = rng() % 2 == 0 ? 0 : 1000;
  } else {
    setting.cache.memory_bytes = 16 << 20;
  }
  return setting;
}

Result ToResult(Verb verb, Outcome outcome) {
  switch (outcome) {
    case Outcome::kMiss: return Result::kMiss;
    case Outcome::kHit: return verb == Verb::kGet ? Result::kValue : Result::kTouched;
    case Outcome::kStored: return Result::kStored;
    case Outcome::kNotStored: return Result::kNotStored;
    case Outcome::kExists: return Result::kExists;
    case Outcome::kDeleted: return Result::kDeleted;
    case Outcome::kTouched: return Result::kTouched;
    case Outcome::kNumber: return Result::kNumber;
    case Outcome::kNotNumeric: return Result::kNotNumeric;
    case Outcome::kTooLarge:
    case Outcome::kNoMemory:
    case Outcome::kBadKey:
    case Outcome::kIoError: return Result::kFailed;
  }
  return Result::kFailed;
}

// Carries one request out and writes down what the cache said.
void Execute(Cache* cache, Workload* workload, Operation* op) {
  Outcome outcome = Outcome::kMiss;
  ItemInfo info;
  const bool with_version = workload->Draw(4) != 0;
  op->invoked_ns = NowNs();
  switch (op->verb) {
    case Verb::kGet:
      outcome = cache->Get(op->key, &op->value, with_version ? &info : nullptr);
      break;
    case Verb::kSet: outcome = cache->Set(op->key, op->argument); break;
    case Verb::kAdd: outcome = cache->Add(op->key, op->argument); break;
    case Verb::kReplace: outcome = cache->Replace(op->key, op->argument); break;
    case Verb::kAppend: outcome = cache->Append(op->key, op->argument); break;
    case Verb::kPrepend: outcome = cache->Prepend(op->key, op->argument); break;
    case Verb::kCas:
      outcome = cache->CompareAndSwap(op->key, op->argument, op->cas_expected);
      break;
    case Verb::kIncrement: outcome = cache->Increment(op->key, op->delta, &op->number); break;
    case Verb::kDecrement: outcome = cache->Decrement(op->key, op->delta, &op->number); break;
    case Verb::kTouch: outcome = cache->Touch(op->key, 100'000); break;
    case Verb::kDelete: outcome = cache->Delete(op->key); break;
  }
  op->returned_ns = NowNs();
  op->result = ToResult(op->verb, outcome);
  if (op->verb == Verb::kGet && op->result == Result::kValue && with_version)
    op->version = info.cas;
}

// All keys of the history at once, read or written, as one call. Each key is an operation with the
// call's times: the call promises nothing about several keys together.
void ExecuteGroup(Cache* cache, Workload* workload, bool write, std::vector<Operation>* ops) {
  for (int key = 0; key < workload->keys(); ++key) {
    if (workload->Draw(4) != 0)
      ops->push_back(workload->Make(write ? Verb::kSet : Verb::kGet, key));
  }
  std::vector<Cache::Lookup> lookups;
  std::vector<Cache::Pair> pairs;
  std::vector<std::unique_ptr<char[]>> rooms;
  for (const Operation& op : *ops) {
    if (write) {
      pairs.push_back({.key = op.key, .value = op.argument});
    } else {
      rooms.push_back(std::make_unique<char[]>(kValueBytesMax));
      lookups.push_back({.key = op.key, .value = rooms.back().get(), .capacity = kValueBytesMax});
    }
  }
  const int64_t invoked_ns = NowNs();
  if (write) {
    cache->MultiSet(pairs);
  } else {
    cache->MultiGet(lookups);
  }
  const int64_t returned_ns = NowNs();
  for (size_t i = 0; i < ops->size(); ++i) {
    Operation& op = (*ops)[i];
    op.invoked_ns = invoked_ns;
    op.returned_ns = returned_ns;
    op.result = ToResult(op.verb, write ? pairs[i].outcome : lookups[i].outcome);
    if (op.result != Result::kValue) continue;
    if (lookups[i].value_bytes > kValueBytesMax) {
      op.result = Result::kUnknown;  // too long to be compared
    } else {
      op.value.assign(lookups[i].value, lookups[i].value_bytes);
    }
  }
}

void RunProcess(Cache* cache, const Setting& setting, int process, uint64_t seed,
                std::atomic<int>* ready, History* history) {
  Workload workload(setting.shape, process, seed);
  ready->fetch_sub(1);
  while (ready->load() > 0) std::this_thread::yield();
  while (static_cast<int>(history->size()) < setting.operations) {
    std::vector<Operation> ops;
    const uint64_t draw = workload.Draw(20);
    if (draw < 2) {
      ExecuteGroup(cache, &workload, draw == 0, &ops);
    } else {
      ops.push_back(workload.Next());
      Execute(cache, &workload, &ops.back());
    }
    for (Operation& op : ops) {
      workload.Learn(op);
      history->push_back(std::move(op));
    }
    if (workload.Draw(8) == 0) std::this_thread::yield();  // few cores: let the others overlap
  }
}

// Fills the cache with keys that nobody checks, so that it has to make room.
void Fill(Cache* cache, uint64_t seed, const std::atomic<bool>* stop) {
  std::mt19937_64 rng(seed);
  const std::string bytes(8000, 'f');
  while (!stop->load(std::memory_order_relaxed)) {  // no data is handed over with it
    const std::string key = "fill" + std::to_string(rng() % 5000);
    const uint64_t size = rng() % 16 == 0 ? rng() % bytes.size() : rng() % 600;
    if (rng() % 8 == 0) {
      (void)cache->Delete(key);
    } else {
      (void)cache->Set(key, std::string_view(bytes).substr(0, size));
    }
  }
}

MadeHistory MakeHistory(uint64_t seed, const std::string& without) {
  Setting setting = SettingFor(seed);
  setting.shape.without = without;
  MadeHistory made;
  made.evicting = setting.evicting;
  made.setting = setting.ToString();
  weft::Result<std::unique_ptr<Cache>> cache = Cache::Open(setting.cache);
  if (!cache) {
    std::fprintf(stderr, "cannot open a cache (%s): %s\n", made.setting.c_str(),
                 cache.error().ToString().c_str());
    std::exit(1);
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> fillers;
  for (int i = 0; i < setting.fillers; ++i) {
    fillers.emplace_back(Fill, cache->get(), seed * 7 + static_cast<uint64_t>(i), &stop);
  }
  std::atomic<int> ready = setting.threads;
  std::vector<History> parts(setting.threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < setting.threads; ++i) {
    threads.emplace_back(RunProcess, cache->get(), std::cref(setting), i, seed, &ready, &parts[i]);
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  for (std::thread& thread : fillers) thread.join();
  for (History& part : parts) {
    made.history.insert(made.history.end(), part.begin(), part.end());
  }
  return made;
}

int Main(int argc, char** argv) {
  const DriverOptions options = ParseArguments(argc, argv);
  if (!options.rest.empty()) {
    std::fprintf(stderr, "unknown argument %s\n", options.rest.front().c_str());
    return 2;
  }
  return RunHistories(options, [&](uint64_t seed) { return MakeHistory(seed, options.without); });
}

}  // namespace
}  // namespace weft::linearizability

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::linearizability::Main(argc, argv);
}
