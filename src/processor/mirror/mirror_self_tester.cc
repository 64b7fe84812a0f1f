#include "processor/mirror/mirror_self_test.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/store.h"

namespace weft::processor {
namespace {

constexpr uint32_t kQueriedKeys = 640;
constexpr uint32_t kJobsMax = 50;  // until nearly all is answered
constexpr uint32_t kValuesBytes = 1u << 20;

std::string KeyOf(uint32_t i) { return "key " + std::to_string(i) + std::string(i % 40, 'k'); }

// One batch of reads of all keys, in memory that the processor sees.
class Reads {
 public:
  static Result<std::unique_ptr<Reads>> Make(Processor* processor, const cache::Store& store) {
    Result<cache::Pages> pages = processor->pages()->Reserve(
        kQueriedKeys * (4 * 8 + 4 * 4 + 4 + 64) + kValuesBytes + 4096, false);
    if (!pages) return pages.error();
    // The constructor is private so that none exists without its memory; owned at once.
    return std::unique_ptr<Reads>(new Reads(std::move(pages.value()), store));
  }

  Job& job() { return job_; }
  void Prepare(cache::Session* session) {
    std::memset(result_, 0, kQueriedKeys);
    *job_.query.values_used = 0;
    job_.query.index = session->index();
    job_.query.log = session->log();
    job_.query.now_s = session->now_s();
  }
  uint8_t result(uint32_t i) const { return result_[i]; }
  std::string_view value(uint32_t i) const {
    const uint64_t at = uint64_t{job_.query.value_at[i] & ~kValueNoteBit} * 8;
    uint32_t bytes = 0;
    std::memcpy(&bytes, job_.query.values + at + 4, 4);
    return {reinterpret_cast<const char*>(job_.query.values) + at + kGatherHeaderBytes, bytes};
  }

 private:
  Reads(cache::Pages pages, const cache::Store& store) : pages_(std::move(pages)) {
    uint8_t* next = pages_.data();
    const auto take = [&next](uint64_t bytes) {
      uint8_t* const at = next;
      next += (bytes + 63) & ~uint64_t{63};
      return at;
    };
    auto* const hash = reinterpret_cast<uint64_t*>(take(kQueriedKeys * 8));
    auto* const key_at = reinterpret_cast<uint32_t*>(take(kQueriedKeys * 4));
    uint8_t* const key_bytes = take(kQueriedKeys);
    uint8_t* const wanted = take(kQueriedKeys);
    uint8_t* const keys = take(kQueriedKeys * 64);
    result_ = take(kQueriedKeys);
    task::QueryJob& query = job_.query;
    query.columns = {hash,
                     key_at,
                     key_bytes,
                     keys,
                     reinterpret_cast<uint64_t*>(take(kQueriedKeys * 8)),
                     reinterpret_cast<uint64_t*>(take(kQueriedKeys * 8))};
    query.wanted = wanted;
    query.placed = reinterpret_cast<uint64_t*>(take(kQueriedKeys * 8));
    query.result = result_;
    query.value_at = reinterpret_cast<uint32_t*>(take(kQueriedKeys * 4));
    query.values_used = reinterpret_cast<uint32_t*>(take(4));
    query.values = take(kValuesBytes);
    query.values_capacity = kValuesBytes / 8;
    query.end = kQueriedKeys;
    query.tasks = kRunSearch | kRunCompare | kRunRead;
    for (uint32_t i = 0, at = 0; i < kQueriedKeys; i++) {
      const std::string key = KeyOf(i);
      std::memcpy(keys + at, key.data(), key.size());
      hash[i] = store.HashOf(key);
      key_at[i] = at;
      key_bytes[i] = static_cast<uint8_t>(key.size());
      wanted[i] = kWantsRead;
      at += static_cast<uint32_t>(key.size());
    }
  }

  cache::Pages pages_;
  Job job_;
  uint8_t* result_ = nullptr;
};

class Tester {
 public:
  Tester(Processor* processor, cache::Store* store, Reads* reads)
      : processor_(processor), store_(store), reads_(reads), session_(store->NewSession()) {}

  Status Run() {
    for (uint32_t round = 0; round < 4; round++) {
      Change(round);
      uint32_t answered = 0;
      for (uint32_t i = 0; i < kJobsMax && answered < kQueriedKeys / 2; i++) {
        if (Status status = RunJob(&answered); !status.ok()) return status;
      }
      if (answered < kQueriedKeys / 2)
        return {Code::kUnsupported, processor_->description().name + " answers next to nothing"};
    }
    return Status::Ok();
  }

 private:
  // Stores, stores anew and removes: in each round a third of the keys.
  void Change(uint32_t round) {
    for (uint32_t i = 0; i < kQueriedKeys; i++) {
      if (round > 0 && (i + round) % 3 != 0) continue;
      cache::Command command;
      const std::string key = KeyOf(i);
      command.verb = round == 2 && i % 2 == 0 ? cache::Verb::kDelete : cache::Verb::kStore;
      const std::string value = std::to_string(round) + std::string(i % 300, 'v');
      command.key = key;
      command.value = value;
      command.hash = store_->HashOf(key);
      session_->Begin();
      ExecuteWithRoom(*session_, command);
      session_->End();
      expected_[i] = command.verb == cache::Verb::kStore ? value : "";
    }
  }

  Status RunJob(uint32_t* answered) {
    session_->Begin();
    reads_->Prepare(session_.get());
    Status status = processor_->Start(&reads_->job());
    if (status.ok()) status = reads_->job().Wait();
    session_->End();
    if (!status.ok()) return status;
    *answered = 0;
    for (uint32_t i = 0; i < kQueriedKeys; i++) {
      const uint8_t result = reads_->result(i);
      if (result == kResultMissed || (result == kResultRead && reads_->value(i) != expected_[i]))
        return {Code::kCorruption, processor_->description().name + " answers wrong: " + KeyOf(i)};
      *answered += result == kResultRead || expected_[i].empty();
    }
    return Status::Ok();
  }

  Processor* const processor_;
  cache::Store* const store_;
  Reads* const reads_;
  const std::unique_ptr<cache::Session> session_;
  std::vector<std::string> expected_ = std::vector<std::string>(kQueriedKeys);
};

}  // namespace

Status MirrorSelfTest(Processor* processor) {
  CacheOptions options;
  options.memory_bytes = 16u << 20;
  options.hash_bits = 22;  // tags that collide
  options.hash_seed = 1;
  options.huge_pages = false;
  auto store = cache::Store::Open(options);
  if (!store) return store.error();
  auto reads = Reads::Make(processor, **store);
  if (!reads) return reads.error();
  if (Status status = processor->Attach(store->get()); !status.ok()) return status;
  Status status = Tester(processor, store->get(), reads->get()).Run();
  processor->Detach();
  return status;
}

}  // namespace weft::processor
