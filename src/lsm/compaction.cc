// The compaction that a picker made, as an edit and as a job.
#include "lsm/compaction_picker.h"

namespace weft::lsm {
namespace {

compaction::JobTable ToJobTable(const FileMeta& file, const TableCache& tables) {
  return {file.number, file.bytes, tables.PathOf(file.number), file.smallest, file.largest};
}

std::vector<compaction::JobTable> ToRun(std::span<const FileRef> files, const TableCache& tables) {
  std::vector<compaction::JobTable> run;
  run.reserve(files.size());
  for (const FileRef& file : files) run.push_back(ToJobTable(*file, tables));
  return run;
}

}  // namespace

void Compaction::AddTo(VersionEdit* edit) const {
  if (!pointer.empty()) edit->compact_pointers.emplace_back(level, pointer);
  for (const FileRef& file : inputs[0]) edit->RemoveFile(level, file->number);
  for (const FileRef& file : inputs[1]) edit->RemoveFile(output_level, file->number);
  if (!trivial_move) return;
  const FileMeta& file = *inputs[0][0];
  edit->AddFile(output_level, file.number, file.bytes, file.smallest, file.largest);
}

compaction::Job Compaction::ToJob(FileSystem* files, const DbOptions& options,
                                  const table::TableFormat& format,
                                  table::SequenceNumber oldest_snapshot) const {
  const TableCache& tables = *version->tables();
  compaction::Job job;
  job.files = files;
  job.level = level;
  job.output_level = output_level;
  if (level == 0) {
    // In the level's order: the newest first.
    for (const FileRef& file : inputs[0]) job.runs.push_back(ToRun({&file, 1}, tables));
  } else {
    job.runs.push_back(ToRun(inputs[0], tables));
  }
  if (!inputs[1].empty()) job.runs.push_back(ToRun(inputs[1], tables));
  job.oldest_snapshot = oldest_snapshot;
  if (options.lifetime) {
    const ValueLifetime::Limits limits = options.lifetime->limits();
    job.lifetime = {options.lifetime->expiry_offset, options.lifetime->generation_offset,
                    limits.now_s, limits.generation_floor};
  }
  const std::string_view begin = smallest;
  const std::string_view end = largest;
  for (int deeper = output_level + 1; deeper < kLevels; ++deeper) {
    std::vector<compaction::UserKeySpan>& spans = job.deeper.emplace_back();
    for (const FileRef& file : version->OverlappingInputs(deeper, {&begin, &end})) {
      spans.push_back({std::string(table::UserKey(file->smallest)),
                       std::string(table::UserKey(file->largest))});
    }
  }
  job.grandparents = ToRun(grandparents, tables);
  job.grandparent_overlap_bytes_max = GrandparentOverlapBytesMax(options.max_file_size);
  job.comparator = &version->comparator();
  job.format = format;
  job.output_bytes_max = options.max_file_size;
  job.verify_outputs = options.verify_compaction;
  return job;
}

}  // namespace weft::lsm
