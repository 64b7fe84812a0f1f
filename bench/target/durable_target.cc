#include "bench/target/durable_target.h"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/mutex.h"
#include "bench/store/place.h"
#include "bench/store/store_meter.h"
#include "bench/target/durable_session.h"

namespace weft::bench {
namespace {

class DurableTarget final : public Target {
 public:
  DurableTarget(std::string name, const TargetOptions& options, const RecordFormat& format,
                Place place)
      : name_(std::move(name)), options_(options), format_(format), place_(std::move(place)) {}

  // Opens an empty store where the one before, if any, was.
  Status OpenEmpty() {
    const std::string dir = place_.Fresh(name_);
    auto store = OpenStore(name_, options_.store, dir);
    if (!store) return store.error();
    store_ = std::move(*store);
    return Status::Ok();
  }

  std::string Title() const override { return StoreTitle(name_); }
  nlohmann::json Settings() const override;
  std::string WhyNot(OperationKind) const override { return ""; }
  Result<std::unique_ptr<Session>> NewSession() override;
  Status Clear() override;
  void WaitUntilQuiet(double limit_s) override { bench::WaitUntilQuiet(limit_s); }
  std::vector<pid_t> Processes() const override { return {getpid()}; }
  bool is_embedded() const override { return true; }
  nlohmann::json Figures() override;

 private:
  void Forget(DurableSession* session) {
    base::MutexLock lock(&mutex_);
    user_bytes_before_ += session->user_bytes_written();
    sessions_.erase(std::find(sessions_.begin(), sessions_.end(), session));
  }

  const std::string name_;
  const TargetOptions options_;
  const RecordFormat& format_;
  const Place place_;
  std::unique_ptr<Store> store_;
  base::Mutex mutex_;
  std::vector<DurableSession*> sessions_ WEFT_GUARDED_BY(mutex_);
  uint64_t user_bytes_before_ WEFT_GUARDED_BY(mutex_) = 0;  // of sessions that are gone
};

nlohmann::json DurableTarget::Settings() const {
  const StoreSettings& store = options_.store;
  return {{"settings", store.name},
          {"place", place_.name()},
          {"sync", options_.sync},
          {"compression", NameOf(store.compression)},
          {"write_buffer_bytes", store.write_buffer_bytes},
          {"file_bytes", store.file_bytes},
          {"block_cache_bytes", store.block_cache_bytes},
          {"bloom_bits", store.bloom_bits},
          {"level1_bytes", name_ == "rocksdb" ? store.rocksdb_level1_bytes : store.level1_bytes},
          {"background_threads", HasBackgroundThreads(name_) ? store.background_threads : 1},
          {"compaction_device", name_ == "weft" ? store.compaction_device : "cpu"}};
}

Result<std::unique_ptr<Session>> DurableTarget::NewSession() {
  auto session = std::make_unique<DurableSession>(store_.get(), format_, options_.sync,
                                                  [this](DurableSession* ended) { Forget(ended); });
  base::MutexLock lock(&mutex_);
  sessions_.push_back(session.get());
  return std::unique_ptr<Session>(std::move(session));
}

Status DurableTarget::Clear() {
  base::MutexLock lock(&mutex_);
  for (DurableSession* session : sessions_) session->Leave();
  store_.reset();
  Status status = OpenEmpty();
  if (!status.ok()) return status;
  for (DurableSession* session : sessions_) session->Use(store_.get());
  return status;
}

nlohmann::json DurableTarget::Figures() {
  const StoreFigures figures = store_->Figures();
  nlohmann::json json = {{"table_bytes_written", figures.table_bytes_written},
                         {"compaction_bytes_read", figures.compaction_bytes_read}};
  {
    base::MutexLock lock(&mutex_);
    uint64_t user_bytes = user_bytes_before_;
    for (const DurableSession* session : sessions_) user_bytes += session->user_bytes_written();
    json["user_bytes_written"] = user_bytes;
  }
  if (figures.writers_waited_us) json["writers_waited_us"] = *figures.writers_waited_us;
  if (name_ == "weft") {
    json["compactions_by_device"] = figures.compactions_by_device;
    json["compactions_left_to_cpu"] = figures.compactions_left_to_cpu;
  }
  return json;
}

}  // namespace

Result<std::unique_ptr<Target>> OpenDurable(const std::string& name, const TargetOptions& options,
                                            const RecordFormat& format) {
  const std::string why = WhyUnavailable(name);
  if (!why.empty()) return Status(Code::kUnsupported, name + ": " + why);
  auto place = Place::Make(options.place);
  if (!place) return place.error();
  auto target = std::make_unique<DurableTarget>(name, options, format, std::move(*place));
  const Status status = target->OpenEmpty();
  if (!status.ok()) return status;
  return std::unique_ptr<Target>(std::move(target));
}

}  // namespace weft::bench
