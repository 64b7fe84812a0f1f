// weft db load: stores what `dump` printed.
#include <istream>
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/dump_line.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

// Written at once; a larger entry goes alone.
constexpr size_t kBatchBytes = size_t{1} << 20;

// The lines of the file at `path`, or of standard input.
class Lines {
 public:
  Status Open(const Console& console, const std::string& path) {
    name_ = path == "-" ? "standard input" : path;
    if (path == "-") {
      from_ = console.in;
      return from_ != nullptr ? Status()
                              : Status(Code::kInvalidArgument, name_ + ": not available");
    }
    auto file = console.files->NewSequentialFile(path);
    if (!file) return file.error();
    file_ = std::move(*file);
    room_ = std::make_unique_for_overwrite<char[]>(kRoomBytes);
    return {};
  }

  // False at the end, or where reading failed. A last line may lack its end.
  bool Next(std::string* line) {
    line->clear();
    bool any = false;
    while (!rest_.empty() || Fill()) {
      any = true;
      const size_t end = rest_.find('\n');
      line->append(rest_.substr(0, end));
      rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
      if (end != rest_.npos) break;
    }
    number_ += any ? 1 : 0;
    return any && status_.ok();
  }
  const Status& status() const { return status_; }
  // "FILE: line 7", of the last one.
  std::string where() const { return name_ + ": line " + std::to_string(number_); }

 private:
  static constexpr size_t kRoomBytes = 64 << 10;

  bool Fill() {
    if (file_ != nullptr) {
      status_ = file_->Read(kRoomBytes, &rest_, room_.get());
      return status_.ok() && !rest_.empty();
    }
    if (room_ == nullptr) room_ = std::make_unique_for_overwrite<char[]>(kRoomBytes);
    from_->read(room_.get(), kRoomBytes);
    rest_ = {room_.get(), static_cast<size_t>(from_->gcount())};
    if (from_->bad()) status_ = {Code::kIoError, name_ + ": cannot be read"};
    return status_.ok() && !rest_.empty();
  }

  std::string name_;
  std::unique_ptr<SequentialFile> file_;  // null: from_
  std::istream* from_ = nullptr;
  std::unique_ptr<char[]> room_;
  std::string_view rest_;  // in room_, not handed out yet
  uint64_t number_ = 0;
  Status status_;
};

// Puts entries into a store, many at a time.
class Loader {
 public:
  explicit Loader(Db* db) : db_(db) {}

  Status Add(const Entry& entry) {
    batch_.Put(entry.key, entry.value);
    return batch_.ApproximateSize() < kBatchBytes ? Status() : Write(false);
  }
  // What is left, and all of it survives a power cut.
  Status Finish() { return Write(true); }
  uint64_t stored() const { return stored_; }

 private:
  Status Write(bool sync) {
    Status status = db_->Write({.sync = sync}, &batch_);
    if (status.ok()) stored_ += batch_.Count();
    batch_.Clear();
    return status;
  }

  Db* const db_;
  WriteBatch batch_;
  uint64_t stored_ = 0;
};

struct Load {
  StoreFlags store;
  std::string file = "-";
  std::string values = "escaped";
  bool create = false;

  Exit Run(const Console& console) const {
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    // Before the store is made.
    Lines lines;
    if (Status status = lines.Open(console, file); !status.ok()) return Fail(console, status);
    if (Status status = store.CheckOrCreate(console.files, create, &*options); !status.ok()) {
      return Fail(console, status);
    }
    auto db = store.Open(console, &*options);
    if (!db) return Fail(console, db.error());
    Loader loader(db->get());
    Status status = LoadAll(&lines, &loader);
    // Also where a line is bad: what is said to be stored lasts.
    if (Status finished = loader.Finish(); !finished.ok()) status = finished;
    if (!status.ok()) {
      return Fail(console, {status.code(), std::string(status.message()) + "; " +
                                               std::to_string(loader.stored()) +
                                               " entries were stored before that"});
    }
    console.out << loader.stored() << " entries stored\n";
    return Exit::kOk;
  }

  Status LoadAll(Lines* lines, Loader* loader) const {
    const Form form = values == "hex" ? Form::kHex : Form::kEscaped;
    std::string line;
    while (lines->Next(&line)) {
      auto entry = ParseLine(line, form);
      if (!entry) {
        return {entry.error().code(), lines->where() + ": " + std::string(entry.error().message())};
      }
      if (Status status = loader->Add(*entry); !status.ok()) return status;
    }
    return lines->status();
  }
};

}  // namespace

Action DeclareLoad(Arguments* arguments) {
  const auto load = std::make_shared<Load>();
  load->store.AddTo(arguments, true);
  arguments->AddOptionalWord("FILE", "output of dump; - or none: standard input", &load->file);
  arguments->AddChoice("--values", "FORM",
                       "form of values in lines of text: escaped (default) or hex", &load->values,
                       {"escaped", "hex"});
  arguments->AddFlag("--create", "create the store if it does not exist", &load->create);
  return [load](const Console& console) { return load->Run(console); };
}

}  // namespace weft::tool
