#include "durable/fault_history.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace weft::durable {
namespace {

constexpr uint64_t kKeysOfWriter = 60;
constexpr int kFailedWritesMax = 7;  // each doubles the states that are allowed

uint64_t EntryHash(std::string_view key, std::string_view value) {
  Random random(std::hash<std::string_view>()(key) * 3 + std::hash<std::string_view>()(value));
  return random.Next();
}

uint64_t HashOf(const Model& model) {
  uint64_t hash = 0;
  for (const auto& [key, value] : model) hash += EntryHash(key, value);
  return hash;
}

// A state with its hash, so that states are compared in no time.
struct Hashed {
  Model model;
  uint64_t hash = 0;

  void Play(const Batch& batch) {
    for (const Change& change : batch) {
      const auto at = model.find(change.key);
      if (at != model.end()) {
        hash -= EntryHash(at->first, at->second);
        model.erase(at);
      }
      if (!change.value) continue;
      hash += EntryHash(change.key, *change.value);
      model.emplace(change.key, *change.value);
    }
  }
};

// The prefixes of a writer's attempts that lead to a state, by their lengths.
struct Fits {
  size_t shortest = std::numeric_limits<size_t>::max();
  size_t longest = 0;
  bool any() const { return shortest <= longest; }
  void Add(size_t length) {
    shortest = std::min(shortest, length);
    longest = std::max(longest, length);
  }
};

void FindFits(const std::vector<Attempt>& attempts, size_t begin, size_t end, Hashed state,
              const Hashed& wanted, Fits* fits) {
  for (size_t i = begin;; ++i) {
    if (state.hash == wanted.hash && state.model == wanted.model) fits->Add(i);
    if (i == end) return;
    if (attempts[i].outcome == Attempt::Outcome::kError) {
      FindFits(attempts, i + 1, end, state, wanted, fits);  // it did not happen
    }
    state.Play(attempts[i].batch);
  }
}

// All that was acknowledged before this stamp must be there.
uint64_t SyncedBefore(const std::vector<Writer>& writers, uint64_t crash) {
  uint64_t stamp = 0;
  for (const Writer& writer : writers) {
    for (const Attempt& attempt : writer.attempts()) {
      const bool acknowledged = attempt.outcome == Attempt::Outcome::kOk && attempt.ended < crash;
      if (acknowledged && attempt.sync) stamp = std::max(stamp, attempt.begun);
    }
  }
  return stamp;
}

// How many attempts of a writer must be there.
size_t Floor(const Writer& writer, const Cut& cut, uint64_t synced_before, bool all_acknowledged) {
  size_t floor = 0;
  for (size_t i = 0; i < writer.attempts().size(); ++i) {
    const Attempt& attempt = writer.attempts()[i];
    if (attempt.outcome != Attempt::Outcome::kOk || attempt.ended >= cut.before) continue;
    if (all_acknowledged || attempt.sync || attempt.ended < synced_before) floor = i + 1;
  }
  return floor;
}

[[noreturn]] void FailNoFit(const Writer& writer, size_t floor, size_t end, const Model& found) {
  Hashed state{writer.base(), 0};
  size_t failed = 0;
  for (size_t i = 0; i < floor; ++i) {
    state.Play(writer.attempts()[i].batch);
    failed += writer.attempts()[i].outcome == Attempt::Outcome::kError;
  }
  const std::vector<std::pair<std::string, std::string>> entries(found.begin(), found.end());
  for (size_t i = floor; i < end; ++i) {  // the rest, to see what is there of it
    size_t there = 0;
    for (const Change& change : writer.attempts()[i].batch) {
      const auto at = found.find(change.key);
      there += at != found.end() && change.value && at->second == *change.value;
    }
    if (there > 0) Note("of write " + std::to_string(i) + " there are " + std::to_string(there));
  }
  Fail("writer " + writer.prefix() + ": what is left is no state after a prefix of the " +
       std::to_string(end) + " writes (" + std::to_string(floor) + " must be there, " +
       std::to_string(failed) +
       " of them failed). Against the state after those: " + Difference(state.model, entries));
}

// A write that is there means that all that had ended before it began are there.
void RequireNoHoles(const std::vector<Writer>& writers, const std::vector<Fits>& fits) {
  uint64_t latest = 0;
  for (size_t i = 0; i < writers.size(); ++i) {
    if (fits[i].shortest == 0) continue;
    latest = std::max(latest, writers[i].attempts()[fits[i].shortest - 1].begun);
  }
  for (size_t i = 0; i < writers.size(); ++i) {
    const std::vector<Attempt>& attempts = writers[i].attempts();
    for (size_t j = fits[i].longest; j < attempts.size(); ++j) {
      const bool before =
          attempts[j].outcome == Attempt::Outcome::kOk && attempts[j].ended < latest;
      Require(!before, "a hole: write " + std::to_string(j) + " of writer " + writers[i].prefix() +
                           " is lost, and a later one is there");
    }
  }
}

}  // namespace

