// Where the tables of a repaired store belong: those whose order is not known are merged.
#include <algorithm>
#include <map>
#include <utility>

#include "compaction/job.h"
#include "lsm/file_names.h"
#include "lsm/level_targets.h"
#include "lsm/repair.h"

namespace weft::lsm {

bool Repair::LevelsOverlap() const {
  std::vector<const NewFile*> files;
  for (const Kept& kept : kept_) {
    if (kept.file.level > 0) files.push_back(&kept.file);
  }
  std::ranges::sort(files, [&](const NewFile* a, const NewFile* b) {
    if (a->level != b->level) return a->level < b->level;
    return comparator_.Compare(a->smallest, b->smallest) < 0;
  });
  for (size_t i = 1; i < files.size(); i++) {
    if (files[i - 1]->level == files[i]->level &&
        comparator_.Compare(files[i - 1]->largest, files[i]->smallest) >= 0) {
      return true;
    }
  }
  return false;
}

// In level 0 the greater number is the newer table. What was copied out of a damaged one has a
// greater number than tables that are newer.
bool Repair::Level0OutOfOrder() const {
  std::map<uint64_t, table::SequenceNumber> newest;  // by file number
  for (const Kept& kept : kept_) {
    if (kept.file.level == 0) newest[kept.file.number] = kept.newest;
  }
  table::SequenceNumber before = 0;
  for (const auto& [number, sequence] : newest) {
    if (sequence < before) return true;
    before = sequence;
  }
  return false;
}

// The first level that takes so much, so that nothing must be compacted at once.
int Repair::LevelFor(uint64_t bytes) const {
  const LevelTargets targets(options_);
  int level = 1;
  while (level < kLevels - 1 && targets.TargetBytes(level) < bytes) level++;
  return level;
}

// Nothing says which table is newer. Tables that overlap no other stay as they are; the others are
// merged, for within a key the sequence numbers tell.
Status Repair::MergeOverlapping() {
  std::ranges::sort(kept_, [&](const Kept& a, const Kept& b) {
    return comparator_.Compare(a.file.smallest, b.file.smallest) < 0;
  });
  uint64_t bytes = 0;
  for (const Kept& kept : kept_) bytes += kept.file.bytes;
  const int level = LevelFor(bytes);
  std::vector<Kept> merged;
  for (size_t i = 0; i < kept_.size();) {
    std::vector<Kept> cluster{kept_[i]};
    std::string end(table::UserKey(kept_[i].file.largest));
    for (i++; i < kept_.size(); i++) {
      if (comparator_.CompareUser(table::UserKey(kept_[i].file.smallest), end) > 0) break;
      const std::string_view largest = table::UserKey(kept_[i].file.largest);
      if (comparator_.CompareUser(largest, end) > 0) end = largest;
      cluster.push_back(kept_[i]);
    }
    if (Status status = MergeCluster(std::move(cluster), level, &merged); !status.ok()) {
      return status;
    }
  }
  kept_ = std::move(merged);
  return {};
}

Status Repair::MergeCluster(std::vector<Kept> cluster, int level, std::vector<Kept>* merged) {
  if (cluster.size() == 1) {
    cluster.front().file.level = level;
    merged->push_back(std::move(cluster.front()));
    return {};
  }
  Say("merging " + std::to_string(cluster.size()) + " tables that overlap");
  compaction::Job job;
  job.files = files_;
  job.level = 0;
  job.output_level = level;
  job.oldest_snapshot = table::kSequenceMax;
  job.comparator = &comparator_;
  job.format = format_;
  job.output_bytes_max = options_.max_file_size;
  for (const Kept& kept : cluster) {  // by their smallest keys
    const auto fits = [&](const std::vector<compaction::JobTable>& run) {
      return comparator_.CompareUser(table::UserKey(run.back().largest),
                                     table::UserKey(kept.file.smallest)) < 0;
    };
    auto run = std::ranges::find_if(job.runs, fits);
    if (run == job.runs.end()) run = job.runs.emplace(job.runs.end());
    run->push_back(
        {kept.file.number, kept.file.bytes, kept.path, kept.file.smallest, kept.file.largest});
    GiveUpTable(kept.path);
  }
  compaction::JobHost host;
  host.new_output = [this] {
    const uint64_t number = next_file_++;
    const std::string path = TableFileName(dir_, number);
    made_.insert(path);
    return compaction::JobHost::NewFile{number, path};
  };
  compaction::JobResult result = compaction::NewCpuExecutor()->Run(job, host);
  report_.tables_merged += cluster.size();
  for (compaction::OutputTable& output : result.outputs) {
    Kept kept;
    kept.path = output.path;
    kept.file = {level, output.number, output.bytes, std::move(output.smallest),
                 std::move(output.largest)};
    merged->push_back(std::move(kept));
  }
  return result.status;
}

}  // namespace weft::lsm
