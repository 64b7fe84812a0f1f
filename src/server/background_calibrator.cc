#include "server/background_calibrator.h"

#include <malloc.h>

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/system_memory.h"
#include "base/thread.h"
#include "planner/calibrator.h"

namespace weft::server {
namespace {

constexpr int kNice = 19;
constexpr uint64_t kPartOfMemory = 4;             // of -m
constexpr uint64_t kScratchMax = 2ull << 30;      // more says no more
constexpr uint64_t kAlwaysAllowed = 64ull << 20;  // beside -m, however small that is
constexpr uint64_t kPartOfSystem = 3;             // of what can be had
constexpr uint64_t kRestMsMax = 100;

}  // namespace

std::vector<uint64_t> ScratchSizes(uint64_t memory_bytes, uint32_t workers, uint64_t to_be_had) {
  const uint64_t least = planner::ScratchBytesMin(workers);
  const uint64_t most =
      std::min({memory_bytes / kPartOfMemory, kScratchMax, to_be_had / kPartOfSystem});
  std::vector<uint64_t> sizes;
  if (most >= 2 * least) sizes.push_back(most);
  if (least <= std::max(memory_bytes, kAlwaysAllowed)) sizes.push_back(least);
  return sizes;
}

BackgroundCalibrator::BackgroundCalibrator(Options options, cache::Store* store,
                                           planner::Planner* planner)
    : options_(std::move(options)), store_(store), planner_(planner) {}

void BackgroundCalibrator::Start() {
  auto thread = base::StartThread([this] {
    base::SetThreadName("weft-calibrate");
    base::LowerThreadPriority(kNice);  // what it starts inherits it
    Run();
  });
  if (!thread) return SayFailed(thread.error());
  thread_ = std::move(*thread);
}

void BackgroundCalibrator::Stop() {
  {
    base::MutexLock lock(&mutex_);
    rules_.stop = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

std::string BackgroundCalibrator::State() const {
  base::MutexLock lock(&mutex_);
  return state_;
}

void BackgroundCalibrator::Say(std::string state) {
  base::MutexLock lock(&mutex_);
  state_ = std::move(state);
}

void BackgroundCalibrator::SayFailed(const Status& status) {
  Say(fmt::format("failed: {}", status.ToString()));
  spdlog::warn("no plan is chosen; all queries run in one stage on the cpu: {}", status.ToString());
}

void BackgroundCalibrator::Run() {
  spdlog::info(
      "measuring this machine for the planner; until then all queries run in one stage on the "
      "cpu");
  auto calibration = MeasureAll();
  malloc_trim(0);  // its pages would stay with the process
  if (rules_.stop) return Say("stopped");
  if (!calibration) return SayFailed(calibration.error());
  if (Status status = planner::SaveCalibration(options_.path, *calibration); status.ok()) {
    spdlog::info("the planner chooses plans from now on; the calibration is saved in {}",
                 options_.path);
  } else {
    spdlog::warn(
        "the planner chooses plans from now on; the calibration could not be saved, and the next "
        "start measures again: {}",
        status.ToString());
  }
  planner_->Adopt(*calibration);
  Say(calibration->date);
}

// What is short of memory throws, and so does who finds no thread; both are no reason to end a
// server that serves.
Result<planner::Calibration> BackgroundCalibrator::MeasureAll() {
  const std::vector<uint64_t> sizes =
      ScratchSizes(options_.memory_bytes, options_.workers, base::MemoryToBeHad());
  if (sizes.empty())
    return Status(Code::kNoMemory,
                  fmt::format("measuring with {} workers needs {} MiB, which is more than -m; "
                              "run `weft calibrate` while no server runs",
                              options_.workers, planner::ScratchBytesMin(options_.workers) >> 20));
  try {
    for (size_t i = 0; i + 1 < sizes.size(); i++) {
      auto calibration = MeasureIn(sizes[i], false);
      if (calibration || calibration.error().code() != Code::kNoMemory) return calibration;
    }
    return MeasureIn(sizes.back(), true);
  } catch (const std::exception& error) {
    return Status(Code::kNoMemory, fmt::format("the measurement failed: {}", error.what()));
  }
}

Result<planner::Calibration> BackgroundCalibrator::MeasureIn(uint64_t scratch_bytes, bool is_last) {
  auto device = options_.open_device();
  if (!device) return device.error();
  rules_.scratch_bytes = scratch_bytes;
  rules_.before_turn = [this, is_last] { return BeforeTurn(is_last); };
  turn_began_ns_ = base::NowNs();
  activity_ = options_.activity();
  planner::CalibratorOptions how;
  how.workers = options_.workers;
  how.devices = {device->get()};
  how.guest = &rules_;
  how.seconds = options_.seconds;
  how.progress = [this](std::string_view what, int step, int steps) {
    malloc_trim(0);  // what earlier steps have freed would stay with the process
    Say(fmt::format("under way, {} of {}", step + 1, steps));
    spdlog::debug("measuring, {} of {}: {}", step + 1, steps, what);
  };
  return planner::Calibrate(how);
}

Status BackgroundCalibrator::BeforeTurn(bool is_last) {
  if (!is_last && store_->Stats().memory_bytes + rules_.scratch_bytes > store_->memory_limit())
    return {Code::kNoMemory, "the store needs the memory that the measurement uses"};
  const uint64_t activity = options_.activity();
  if (activity != std::exchange(activity_, activity)) {
    const uint64_t turn_ms = (base::NowNs() - turn_began_ns_) / 1'000'000;
    const uint64_t until_ns =
        base::NowNs() + std::clamp<uint64_t>(turn_ms, 1, kRestMsMax) * 1'000'000;
    base::MutexLock lock(&mutex_);
    for (uint64_t now = base::NowNs(); now < until_ns && !rules_.stop; now = base::NowNs())
      stopped_.WaitFor(&mutex_, static_cast<int>((until_ns - now) / 1'000'000 + 1));
  }
  turn_began_ns_ = base::NowNs();
  return {};
}

}  // namespace weft::server