Writer::Writer(int index, uint64_t seed, Model base, Stamps* stamps)
    : prefix_(1, static_cast<char>('a' + index)),
      random_(seed),
      base_(std::move(base)),
      model_(base_),
      stamps_(stamps) {}

std::string Writer::DrawKey() { return prefix_ + std::to_string(random_.Below(kKeysOfWriter)); }

Change Writer::DrawChange() {
  Change change{DrawKey(), std::nullopt};
  if (random_.OneIn(5)) return change;
  const size_t bytes = random_.OneIn(100) ? 40'000 : random_.Skewed(4000);
  change.value = std::to_string(attempts_.size()) + ":" + random_.Bytes(bytes);
  return change;
}

void Writer::Work(Store* store, const WriterHabits& habits) {
  const bool faults = habits.faults;
  for (int i = 0; i < habits.operations && failed_ < kFailedWritesMax; ++i) {
    const uint64_t draw = random_.Below(200);
    if (draw < 20) {
      Get(store, faults);
    } else if (draw < 23) {
      Read(store, faults);
    } else if (draw < 25) {
      Flush(store, faults);
    } else if (draw < 26 && habits.compacts) {
      Compact(store, faults);
    } else if (draw < 28) {
      Ingest(store, faults);
    } else if (draw < 29) {
      Checkpoint(store, faults);
    } else {
      Write(store, faults);
    }
  }
}

void Writer::Write(Store* store, bool faults) {
  Attempt attempt;
  const uint64_t changes = random_.OneIn(5) ? random_.Between(2, 6) : 1;
  for (uint64_t i = 0; i < changes; ++i) attempt.batch.push_back(DrawChange());
  attempt.sync = random_.OneIn(8);
  attempt.begun = stamps_->fetch_add(1);
  const Status status = changes == 1 ? store->WriteOne(attempt.batch[0], attempt.sync)
                                     : store->Write(attempt.batch, attempt.sync);
  Keep(std::move(attempt), status, faults);
}

void Writer::Keep(Attempt attempt, const Status& status, bool faults) {
  attempt.ended = stamps_->fetch_add(1);
  attempt.outcome = status.ok() ? Attempt::Outcome::kOk : Attempt::Outcome::kError;
  Require(status.ok() || faults, "write: " + status.ToString());
  if (status.ok()) {
    Apply(attempt.batch, &model_);
  } else {
    ++failed_;
    Note("write " + std::to_string(attempts_.size()) + " failed: " + status.ToString());
    for (const Change& change : attempt.batch) uncertain_.push_back(change.key);
  }
  attempts_.push_back(std::move(attempt));
}

bool Writer::Uncertain(const std::string& key) const {
  return std::find(uncertain_.begin(), uncertain_.end(), key) != uncertain_.end();
}

void Writer::Get(Store* store, bool faults) {
  const std::string key = DrawKey();
  std::string value;
  const Status status = store->Get({}, key, &value);
  if (Uncertain(key)) return;
  const auto wanted = model_.find(key);
  if (!status.ok() && status.code() != Code::kNotFound) {
    Require(faults, "get: " + status.ToString());
    return;
  }
  Require(status.ok() == (wanted != model_.end()),
          "get of " + Shown(key) + " is wrong: " + status.ToString());
  Require(!status.ok() || value == wanted->second,
          "get of " + Shown(key) + " gave " + Shown(value));
}

