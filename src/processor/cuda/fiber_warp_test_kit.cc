#include "processor/cuda/fiber_warp_test_kit.h"

#include <ucontext.h>

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace weft::processor::tile {

namespace {

constexpr size_t kStackBytes = 64 << 10;

enum Verb : u32 {
  kBallot = 1,
  kGet32,
  kGet64,
  kWarpGet32,
  kWarpGet64,
  kSumBelow,
  kAny,
  kMax,
  kReserve,
  kFence,
  kFullFence
};

}  // namespace

struct FiberRing::Fibers {
  ucontext_t caller;
  std::array<ucontext_t, kLanes> lanes;
  std::array<std::unique_ptr<char[]>, kLanes> stacks;
  std::array<bool, kLanes> ended{};
};

FiberRing::FiberRing(Body body) : body_(std::move(body)), fibers_(std::make_unique<Fibers>()) {
  for (u32 lane = 0; lane < kLanes; lane++) MakeFiber(lane);
}

void FiberRing::MakeFiber(u32 lane) {
  const u64 self = reinterpret_cast<u64>(this);
  ucontext_t* context = &fibers_->lanes[lane];
  fibers_->stacks[lane] = std::make_unique_for_overwrite<char[]>(kStackBytes);
  WEFT_CHECK(getcontext(context) == 0);
  context->uc_stack.ss_sp = fibers_->stacks[lane].get();
  context->uc_stack.ss_size = kStackBytes;
  context->uc_link = &fibers_->caller;
  makecontext(context, reinterpret_cast<void (*)()>(&FiberRing::Enter), 2,
              static_cast<u32>(self >> 32), static_cast<u32>(self));
}

FiberRing::~FiberRing() = default;

void FiberRing::Enter(u32 high, u32 low) {
  FiberRing* ring = reinterpret_cast<FiberRing*>(static_cast<u64>(high) << 32 | low);
  const u32 lane = ring->running_;
  ring->body_(*ring, lane);
  ring->fibers_->ended[lane] = true;
}

bool FiberRing::Step() {
  u32 ended = 0;
  for (running_ = 0; running_ < kLanes; running_++) {
    if (!fibers_->ended[running_])
      WEFT_CHECK(swapcontext(&fibers_->caller, &fibers_->lanes[running_]) == 0);
    ended += fibers_->ended[running_] ? 1 : 0;
  }
  WEFT_CHECK(ended == 0 || ended == kLanes);
  return ended == 0;
}

const std::array<u64, FiberRing::kLanes>& FiberRing::Meet(u32 verb, u64 operand) {
  const u32 lane = running_;
  const u32 side = turns_[lane]++ % 2;
  operands_[side][lane] = operand;
  verbs_[side][lane] = verb;
  WEFT_CHECK(swapcontext(&fibers_->lanes[lane], &fibers_->caller) == 0);
  for (const u32 other : verbs_[side]) WEFT_CHECK(other == verb);
  return operands_[side];
}

void RunFiberWarps(u32 warps, u32 at_once, std::mt19937_64& random,
                   const std::function<void(FiberRing&, u32, u32)>& body) {
  std::vector<std::unique_ptr<FiberRing>> running;
  for (u32 next = 0; next < warps || !running.empty();) {
    while (next < warps && running.size() < at_once) {
      const u32 warp = next++;
      running.push_back(std::make_unique<FiberRing>(
          [&body, warp](FiberRing& ring, u32 lane) { body(ring, lane, warp); }));
    }
    const size_t turn = random() % running.size();
    if (!running[turn]->Step()) running.erase(running.begin() + static_cast<long>(turn));
  }
}

u32 FiberWarp::TileBallot(bool predicate) const {
  const auto& all = ring_->Meet(kBallot, predicate ? 1 : 0);
  u32 bits = 0;
  for (u32 i = 0; i < kTileLanes; i++)
    bits |= static_cast<u32>(all[lane_ / kTileLanes * kTileLanes + i]) << i;
  return bits;
}

u32 FiberWarp::TileGet(u32 value, u32 from) const {
  const auto& all = ring_->Meet(kGet32, value);
  return static_cast<u32>(all[lane_ / kTileLanes * kTileLanes + from % kTileLanes]);
}

u64 FiberWarp::TileGet(u64 value, u32 from) const {
  const auto& all = ring_->Meet(kGet64, value);
  return all[lane_ / kTileLanes * kTileLanes + from % kTileLanes];
}

u32 FiberWarp::WarpGet(u32 value, u32 from) const {
  return static_cast<u32>(ring_->Meet(kWarpGet32, value)[from % FiberRing::kLanes]);
}

u64 FiberWarp::WarpGet(u64 value, u32 from) const {
  return ring_->Meet(kWarpGet64, value)[from % FiberRing::kLanes];
}

u32 FiberWarp::SumBelow(u32 amount) const {
  const auto& all = ring_->Meet(kSumBelow, amount);
  u64 sum = 0;
  for (u32 i = 0; i < lane_; i++) sum += all[i];
  return static_cast<u32>(sum);
}

bool FiberWarp::Any(bool predicate) const {
  const auto& all = ring_->Meet(kAny, predicate ? 1 : 0);
  return std::find(all.begin(), all.end(), 1) != all.end();
}

u32 FiberWarp::Max(u32 value) const {
  const auto& all = ring_->Meet(kMax, value);
  return static_cast<u32>(*std::max_element(all.begin(), all.end()));
}

u64 FiberWarp::Reserve(u64* counter, u32 amount) const {
  const auto all = ring_->Meet(kReserve, amount);
  u64 before = 0, total = 0;
  for (u32 i = 0; i < FiberRing::kLanes; i++) {
    if (i < lane_) before += all[i];
    total += all[i];
  }
  // The last lane adds for all, which meet again to learn the start.
  u64 start = 0;
  if (total == 0) return 0;
  if (lane_ == FiberRing::kLanes - 1) {
    start = *counter;
    *counter += total;
  }
  return ring_->Meet(kReserve, start)[FiberRing::kLanes - 1] + before;
}

void FiberWarp::Fence() const { ring_->Meet(kFence, 0); }
void FiberWarp::FullFence() const { ring_->Meet(kFullFence, 0); }

u64 FiberWarp::Load(const void* at) {
  WEFT_CHECK(reinterpret_cast<u64>(at) % 8 == 0);
  return __atomic_load_n(static_cast<const u64*>(at), __ATOMIC_RELAXED);
}

Words2 FiberWarp::Load2(const void* at) {
  WEFT_CHECK(reinterpret_cast<u64>(at) % 16 == 0);
  return {Load(at), Load(static_cast<const u64*>(at) + 1)};
}

void FiberWarp::StoreOnce2(void* at, u64 low, u64 high) {
  WEFT_CHECK(reinterpret_cast<u64>(at) % 16 == 0);
  static_cast<u64*>(at)[0] = low;
  static_cast<u64*>(at)[1] = high;
}

bool FiberWarp::Swap(u64* at, u64 expected, u64 desired) {
  return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

}  // namespace weft::processor::tile
