// Writing text traces.

#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include "sim/dram/organization.h"
#include "sim/trace/text_trace.h"

namespace weft::sim {
namespace {

class TextWriter {
 public:
  TextWriter(std::ofstream* out, TextFormat format, const TextOptions& options)
      : out_(*out), format_(format), options_(options) {
    if (format == TextFormat::kCsv) {
      out_ << "Inst. Count,Inst. Addr,Type,Mem. Addr,Req. Size\n";
    }
  }

  void Write(const Record& record) {
    instructions_ += record.gap;
    plains_ += record.gap;
    if (!record.IsAccess()) return;
    const bool is_write = record.kind == RecordKind::kWrite;
    if (format_ == TextFormat::kCsv) {
      out_ << fmt::format("{},0x0,{},{:#x},{}\n", instructions_, is_write ? 'W' : 'R', record.addr,
                          record.size);
    } else {
      const uint64_t last = (record.addr + record.size - 1) / kLineBytes;
      for (uint64_t line = record.addr / kLineBytes; line <= last; ++line) {
        WriteLine(line * kLineBytes, is_write);
      }
    }
    ++instructions_;
  }
  void Finish() { FlushO3(); }

 private:
  void WriteLine(uint64_t addr, bool is_write) {
    switch (format_) {
      case TextFormat::kDramsim3:
        out_ << fmt::format("{:#x} {} {}\n", addr, is_write ? "WRITE" : "READ",
                            instructions_ / options_.instructions_per_clock);
        return;
      case TextFormat::kRamulator2LoadStore:
        out_ << fmt::format("{} {:#x}\n", is_write ? "ST" : "LD", addr);
        return;
      default: WriteO3(addr, is_write);
    }
  }

  void WriteO3(uint64_t addr, bool is_write) {
    if (is_write && has_read_ && !has_written_) {
      written_ = addr;
      has_written_ = true;
      return;
    }
    FlushO3();
    before_read_ = plains_;
    plains_ = 0;
    read_ = written_ = addr;
    has_read_ = true;
    has_written_ = is_write;
  }
  void FlushO3() {
    if (!has_read_) return;
    out_ << fmt::format("{} {}", before_read_, read_);
    if (has_written_) out_ << fmt::format(" {}", written_);
    out_ << '\n';
    has_read_ = false;
  }

  std::ofstream& out_;
  const TextFormat format_;
  const TextOptions options_;
  uint64_t instructions_ = 0;
  // A line of kRamulator2O3 that isn't written yet, and the plain instructions since it began.
  bool has_read_ = false;
  bool has_written_ = false;
  uint64_t before_read_ = 0;
  uint64_t read_ = 0;
  uint64_t written_ = 0;
  uint64_t plains_ = 0;
};

}  // namespace

Status WriteTextTrace(TraceSource& source, int core, const std::string& path, TextFormat format,
                      const TextOptions& options) {
  std::ofstream out(path);
  if (!out) return Status::FromErrno("open " + path, errno);
  TextWriter writer(&out, format, options);
  for (Record record;;) {
    const Result<bool> next = source.Next(core, &record);
    if (!next) return next.error();
    if (!next.value()) break;
    writer.Write(record);
  }
  writer.Finish();
  out.close();
  if (!out) return {Code::kIoError, "write " + path};
  return Status::Ok();
}

}  // namespace weft::sim