void Writer::Read(Store* store, bool faults) {
  const std::string behind(1, static_cast<char>(prefix_[0] + 1));
  View view;
  view.lower = prefix_;
  view.upper = behind;
  std::vector<std::pair<std::string, std::string>> found;
  const Status status = ReadAll(store, view, random_.OneIn(2), &found);
  Require(status.ok() || faults, "reading: " + status.ToString());
  if (!status.ok() || !uncertain_.empty()) return;
  const std::string difference = Difference(model_, found);
  Require(difference.empty(), "reading: " + difference);
}

void Writer::Flush(Store* store, bool faults) {
  Attempt attempt;
  attempt.sync = true;
  attempt.begun = stamps_->fetch_add(1);
  const Status status = store->Flush();
  attempt.ended = stamps_->fetch_add(1);
  if (status.code() == Code::kUnsupported) return;
  Require(status.ok() || faults, "flush: " + status.ToString());
  if (!status.ok()) return;
  attempt.outcome = Attempt::Outcome::kOk;
  attempts_.push_back(std::move(attempt));
}

void Writer::Compact(Store* store, bool faults) {
  const std::string key = DrawKey();
  const std::string_view from = key;
  const Status status = store->CompactRange(&from, nullptr);
  Require(status.ok() || faults, "compact: " + status.ToString());
}

void Writer::Ingest(Store* store, bool faults) {
  Attempt attempt;
  attempt.sync = true;  // when it returns, the manifest names tables that are synced
  attempt.begun = stamps_->fetch_add(1);
  Model table;
  const uint64_t keys = random_.Between(1, 20);
  for (uint64_t i = 0; i < keys; ++i) {
    const Change change = DrawChange();
    table[change.key] = change.value.value_or("");
  }
  for (const auto& [key, value] : table) attempt.batch.push_back({key, value});
  const std::vector<std::pair<std::string, std::string>> entries(table.begin(), table.end());
  const std::string path = "/stores/table-" + std::to_string(attempt.begun);
  const Status status = store->Ingest(entries, path, random_.OneIn(2));
  if (status.code() == Code::kUnsupported) return;
  Keep(std::move(attempt), status, faults);
}

void Writer::Checkpoint(Store* store, bool faults) {
  Copied copied;
  copied.dir = "/stores/checkpoint-" + std::to_string(stamps_->fetch_add(1));
  const Status status = store->Checkpoint(copied.dir);
  if (status.code() == Code::kUnsupported) return;
  Require(status.ok() || faults, "checkpoint: " + status.ToString());
  if (!status.ok() || !uncertain_.empty()) return;
  copied.model = model_;
  copied.ended = stamps_->fetch_add(1);
  checkpoints_.push_back(std::move(copied));
}

void Judge(const std::vector<Writer>& writers, const Cut& cut, bool all_acknowledged,
           const std::vector<std::pair<std::string, std::string>>& found) {
  const uint64_t synced_before = SyncedBefore(writers, cut.before);
  std::vector<Fits> fits(writers.size());
  size_t entries = 0;
  for (size_t i = 0; i < writers.size(); ++i) {
    const Writer& writer = writers[i];
    Hashed wanted;
    for (const auto& [key, value] : found) {
      if (key.starts_with(writer.prefix())) wanted.model.emplace(key, value);
    }
    entries += wanted.model.size();
    wanted.hash = HashOf(wanted.model);
    size_t end = 0;
    while (end < writer.attempts().size() && writer.attempts()[end].begun < cut.behind) ++end;
    FindFits(writer.attempts(), 0, end, {writer.base(), HashOf(writer.base())}, wanted, &fits[i]);
    const size_t floor = Floor(writer, cut, synced_before, all_acknowledged);
    if (!fits[i].any()) FailNoFit(writer, floor, end, wanted.model);
    Require(fits[i].longest >= floor, "writer " + writer.prefix() + ": " +
                                          std::to_string(fits[i].longest) + " writes are there, " +
                                          std::to_string(floor) + " must be");
  }
  Require(entries == found.size(), "there are keys that nobody wrote");
  RequireNoHoles(writers, fits);
}

}  // namespace weft::durable
