#include "lsm/repair_source.h"

#include <algorithm>
#include <utility>

#include "base/read_around.h"
#include "lsm/close_mark.h"
#include "lsm/file_names.h"
#include "lsm/foreign_store.h"

namespace weft::lsm {

Result<RepairSource> RepairSource::Choose(FileSystem* files, const std::string& dir,
                                          const std::string& comparator, const StoreFiles& found,
                                          const Say& say) {
  auto current = ReadCurrentFile(files, dir);
  if (!current && !base::IsOfTheFile(current.error())) return current.error();
  if (!current) say(current.error().ToString());
  auto mark = files->NewSequentialFile(CloseMarkFileName(dir));
  if (!mark && !base::IsOfTheFile(mark.error())) return mark.error();
  // The one that CURRENT names, then the newest.
  std::vector<uint64_t> numbers(found.manifests.rbegin(), found.manifests.rend());
  if (current) {
    if (std::erase(numbers, *current) == 0) {
      say(ManifestFileName(dir, *current) + ", which CURRENT names, is missing");
    } else {
      numbers.insert(numbers.begin(), *current);
    }
  }
  auto candidates = ReadAll(files, dir, numbers, current ? *current : 0, found, say);
  if (!candidates) return candidates.error();
  for (const Candidate& each : *candidates) {
    if (!each.manifest.edit.comparator) continue;
    if (*each.manifest.edit.comparator == comparator) break;
    return Status(Code::kInvalidArgument,
                  ManifestFileName(dir, each.number) + ": the store's comparator is " +
                      *each.manifest.edit.comparator + ", not " + comparator);
  }
  std::erase_if(*candidates, [&](const Candidate& each) {
    return each.manifest.edit.comparator.value_or(comparator) != comparator;
  });
  RepairSource source;
  const Candidate* const best = Best(*candidates, current ? *current : 0);
  if (best == nullptr) {
    say("no manifest can be read: using every table");
    return source;
  }
  source.number_ = best->number;
  source.manifest_ = best->manifest;
  source.lacks_tables_ = best->lacks_tables;
  source.lacks_log_ = best->lacks_log;
  for (const NewFile& table : best->manifest.edit.new_files) {
    source.named_[table.number] = {table.level, table.bytes};
  }
  // Of a manifest that CURRENT does not name, one that it did may have gone on.
  const auto is_later = [&](uint64_t number) {
    const auto at = std::ranges::find(*candidates, number, &Candidate::number);
    const bool is_known = at != candidates->end() && at->TellsAState();
    return number > best->number && !(is_known && !IsLater(*at, *best));
  };
  const bool may_be_old =
      !(current && *current == best->number) &&
      (std::ranges::any_of(numbers, is_later) || (current && is_later(*current)));
  source.lost_end_ = may_be_old || best->manifest.lost_records || !best->TellsAState();
  const std::string path = ManifestFileName(dir, best->number);
  if (!current || *current != best->number) say("using " + path);
  if (!source.has_manifest()) {
    say(path + " has lost its start: using every table that it does not remove");
  } else if (source.lost_end_) {
    say(path + " has lost records: also using tables that they may have added");
  } else if (source.lacks_tables_ || source.lacks_log_) {
    say(path + " names files that are missing");
  }
  return source;
}

Result<std::vector<RepairSource::Candidate>> RepairSource::ReadAll(
    FileSystem* files, const std::string& dir, const std::vector<uint64_t>& numbers,
    uint64_t current, const StoreFiles& found, const Say& say) {
  std::vector<Candidate> candidates;
  std::string of_rocksdb;
  for (const uint64_t number : numbers) {
    const std::string path = ManifestFileName(dir, number);
    auto file = base::AroundFile::Open(files, path);
    if (!file) {
      if (!base::IsOfTheFile(file.error())) return file.error();
      say(file.error().ToString());
      continue;
    }
    auto manifest = SalvageManifest(file->get(), files, path);
    if (!manifest) return manifest.error();
    if ((*file)->unreadable().bytes > 0) say((*file)->unreadable().ToString(path));
    if (manifest->of_rocksdb) {
      if (number == current) return OfRocksDb(path);
      of_rocksdb = path;
      continue;
    }
    if (manifest->records == 0) continue;
    if (!manifest->lost_records && LacksMarkedEnd(files, dir, number)) {
      manifest->lost_records = true;
    }
    Candidate each{number, std::move(*manifest), false, false};
    const VersionEdit& edit = each.manifest.edit;
    for (const NewFile& table : edit.new_files) {
      each.lacks_tables |= !found.tables.contains(table.number);
    }
    // A log goes only when a later record names a later one.
    const uint64_t log = edit.log_number.value_or(0);
    each.lacks_log = log != 0 && !std::ranges::binary_search(found.logs, log);
    candidates.push_back(std::move(each));
  }
  // A stray one is none of the store's.
  if (!of_rocksdb.empty() && std::ranges::none_of(candidates, &Candidate::TellsAState)) {
    return OfRocksDb(of_rocksdb);
  }
  return candidates;
}

// Of two that tell a state. A file number says more than the manifest's own: one that could not be
// put in place, and stayed, has a number above the one that was gone on with.
bool RepairSource::IsLater(const Candidate& a, const Candidate& b) {
  return std::pair(*a.manifest.edit.next_file_number, a.number) >
         std::pair(*b.manifest.edit.next_file_number, b.number);
}

const RepairSource::Candidate* RepairSource::Best(const std::vector<Candidate>& candidates,
                                                  uint64_t current) {
  const Candidate* named = nullptr;
  const Candidate* latest = nullptr;
  const Candidate* whole = nullptr;  // the latest of which every file is there
  const Candidate* begun = nullptr;
  for (const Candidate& each : candidates) {
    if (begun == nullptr && each.manifest.has_beginning) begun = &each;
    if (!each.TellsAState()) continue;
    if (each.number == current) named = &each;
    if (latest == nullptr || IsLater(each, *latest)) latest = &each;
    // One that names nothing lacks nothing: a creation's.
    const bool names_files =
        !each.manifest.edit.new_files.empty() || each.manifest.edit.log_number.value_or(0) != 0;
    if (names_files && each.IsWhole() && (whole == nullptr || IsLater(each, *whole))) whole = &each;
  }
  // CURRENT may be of another time, too.
  const bool is_old = named != nullptr && !named->IsWhole() && latest->IsWhole();
  if (named != nullptr && !is_old) return named;
  // A repair that was cut short may have left one whose tables are not there.
  if (whole != nullptr) return whole;
  if (latest != nullptr) return latest;
  if (begun != nullptr) return begun;
  return candidates.empty() ? nullptr : &candidates.front();
}

std::optional<int> RepairSource::LevelOf(uint64_t number) const {
  const auto at = named_.find(number);
  return at == named_.end() ? std::nullopt : std::optional<int>(at->second.level);
}

std::optional<uint64_t> RepairSource::BytesOf(uint64_t number) const {
  const auto at = named_.find(number);
  return at == named_.end() ? std::nullopt : std::optional<uint64_t>(at->second.bytes);
}

RepairSource::Verdict RepairSource::JudgeTable(uint64_t number) const {
  if (named_.contains(number)) return Verdict::kCounts;
  if (manifest_.removed.contains(number)) return Verdict::kOut;
  if (!has_manifest()) return Verdict::kCounts;
  // What a record adds that is lost without a trace has a number that was not given before.
  const bool may_be_added =
      lost_end_ ? number > number_ : number >= *manifest_.edit.next_file_number;
  if (lacks_tables_ && may_be_added) return Verdict::kCounts;
  return lost_end_ || (lacks_log_ && may_be_added) ? Verdict::kIfNewer : Verdict::kOut;
}

bool RepairSource::IsNewer(table::SequenceNumber newest) const {
  return newest == 0 || newest > manifest_.sequence_before_loss;
}

bool RepairSource::LogCounts(uint64_t number) const {
  // Logs below it are in tables, and what they hold may have been deleted since.
  const uint64_t previous = manifest_.edit.prev_log_number.value_or(0);
  return number >= manifest_.edit.log_number.value_or(0) || (previous != 0 && number == previous);
}

}  // namespace weft::lsm
