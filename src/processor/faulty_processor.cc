#include "processor/faulty_processor.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/parse_number.h"
#include "processor/announce.h"

namespace weft::processor {
namespace {

class LimitedPages final : public cache::PageSource {
 public:
  LimitedPages(cache::PageSource* source, uint64_t bytes_max)
      : source_(source), bytes_left_(bytes_max) {}

  Result<cache::Pages> Reserve(size_t bytes, bool huge) override {
    uint64_t left = bytes_left_.load(std::memory_order_relaxed);
    do {
      if (bytes > left)
        return Status(Code::kNoMemory, "drill: the device has no " + std::to_string(bytes) +
                                           " bytes of memory left");
    } while (!bytes_left_.compare_exchange_weak(left, left - bytes));
    return source_->Reserve(bytes, huge);
  }

 private:
  cache::PageSource* const source_;
  std::atomic<uint64_t> bytes_left_;
};

class FaultyProcessor final : public Processor {
 public:
  FaultyProcessor(std::unique_ptr<Processor> processor, const Faults& faults)
      : processor_(std::move(processor)),
        faults_(faults),
        pages_(processor_->pages(), faults.memory_bytes) {}

  const Description& description() const override { return processor_->description(); }
  Status Attach(cache::Store* store) override { return processor_->Attach(store); }
  Status CatchUp() override { return processor_->CatchUp(); }
  bool is_behind() const override { return processor_->is_behind(); }
  bool Detach() override { return processor_->Detach(); }
  void NoteLeft() override { processor_->NoteLeft(); }
  cache::PageSource* pages() override {
    return faults_.memory_bytes != 0 ? &pages_ : processor_->pages();
  }

  Status Start(Job* job) override {
    const uint64_t number = started_.fetch_add(1) + 1;
    const bool lost = faults_.lose_at != 0 && number >= faults_.lose_at;
    const bool fails = faults_.fail_every != 0 && number % faults_.fail_every == 0;
    if (faults_.hang_at != 0 && number >= faults_.hang_at) {
      job->Begin();
      return Status::Ok();
    }
    if (!lost && !fails) return processor_->Start(job);
    Status status = lost ? Status(Code::kDeviceLost, "drill: the device is lost")
                         : Status(Code::kIoError, "drill: the kernel failed");
    if (faults_.refuses) return status;
    RunInPart(job);
    job->Begin();
    job->Finish(std::move(status));
    return Status::Ok();
  }

 private:
  // Of five queries one is carried out, one has not been looked at, and the others are stopped on
  // their way.
  void RunInPart(Job* job) const {
    const task::QueryJob& query = job->query;
    for (uint32_t set = 0; set < task::SetCount(query); set++) {
      if (!task::ClaimSet(query, set)) continue;
      for (uint32_t i = task::SetBegin(query, set); i < task::SetEnd(query, set); i++) {
        if (!task::NeedsStage(query, i)) continue;
        if (i % 5 == 0) task::RunQuery(query, i);
        if (i % 5 == 1) AnnounceChange(query, i, false);
        if (i % 5 == 2) AnnounceChange(query, i, true);
        if (i % 5 == 3) TearSearch(query, i);
        if (i % 5 == 3) TearRead(query, i);
      }
    }
    if (faults_.pause_us != 0)
      std::this_thread::sleep_for(std::chrono::microseconds(faults_.pause_us));
  }

  // As where the words of a column have arrived and those of another have not.
  static void TearSearch(const task::QueryJob& query, uint32_t i) {
    const uint64_t position = query.columns.position[i];
    task::SearchQuery(query, i, 0);
    query.columns.position[i] = position;
  }

  // As where a read's result has arrived and what it tells of has not.
  static void TearRead(const task::QueryJob& query, uint32_t i) {
    if (query.wanted[i] != kWantsRead) return;
    if ((query.tasks & kRunRead) != 0) {
      query.result[i] = kResultRead;
    } else if ((query.tasks & kRunCompare) != 0) {
      query.result[i] = kResultFound;
    }
  }

  const std::unique_ptr<Processor> processor_;
  const Faults faults_;
  LimitedPages pages_;
  std::atomic<uint64_t> started_{0};
};

}  // namespace

Result<Faults> Faults::Parse(std::string_view text) {
  Faults faults;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('='));
    const std::string_view digits = part.substr(std::min(part.size(), name.size() + 1));
    if (name == "refuse" && digits.empty()) {
      faults.refuses = true;
      continue;
    }
    uint64_t* const number = name == "fail"     ? &faults.fail_every
                             : name == "lose"   ? &faults.lose_at
                             : name == "hang"   ? &faults.hang_at
                             : name == "memory" ? &faults.memory_bytes
                             : name == "pause"  ? &faults.pause_us
                                                : nullptr;
    if (number == nullptr || !base::ParseNumber(digits, number))
      return Status(Code::kInvalidArgument, "unknown fault '" + std::string(part) + "'");
  }
  return faults;
}

std::unique_ptr<Processor> NewFaultyProcessor(std::unique_ptr<Processor> processor,
                                              const Faults& faults) {
  return std::make_unique<FaultyProcessor>(std::move(processor), faults);
}

}  // namespace weft::processor
