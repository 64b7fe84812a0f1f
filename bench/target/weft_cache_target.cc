#include "bench/target/weft_cache_target.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "weft/cache.h"

namespace weft::bench {
namespace {

constexpr size_t kReadsMax = 32;         // a MultiGet
constexpr size_t kRoomBytes = 4u << 20;  // for the values of one

class WeftCacheSession final : public Session {
 public:
  WeftCacheSession(Cache* cache, const RecordFormat& format)
      : cache_(*cache),
        format_(format),
        reads_max_(std::clamp<size_t>(kRoomBytes / format.value_bytes_max(), 1, kReadsMax)),
        keys_(reads_max_ * kRecordKeyBytesMax),
        values_(reads_max_ * format.value_bytes_max()),
        lookups_(reads_max_) {}

  Status Submit(std::span<const Operation> operations) override {
    for (size_t at = 0; at < operations.size();) {
      const Operation& operation = operations[at];
      switch (operation.kind) {
        case OperationKind::kRead: at += Read(operations.subspan(at)); continue;
        case OperationKind::kUpdate:
        case OperationKind::kInsert:
          outcomes_.push_back({operation.tag, operation.kind, Write(operation), 0, 0});
          break;
        case OperationKind::kReadModifyWrite: ReadModifyWrite(operation); break;
        case OperationKind::kDelete:
          outcomes_.push_back({operation.tag, operation.kind, Delete(operation), 0, 0});
          break;
        case OperationKind::kScan:
          return Status(Code::kUnsupported, "a cache has no order of keys");
      }
      ++at;
    }
    return Status::Ok();
  }
  Status Take(std::vector<Outcome>* outcomes) override {
    outcomes->insert(outcomes->end(), outcomes_.begin(), outcomes_.end());
    outcomes_.clear();
    return Status::Ok();
  }
  std::string FirstError() const override { return first_error_; }

 private:
  // As many of the reads at the front as are one MultiGet.
  size_t Read(std::span<const Operation> operations) {
    const size_t most = std::min(operations.size(), reads_max_);
    size_t count = 0;
    for (; count < most && operations[count].kind == operations[0].kind; ++count) {
      const size_t bytes = format_.value_bytes_max();
      char* const key = keys_.data() + count * kRecordKeyBytesMax;
      lookups_[count] = {format_.WriteKey(operations[count].record, key),
                         values_.data() + count * bytes, static_cast<uint32_t>(bytes)};
    }
    cache_.MultiGet({lookups_.data(), count});
    for (size_t i = 0; i < count; ++i) outcomes_.push_back(OutcomeOf(operations[i], lookups_[i]));
    return count;
  }

  bench::Outcome OutcomeOf(const Operation& operation, const Cache::Lookup& lookup) {
    bench::Outcome outcome{operation.tag, operation.kind, OutcomeKind::kMissing, 0, 0};
    if (lookup.outcome != weft::Outcome::kHit) return outcome;
    const bool is_whole = lookup.value_bytes <= lookup.capacity;
    const auto version = is_whole
                             ? format_.Verify(operation.record, {lookup.value, lookup.value_bytes})
                             : std::nullopt;
    outcome.outcome = version ? OutcomeKind::kDone : OutcomeKind::kWrong;
    if (!version) {
      if (first_error_.empty()) first_error_ = "a value that was not written for its key";
      return outcome;
    }
    outcome.records = 1;
    outcome.version = *version;
    return outcome;
  }

  void ReadModifyWrite(const Operation& operation) {
    Read({&operation, 1});
    bench::Outcome& outcome = outcomes_.back();
    if (outcome.outcome == OutcomeKind::kDone) outcome.outcome = Write(operation);
  }

  OutcomeKind Write(const Operation& operation) {
    const std::string_view key = format_.WriteKey(operation.record, keys_.data());
    const uint32_t bytes = format_.ValueBytes(operation.record, operation.version);
    format_.WriteValue(operation.record, operation.version, values_.data());
    return cache_.Set(key, {values_.data(), bytes}, operation.ttl_s) == weft::Outcome::kStored
               ? OutcomeKind::kDone
               : OutcomeKind::kRefused;
  }

  OutcomeKind Delete(const Operation& operation) {
    const std::string_view key = format_.WriteKey(operation.record, keys_.data());
    return cache_.Delete(key) == weft::Outcome::kDeleted ? OutcomeKind::kDone
                                                         : OutcomeKind::kMissing;
  }

  Cache& cache_;
  const RecordFormat& format_;
  const size_t reads_max_;
  std::vector<char> keys_;
  std::vector<char> values_;
  std::vector<Cache::Lookup> lookups_;
  std::vector<bench::Outcome> outcomes_;
  std::string first_error_;
};

class WeftCacheTarget final : public Target {
 public:
  WeftCacheTarget(std::unique_ptr<Cache> cache, const CacheOptions& options,
                  const RecordFormat& format)
      : cache_(std::move(cache)), options_(options), format_(format) {}

  std::string Title() const override { return "Weft's cache"; }
  nlohmann::json Settings() const override {
    return {{"memory_mb", options_.memory_bytes >> 20},
            {"huge_pages", options_.huge_pages},
            {"reads submitted together", "one MultiGet"}};
  }
  std::string WhyNot(OperationKind kind) const override {
    return kind == OperationKind::kScan ? "a cache has no order of keys" : "";
  }
  Result<std::unique_ptr<Session>> NewSession() override {
    return std::unique_ptr<Session>(std::make_unique<WeftCacheSession>(cache_.get(), format_));
  }
  Status Clear() override {
    cache_->Clear();
    return Status::Ok();
  }
  std::vector<pid_t> Processes() const override { return {getpid()}; }
  bool is_embedded() const override { return true; }
  nlohmann::json Figures() override {
    const CacheStats stats = cache_->Stats();
    return {{"items", stats.items},
            {"object_bytes", stats.object_bytes},
            {"memory_bytes", stats.memory_bytes},
            {"evictions", stats.evictions}};
  }

 private:
  const std::unique_ptr<Cache> cache_;
  const CacheOptions options_;
  const RecordFormat& format_;
};

}  // namespace

Result<std::unique_ptr<Target>> OpenWeftCache(const TargetOptions& options,
                                              const RecordFormat& format) {
  CacheOptions how;
  how.memory_bytes = options.memory_mb << 20;
  // What it takes by default, or less in a small memory: half of it at most.
  const uint32_t largest = format.value_bytes_max() + kRecordKeyBytesMax;
  if (largest > how.memory_bytes / 2)
    return Status(
        Code::kInvalidArgument,
        fmt::format("records of up to {} bytes need twice as much memory: more than {} MiB",
                    largest, options.memory_mb));
  how.object_bytes_max = static_cast<uint32_t>(
      std::max<uint64_t>(std::min<uint64_t>(how.object_bytes_max, how.memory_bytes / 2), largest));
  auto cache = Cache::Open(how);
  if (!cache) return cache.error();
  return std::unique_ptr<Target>(std::make_unique<WeftCacheTarget>(std::move(*cache), how, format));
}

}  // namespace weft::bench
