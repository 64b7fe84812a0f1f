#include "lsm/compaction_picker.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace weft::lsm {
namespace {

using table::UserKey;

// Tables of a level to begin with that one pick looks at: where so many are busy, the next pick is
// soon enough.
constexpr size_t kTriesMax = 256;

struct Hull {
  std::string_view smallest;
  std::string_view largest;
  UserKeyRange range() const { return {&smallest, &largest}; }
};

// REQUIRES: there is a file in either
Hull HullOf(const table::InternalComparator& comparator, std::span<const FileRef> a,
            std::span<const FileRef> b = {}) {
  Hull hull;
  bool first = true;
  for (const std::span<const FileRef> files : {a, b}) {
    for (const FileRef& file : files) {
      const std::string_view smallest = UserKey(file->smallest);
      const std::string_view largest = UserKey(file->largest);
      if (first || comparator.CompareUser(smallest, hull.smallest) < 0) hull.smallest = smallest;
      if (first || comparator.CompareUser(largest, hull.largest) > 0) hull.largest = largest;
      first = false;
    }
  }
  return hull;
}

bool AnyBusy(std::span<const FileRef> files) {
  return std::any_of(files.begin(), files.end(),
                     [](const FileRef& file) { return file->being_compacted; });
}

// The newest version of a user key may end one table and older ones begin the next. An older one
// must not stay above where the newer went: adds the tables that follow so. Of levels below 0.
void AddBoundaryTables(const Version& version, int level, std::vector<FileRef>* inputs) {
  if (level == 0 || inputs->empty()) return;
  const table::InternalComparator& comparator = version.comparator();
  const Level& all = version.level(level);
  const auto last =
      std::max_element(inputs->begin(), inputs->end(), [&](const FileRef& a, const FileRef& b) {
        return comparator.Compare(a->largest, b->largest) < 0;
      });
  std::string_view largest = UserKey((*last)->largest);
  for (size_t i = all.Find(comparator, (*last)->largest) + 1; i < all.size(); ++i) {
    const FileRef& next = all.files()[i];
    if (comparator.CompareUser(UserKey(next->smallest), largest) != 0) return;
    inputs->push_back(next);
    largest = UserKey(next->largest);
  }
}

std::vector<FileRef> WithBoundaries(const Version& version, int level, const Hull& hull) {
  std::vector<FileRef> inputs = version.OverlappingInputs(level, hull.range());
  AddBoundaryTables(version, level, &inputs);
  return inputs;
}

bool Overlaps(const Compaction& compaction, std::string_view smallest_user_key,
              std::string_view largest_user_key) {
  const table::InternalComparator& comparator = compaction.version->comparator();
  return comparator.CompareUser(compaction.smallest, largest_user_key) <= 0 &&
         comparator.CompareUser(smallest_user_key, compaction.largest) <= 0;
}

// Cuts off what comes behind the table that reaches `bytes_max`; true where something did.
bool CutAfter(uint64_t bytes_max, std::vector<FileRef>* inputs) {
  uint64_t bytes = 0;
  for (size_t i = 0; i + 1 < inputs->size(); ++i) {
    bytes += (*inputs)[i]->bytes;
    if (bytes < bytes_max) continue;
    inputs->resize(i + 1);
    return true;
  }
  return false;
}

}  // namespace

CompactionPicker::CompactionPicker(const DbOptions& options, CompactPointers* pointers)
    : options_(options), targets_(options), pointers_(pointers) {}

std::array<double, kLevels> CompactionPicker::Scores(const Version& version) const {
  std::array<LevelTargets::Busy, kLevels> busy{};
  for (const Compaction* compaction : running_) {
    for (size_t i = 0; i < 2; ++i) {
      LevelTargets::Busy& level =
          busy[static_cast<size_t>(i == 0 ? compaction->level : compaction->output_level)];
      level.tables += compaction->inputs[i].size();
      level.bytes += TotalBytes(compaction->inputs[i]);
    }
  }
  std::array<double, kLevels> scores;
  for (int level = 0; level < kLevels; ++level) {
    const auto at = static_cast<size_t>(level);
    scores[at] = targets_.Score(version, level, busy[at]);
  }
  return scores;
}

bool CompactionPicker::NeedsCompaction(const Version& version) const {
  const std::array<double, kLevels> scores = Scores(version);
  if (*std::max_element(scores.begin(), scores.end()) >= 1) return true;
  const SeekCharge seek = version.seek_file();
  return options_.seek_compaction && seek.file != nullptr && !seek.file->being_compacted;
}

