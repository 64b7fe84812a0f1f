#include "sim/trace/file_trace.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

namespace weft::sim {
namespace {

constexpr size_t kPieceRecords = 64u << 10;
constexpr size_t kPieceSlots = 64u << 10;
static_assert(sizeof(Record) == kTraceRecordBytes);

std::string CorePath(const std::string& folder, int core) {
  return fmt::format("{}/core-{}.trace", folder, core);
}
std::string LayoutPath(const std::string& folder) { return folder + "/layout.bin"; }

Status CorruptFile(const std::string& path, const std::string& what) {
  return {Code::kCorruption, path + ": " + what};
}

Result<uint64_t> SizeOf(const std::string& path, std::FILE* file) {
  struct stat facts;
  if (fstat(fileno(file), &facts) != 0) return Status::FromErrno("look at " + path, errno);
  return static_cast<uint64_t>(facts.st_size);
}

// False where fewer were there.
Result<bool> ReadAll(const std::string& path, std::FILE* file, void* room, size_t bytes) {
  if (std::fread(room, 1, bytes, file) == bytes) return true;
  if (std::ferror(file) != 0) return Status::FromErrno("read " + path, errno);
  return false;
}

// Text traces have no log; theirs is nothing above all addresses.
bool HasLogBeyond(const StoreShape& shape, uint64_t memory_bytes) {
  return shape.log_limit > shape.log_base && shape.log_limit > memory_bytes;
}

// A file that is complete once Close says so.
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)), file_(std::fopen(path_.c_str(), "wb")) {
    Note(file_ != nullptr);
  }
  ~NewFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void Append(const void* bytes, size_t count) {
    if (errno_ == 0) Note(std::fwrite(bytes, 1, count, file_) == count);
  }
  void Rewind() {
    if (errno_ == 0) Note(std::fseek(file_, 0, SEEK_SET) == 0);
  }
  Status Close() {
    if (file_ != nullptr && std::fclose(file_) != 0) Note(false);
    file_ = nullptr;
    return errno_ == 0 ? Status::Ok() : Status::FromErrno("write " + path_, errno_);
  }

 private:
  void Note(bool went_well) {
    if (!went_well && errno_ == 0) errno_ = errno;
  }

  const std::string path_;
  std::FILE* file_;
  int errno_ = 0;  // of the first failure
};

Status WriteCore(TraceSource& source, int core, const std::string& folder, uint64_t records_max) {
  NewFile file(CorePath(folder, core));
  TraceHeader header{.cores = source.cores(), .core = core, .shape = source.shape()};
  char bytes[kTraceHeaderBytes];
  Encode(header, bytes);
  file.Append(bytes, sizeof bytes);
  for (Record record; header.records < records_max; ++header.records) {
    Result<bool> more = source.Next(core, &record);
    if (!more) return more.error();
    if (!*more) break;
    file.Append(&record, sizeof record);
  }
  file.Rewind();
  Encode(header, bytes);
  file.Append(bytes, sizeof bytes);
  return file.Close();
}

Status WriteLayout(const TraceSource& source, const std::string& folder) {
  const TableImage table = source.InitialTable();
  NewFile file(LayoutPath(folder));
  for (uint64_t bucket = 0; bucket < table.buckets(); ++bucket) {
    for (int slot = 0; slot < table.slots_per_bucket(); ++slot) {
      char bytes[kLayoutSlotBytes];
      Encode(table.At(bucket, slot), bytes);
      file.Append(bytes, sizeof bytes);
    }
  }
  return file.Close();
}

}  // namespace

Result<FileTrace::CoreFile> FileTrace::OpenCore(const std::string& folder, int core,
                                                TraceHeader* header) {
  CoreFile opened;
  opened.path = CorePath(folder, core);
  opened.file.reset(std::fopen(opened.path.c_str(), "rb"));
  if (opened.file == nullptr) return Status::FromErrno("open " + opened.path, errno);
  Result<uint64_t> size = SizeOf(opened.path, opened.file.get());
  if (!size) return size.error();
  char bytes[kTraceHeaderBytes];
  Result<bool> whole = ReadAll(opened.path, opened.file.get(), bytes, sizeof bytes);
  if (!whole) return whole.error();
  if (!*whole) {
    return CorruptFile(opened.path, fmt::format("cut short in its header: {} of {} bytes", *size,
                                                kTraceHeaderBytes));
  }
  Result<TraceHeader> decoded = DecodeHeader(bytes);
  if (!decoded) return CorruptFile(opened.path, std::string(decoded.error().message()));
  *header = *decoded;
  if (header->core != core)
    return CorruptFile(opened.path, fmt::format("it is core {}'s", header->core));
  const uint64_t held = (*size - kTraceHeaderBytes) / kTraceRecordBytes;
  if (held < header->records) {
    return CorruptFile(opened.path, fmt::format("record {} of {} is cut short or missing", held + 1,
                                                header->records));
  }
  if (*size != kTraceHeaderBytes + header->records * kTraceRecordBytes) {
    return CorruptFile(opened.path,
                       fmt::format("bytes after the last record, which is {}", header->records));
  }
  opened.records = header->records;
  return opened;
}

