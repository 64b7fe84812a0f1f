// sim/trace/file_trace.h: a trace in a folder, as a source; and how to write one there.
//
// Records are checked as they are read (file_format.h). A file's size is checked against its header
// when it is opened, so a file that was cut short is found before the first record.
//
// Threads   one owner.
// Errors    kIoError: the system's, also if there is no such file. kCorruption: a file is no trace;
//           the message has the file, and the number of the record, the first being 1.
//           kInvalidArgument: a store that no header can describe.
// Cost      a record is copied once; files are read in pieces of 64 Ki records.
// Source    the simulator's specification, section 3.4.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sim/trace/file_format.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

class FileTrace : public TraceSource {
 public:
  // `memory_bytes`: addresses are below it.
  static Result<std::unique_ptr<FileTrace>> Open(const std::string& folder, uint64_t memory_bytes);

  int cores() const override { return static_cast<int>(files_.size()); }
  const StoreShape& shape() const override { return shape_; }
  TableImage InitialTable() const override { return table_; }
  Result<bool> Next(int core, Record* record) override;
  uint64_t records(int core) const { return files_[static_cast<size_t>(core)].records; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct CoreFile {
    std::string path;
    std::unique_ptr<std::FILE, Closer> file;
    uint64_t records = 0;
    uint64_t read = 0;  // of them, into `piece`
    RecordsBefore handed_out;
    std::vector<Record> piece;
    size_t at = 0;  // in it
  };

  explicit FileTrace(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}
  static Result<CoreFile> OpenCore(const std::string& folder, int core, TraceHeader* header);
  Status ReadLayout(const std::string& folder);
  static Status ReadPiece(CoreFile* file);

  const uint64_t memory_bytes_;
  StoreShape shape_;
  TableImage table_;
  std::vector<CoreFile> files_;
};

// Writes the records that the source still has, each core's until it has no more or `records_max`
// of it are written. The folder is made if there is none; files of a trace in it are replaced.
Status WriteTrace(TraceSource& source, const std::string& folder, uint64_t records_max);

}  // namespace weft::sim
