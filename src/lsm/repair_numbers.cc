// The numbers of a repair's files: which count of those that are there, and which are given.
//
// Files of somebody else's may have any number, and without a manifest nobody can tell. So new
// numbers begin where there is room, not behind the highest: above a bound a store does not open,
// and files far above its numbers are none of its own. Tables that are kept, and that have a number
// above those, get a new one.
#include <algorithm>
#include <optional>
#include <set>

#include "lsm/file_names.h"
#include "lsm/limits.h"
#include "lsm/lost_files.h"
#include "lsm/repair.h"
#include "lsm/store_copy.h"

namespace weft::lsm {

namespace {

// More numbers than a store gives before it is repaired the next time.
constexpr uint64_t kRoom = uint64_t{1} << 32;

// What an opening behind the repair would take for its own, though it was replayed, stays below.
bool LogsStayBelow(const std::vector<uint64_t>& logs, uint64_t next) {
  return std::ranges::all_of(
      logs, [&](uint64_t log) { return log < next || log > CountedFileNumberMax(next + kRoom); });
}

// The highest number that is as low as most stores' and behind which there is room; where there is
// none, as a log stands in the way, the lowest behind it. `taken`: numbers that are not free.
std::optional<uint64_t> FirstFree(const std::set<uint64_t>& taken,
                                  const std::vector<uint64_t>& logs) {
  const uint64_t low = CountedFileNumberMax(0);
  std::optional<uint64_t> best;
  uint64_t last = 0;
  const auto consider = [&](uint64_t next_taken) {
    const uint64_t next = last + 1;
    if (next_taken - last <= kRoom || next > kFileNumberMax - 2 * kRoom) return;
    if (!LogsStayBelow(logs, next)) return;
    if (!best || next <= low) best = next;
  };
  for (const uint64_t number : taken) {
    consider(number);
    last = number;
  }
  if (last < kFileNumberMax) consider(UINT64_MAX);
  return best;
}

}  // namespace

// A file that the manifest names is the store's, whatever its number is; and so are those near to
// what it has given numbers to. Without one every file may be.
Status Repair::CountNumbers() {
  const VersionEdit& edit = source_.edit();
  const uint64_t manifests_next = edit.next_file_number.value_or(0);
  const uint64_t bound = source_.has_manifest() ? CountedFileNumberMax(manifests_next) : UINT64_MAX;
  std::set<uint64_t> taken = numbers_;
  if (Status status = LostFiles(files_, dir_).Numbers(&taken); !status.ok()) return status;
  for (const NewFile& table : edit.new_files) taken.insert(table.number);  // also missing ones
  if (manifests_next > 1) taken.insert(manifests_next - 1);
  std::erase_if(found_.tables, [&](uint64_t number) {
    const bool far = number > bound && !source_.LevelOf(number);
    for (const std::string& path : {TableFileName(dir_, number), OldTableFileName(dir_, number)}) {
      if (far && files_->FileExists(path)) GiveUpName(path.substr(dir_.size() + 1));
    }
    return far;
  });
  std::erase_if(found_.logs, [&](uint64_t number) {
    const bool far = number > bound && number != edit.log_number.value_or(0);
    if (far) GiveUpName(LogFileName("", number).substr(1));
    return far;
  });
  const std::optional<uint64_t> next = FirstFree(taken, found_.logs);
  if (!next)
    return {Code::kUnsupported,
            dir_ + ": its files have such high numbers that none are left for new files"};
  first_new_ = next_file_ = *next;
  return {};
}

// In the order of the old numbers: of level 0 a higher one is newer.
Status Repair::Renumber(Kept* kept) {
  const uint64_t number = next_file_++;
  const std::string to = TableFileName(dir_, number);
  made_.insert(to);
  Status status = LinkOrCopy(files_, kept->path, to);
  if (!status.ok()) return status;
  Say("renamed " + kept->path + " to " + to + ": no store uses such numbers");
  GiveUpTable(kept->path);
  kept->file.number = number;
  kept->path = to;
  return {};
}

}  // namespace weft::lsm