Result<std::unique_ptr<FileTrace>> FileTrace::Open(const std::string& folder,
                                                   uint64_t memory_bytes) {
  std::unique_ptr<FileTrace> trace(new FileTrace(memory_bytes));
  int cores = 1;
  for (int core = 0; core < cores; ++core) {
    TraceHeader header;
    Result<CoreFile> file = OpenCore(folder, core, &header);
    if (!file) return file.error();
    if (core == 0) {
      cores = header.cores;
      trace->shape_ = header.shape;
      if (HasLogBeyond(header.shape, memory_bytes)) {
        return CorruptFile(
            file->path, fmt::format("a log of {:#x} to {:#x}, in a memory of {:#x}",
                                    header.shape.log_base, header.shape.log_limit, memory_bytes));
      }
    } else if (header.cores != cores || !(header.shape == trace->shape_)) {
      return CorruptFile(file->path, "its header is from another trace than core 0's");
    }
    trace->files_.push_back(std::move(*file));
  }
  const Status status = trace->ReadLayout(folder);
  if (!status.ok()) return status;
  return trace;
}

Status FileTrace::ReadLayout(const std::string& folder) {
  const std::string path = LayoutPath(folder);
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return Status::FromErrno("open " + path, errno);
  Result<uint64_t> size = SizeOf(path, file.get());
  if (!size) return size.error();
  const uint64_t slots = shape_.buckets * static_cast<uint64_t>(shape_.slots_per_bucket);
  if (*size != slots * kLayoutSlotBytes) {
    return CorruptFile(path, fmt::format("{} bytes, but {} slots have {}", *size, slots,
                                         slots * kLayoutSlotBytes));
  }
  table_ = TableImage(shape_.buckets, shape_.slots_per_bucket);
  std::vector<char> piece(std::min<uint64_t>(kPieceSlots, slots) * kLayoutSlotBytes);
  for (uint64_t number = 0; number < slots; ++number) {
    const size_t at = number % kPieceSlots * kLayoutSlotBytes;
    if (at == 0) {
      const size_t bytes = std::min<uint64_t>(kPieceSlots, slots - number) * kLayoutSlotBytes;
      Result<bool> whole = ReadAll(path, file.get(), piece.data(), bytes);
      if (!whole) return whole.error();
      if (!*whole)
        return CorruptFile(path, fmt::format("slot {} is cut short or missing", number + 1));
    }
    const TableSlot slot =
        DecodeSlot(std::span<const char, kLayoutSlotBytes>(&piece[at], kLayoutSlotBytes));
    if (slot.bytes > 0 && (slot.addr >= memory_bytes_ || slot.bytes > memory_bytes_ - slot.addr)) {
      return CorruptFile(
          path, fmt::format("slot {}: {} bytes at {:#x} are not in a memory of {:#x}", number + 1,
                            slot.bytes, slot.addr, memory_bytes_));
    }
    table_.At(number / static_cast<uint64_t>(shape_.slots_per_bucket),
              static_cast<int>(number % static_cast<uint64_t>(shape_.slots_per_bucket))) = slot;
  }
  return Status::Ok();
}

Status FileTrace::ReadPiece(CoreFile* file) {
  file->piece.resize(std::min<uint64_t>(kPieceRecords, file->records - file->read));
  file->at = 0;
  Result<bool> whole = ReadAll(file->path, file->file.get(), file->piece.data(),
                               file->piece.size() * sizeof(Record));
  if (!whole) return whole.error();
  if (!*whole) {
    return CorruptFile(file->path, fmt::format("the records after {} are missing", file->read));
  }
  file->read += file->piece.size();
  return Status::Ok();
}

Result<bool> FileTrace::Next(int core, Record* record) {
  CoreFile& file = files_[static_cast<size_t>(core)];
  if (file.at == file.piece.size()) {
    if (file.read == file.records) return false;
    const Status status = ReadPiece(&file);
    if (!status.ok()) return status;
  }
  *record = file.piece[file.at];
  const Status status = CheckRecord(*record, shape_, memory_bytes_, file.handed_out);
  if (!status.ok()) {
    const uint64_t number = file.read - file.piece.size() + file.at + 1;
    return CorruptFile(file.path, fmt::format("record {}: {}", number, status.message()));
  }
  ++file.at;
  file.handed_out.Add(*record);
  return true;
}

Status WriteTrace(TraceSource& source, const std::string& folder, uint64_t records_max) {
  Status status = CheckShape(source.shape());
  if (!status.ok()) return status;
  if (source.cores() < 1 || source.cores() > kTraceCoresMax) {
    return {Code::kInvalidArgument,
            fmt::format("a trace has 1 to {} cores, not {}", kTraceCoresMax, source.cores())};
  }
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return Status::FromErrno("make the folder " + folder, failure.value());
  status = WriteLayout(source, folder);
  for (int core = 0; status.ok() && core < source.cores(); ++core) {
    status = WriteCore(source, core, folder, records_max);
  }
  return status;
}

}  // namespace weft::sim
