#include "durable/crash_workload.h"

namespace weft::durable {

constexpr uint64_t kKeysOfThread = 400;
constexpr uint64_t kSharedInverse = 10;
constexpr uint64_t kSyncInverse = 40;

CrashWorkload::CrashWorkload(uint64_t seed, uint64_t round, int thread)
    : random_(seed * 1'000'003 + round * 101 + static_cast<uint64_t>(thread)),
      thread_(std::to_string(thread)),
      mark_(std::to_string(seed) + "." + std::to_string(round) + "." + thread_ + ".") {}

std::string CrashWorkload::DrawKey() {
  return thread_ + "/" + std::to_string(random_.Below(kKeysOfThread));
}

Change CrashWorkload::DrawChange() {
  Change change{DrawKey(), std::nullopt};
  if (random_.OneIn(5)) return change;
  const size_t bytes = random_.OneIn(300) ? random_.Between(10'000, 200'000) : random_.Skewed(3000);
  change.value = mark_ + std::to_string(number_) + ":" + random_.Bytes(bytes);
  return change;
}

CrashOperation CrashWorkload::Next() {
  CrashOperation operation;
  operation.sync = random_.OneIn(kSyncInverse);
  operation.shared = random_.OneIn(kSharedInverse);
  if (operation.shared) {
    for (int i = 0; i < kSharedKeys; ++i) {
      operation.batch.push_back({SharedKey(i), mark_ + std::to_string(number_)});
    }
  } else {
    const uint64_t changes = random_.OneIn(4) ? random_.Between(2, 8) : 1;
    for (uint64_t i = 0; i < changes; ++i) operation.batch.push_back(DrawChange());
  }
  ++number_;
  return operation;
}

std::string SharedKey(int index) { return "s/" + std::to_string(index); }

int OwnerOf(std::string_view key) {
  return key.size() > 1 && key[0] >= '0' && key[0] < '0' + kWritersMax ? key[0] - '0' : -1;
}

}  // namespace weft::durable
