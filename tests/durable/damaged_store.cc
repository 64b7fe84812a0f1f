#include "durable/damaged_store.h"

#include <algorithm>

namespace weft::durable {
namespace {

constexpr int kPhases = 4;  // the last is the log's

bool IsTable(const std::string& path) { return path.ends_with(".ldb") || path.ends_with(".sst"); }
bool IsLog(const std::string& path) { return path.ends_with(".log"); }

}  // namespace

SmallStore::SmallStore(Engine* engine, uint64_t seed, int writes_per_phase)
    : random_(seed), files_(std::make_unique<base::MemoryFileSystem>()), keys_of_phase_(kPhases) {
  shape_.files = files_.get();
  shape_.block_bytes = 1024;
  shape_.level0_trigger = 8;
  shape_.threads = 1;
  shape_.seek_compaction = false;
  shape_.bloom_bits = random_.OneIn(2) ? 10 : 0;
  shape_.compression = random_.OneIn(2) ? Compression::kSnappy : Compression::kNone;
  states_.emplace_back();
  std::unique_ptr<Store> store = MustOpen(engine, shape_, kDamagedDir);
  for (int phase = 0; phase < kPhases; ++phase) {
    WritePhase(store.get(), phase, writes_per_phase);
    if (phase == 0) RequireOk(store->CompactRange(nullptr, nullptr), "compact");
    if (phase < kPhases - 1) FlushOrReopen(engine, &store);
    NoteFiles(phase);
  }
  store.reset();
  NoteFiles(kPhases - 1);
}

void SmallStore::FlushOrReopen(Engine* engine, std::unique_ptr<Store>* store) {
  const Status status = (*store)->Flush();
  if (status.ok()) return;
  Require(status.code() == Code::kUnsupported, "flush: " + status.ToString());
  store->reset();
  *store = MustOpen(engine, shape_, kDamagedDir);
}

void SmallStore::WritePhase(Store* store, int phase, int writes) {
  for (int i = 0; i < writes; ++i) {
    Batch batch;
    const uint64_t changes = random_.OneIn(4) ? random_.Between(2, 4) : 1;
    for (uint64_t c = 0; c < changes; ++c) {
      // Half of the keys are a phase's own, half are written in all of them.
      const bool own = random_.OneIn(2);
      Change change{(own ? "own" + std::to_string(phase) : std::string("all")) +
                        std::to_string(random_.Below(static_cast<uint64_t>(writes))),
                    std::nullopt};
      if (!random_.OneIn(5)) {
        change.value = std::to_string(states_.size()) + random_.Bytes(random_.Skewed(200));
        values_[change.key].insert(*change.value);
      }
      keys_of_phase_[static_cast<size_t>(phase)].insert(change.key);
      batch.push_back(std::move(change));
    }
    RequireOk(store->Write(batch, true), "write");
    states_.push_back(states_.back());
    Apply(batch, &states_.back());
  }
}

// Tables and logs not known so far belong to this phase.
void SmallStore::NoteFiles(int phase) {
  for (const std::string& path : files_->AllFiles()) {
    if (IsTable(path)) phase_of_.emplace(path, phase);
    if (IsLog(path)) phase_of_[path] = phase;  // the last to be written to it
  }
}

bool SmallStore::IsPrefix(const Model& model) const {
  return std::find(states_.begin(), states_.end(), model) != states_.end();
}

bool SmallStore::EverHad(const std::string& key, const std::string& value) const {
  const auto at = values_.find(key);
  return at != values_.end() && at->second.contains(value);
}

std::set<std::string> SmallStore::KeysOf(const std::string& path) const {
  const auto phase = phase_of_.find(path);
  if (phase == phase_of_.end()) return {};
  return keys_of_phase_[static_cast<size_t>(phase->second)];
}

}  // namespace weft::durable