std::unique_ptr<Compaction> CompactionPicker::Pick(const VersionRef& version) {
  const std::array<double, kLevels> scores = Scores(*version);
  std::array<int, kLevels> levels;
  std::iota(levels.begin(), levels.end(), 0);
  std::stable_sort(levels.begin(), levels.end(), [&](int a, int b) {
    return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)];
  });
  for (const int level : levels) {
    if (scores[static_cast<size_t>(level)] < 1) break;
    auto compaction = level == 0 ? PickLevel0(version) : PickDeeper(version, level);
    if (compaction != nullptr) return compaction;
  }
  return options_.seek_compaction ? PickSeek(version) : nullptr;
}

std::unique_ptr<Compaction> CompactionPicker::PickLevel0(const VersionRef& version) {
  const std::span<const FileRef> files = version->level(0).files();
  for (size_t i = files.size(); i > 0; --i) {
    // The oldest first: what it hides is deepest, and what it holds up the longest.
    const FileRef& file = files[i - 1];
    if (file->being_compacted) continue;
    const Hull hull = HullOf(version->comparator(), {&file, 1});
    auto compaction =
        Make(version, 0, version->OverlappingInputs(0, hull.range()), CompactionReason::kSize);
    if (compaction != nullptr) return compaction;
  }
  return nullptr;
}

std::unique_ptr<Compaction> CompactionPicker::PickDeeper(const VersionRef& version, int level) {
  const table::InternalComparator& comparator = version->comparator();
  const Level& all = version->level(level);
  const std::string& pointer = (*pointers_)[static_cast<size_t>(level)];
  // Round about the level, so that no part of it waits for ever.
  size_t begin = pointer.empty() ? 0 : all.Find(comparator, pointer);
  if (begin < all.size() && !pointer.empty() &&
      comparator.Compare(all.files()[begin]->largest, pointer) == 0) {
    ++begin;
  }
  for (size_t i = 0; i < std::min(all.size(), kTriesMax); ++i) {
    const FileRef& file = all.files()[(begin + i) % all.size()];
    if (file->being_compacted) continue;
    auto compaction = Make(version, level, {file}, CompactionReason::kSize);
    if (compaction != nullptr) return compaction;
  }
  return nullptr;
}

std::unique_ptr<Compaction> CompactionPicker::PickSeek(const VersionRef& version) {
  const SeekCharge seek = version->seek_file();
  if (seek.file == nullptr || seek.file->being_compacted || seek.level >= kLevels - 1) {
    return nullptr;
  }
  for (const FileRef& file : version->level(seek.level).files()) {
    if (file.get() != seek.file) continue;
    std::vector<FileRef> inputs = {file};
    if (seek.level == 0) {
      inputs = version->OverlappingInputs(0, HullOf(version->comparator(), inputs).range());
    }
    auto compaction = Make(version, seek.level, std::move(inputs), CompactionReason::kSeeks);
    // Moved as it is, it begins to count anew.
    if (compaction != nullptr) file->allowed_seeks = SeeksAllowed(file->bytes);
    return compaction;
  }
  return nullptr;
}

std::unique_ptr<Compaction> CompactionPicker::Make(const VersionRef& version, int level,
                                                   std::vector<FileRef> inputs,
                                                   CompactionReason reason) {
  auto compaction = std::make_unique<Compaction>();
  compaction->reason = reason;
  compaction->level = level;
  compaction->output_level = level + 1;
  compaction->version = version;
  AddBoundaryTables(*version, level, &inputs);
  const Hull hull = HullOf(version->comparator(), inputs);
  compaction->inputs[0] = std::move(inputs);
  compaction->inputs[1] = WithBoundaries(*version, level + 1, hull);
  Grow(compaction.get());
  Complete(compaction.get());
  const bool overlaps_little =
      TotalBytes(compaction->grandparents) <= GrandparentOverlapBytesMax(options_.max_file_size);
  compaction->trivial_move = reason != CompactionReason::kManual &&
                             compaction->inputs[0].size() == 1 && compaction->inputs[1].empty() &&
                             overlaps_little;
  if (!CanRun(*compaction)) return nullptr;
  Start(compaction.get());
  return compaction;
}

void CompactionPicker::Grow(Compaction* compaction) const {
  const Version& version = *compaction->version;
  const auto& [upper, lower] = compaction->inputs;
  if (lower.empty()) return;
  const Hull hull = HullOf(version.comparator(), upper, lower);
  std::vector<FileRef> more = WithBoundaries(version, compaction->level, hull);
  if (more.size() <= upper.size() || AnyBusy(more) ||
      TotalBytes(more) + TotalBytes(lower) >= ExpandedBytesMax(options_.max_file_size)) {
    return;
  }
  const Hull wider = HullOf(version.comparator(), more);
  if (WithBoundaries(version, compaction->output_level, wider).size() != lower.size()) return;
  compaction->inputs[0] = std::move(more);
}

void CompactionPicker::Complete(Compaction* compaction) const {
  const Version& version = *compaction->version;
  const table::InternalComparator& comparator = version.comparator();
  const auto& [upper, lower] = compaction->inputs;
  const Hull hull = HullOf(comparator, upper, lower);
  compaction->smallest = hull.smallest;
  compaction->largest = hull.largest;
  if (compaction->output_level + 1 < kLevels) {
    compaction->grandparents =
        version.OverlappingInputs(compaction->output_level + 1, hull.range());
  }
  if (compaction->output_level == compaction->level) return;
  for (const FileRef& file : upper) {
    if (compaction->pointer.empty() || comparator.Compare(file->largest, compaction->pointer) > 0) {
      compaction->pointer = file->largest;
    }
  }
}

bool CompactionPicker::CanRun(const Compaction& compaction) const {
  if (AnyBusy(compaction.inputs[0]) || AnyBusy(compaction.inputs[1])) return false;
  return std::none_of(running_.begin(), running_.end(), [&](const Compaction* other) {
    return other->output_level == compaction.output_level &&
           Overlaps(*other, compaction.smallest, compaction.largest);
  });
}

void CompactionPicker::Start(Compaction* compaction) {
  for (const auto& inputs : compaction->inputs) {
    for (const FileRef& file : inputs) file->being_compacted = true;
  }
  if (!compaction->pointer.empty()) {
    (*pointers_)[static_cast<size_t>(compaction->level)] = compaction->pointer;
  }
  running_.push_back(compaction);
}

void CompactionPicker::Release(const Compaction& compaction) {
  for (const auto& inputs : compaction.inputs) {
    for (const FileRef& file : inputs) file->being_compacted = false;
  }
  const auto at = std::find(running_.begin(), running_.end(), &compaction);
  WEFT_CHECK(at != running_.end());
  running_.erase(at);
}

int CompactionPicker::LevelForMemTable(const Version& version, std::string_view smallest_user_key,
                                       std::string_view largest_user_key) const {
  // Whatever level a compaction writes: what is placed is newer than all, and must stay above all.
  const bool disturbed =
      std::any_of(running_.begin(), running_.end(), [&](const Compaction* running) {
        return Overlaps(*running, smallest_user_key, largest_user_key);
      });
  if (disturbed) return 0;
  return version.LevelForMemTable(smallest_user_key, largest_user_key, options_.max_file_size);
}

CompactionPicker::ManualPick CompactionPicker::PickRange(const VersionRef& version, int level,
                                                         const UserKeyRange& range) {
  if (level >= kLevels - 1) return {};
  std::vector<FileRef> inputs = version->OverlappingInputs(level, range);
  if (inputs.empty()) return {};
  // Tables of level 0 may overlap: all of them at once.
  const bool more = level > 0 && CutAfter(ExpandedBytesMax(options_.max_file_size), &inputs);
  ManualPick pick;
  pick.compaction = Make(version, level, std::move(inputs), CompactionReason::kManual);
  pick.busy = pick.compaction == nullptr;
  if (more && !pick.busy) pick.next_begin = UserKey(pick.compaction->pointer);
  return pick;
}

CompactionPicker::ManualPick CompactionPicker::PickRewrite(const VersionRef& version, int level,
                                                           const UserKeyRange& range,
                                                           uint64_t number_end) {
  const auto is_new = [&](const FileRef& file) { return file->number >= number_end; };
  std::vector<FileRef> inputs = version->OverlappingInputs(level, range);
  inputs.erase(inputs.begin(), std::find_if_not(inputs.begin(), inputs.end(), is_new));
  if (level == 0 || inputs.empty()) return {};
  // As far as the next one that is new.
  const auto end = std::find_if(inputs.begin(), inputs.end(), is_new);
  bool more = end != inputs.end();
  inputs.erase(end, inputs.end());
  more = CutAfter(ExpandedBytesMax(options_.max_file_size), &inputs) || more;
  auto compaction = std::make_unique<Compaction>();
  compaction->reason = CompactionReason::kManual;
  compaction->level = level;
  compaction->output_level = level;
  compaction->version = version;
  AddBoundaryTables(*version, level, &inputs);
  compaction->inputs[0] = std::move(inputs);
  Complete(compaction.get());
  ManualPick pick;
  pick.busy = !CanRun(*compaction);
  if (pick.busy) return pick;
  Start(compaction.get());
  if (more) pick.next_begin = compaction->largest;
  pick.compaction = std::move(compaction);
  return pick;
}

}  // namespace weft::lsm
