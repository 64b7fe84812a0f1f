#include "lsm/record_window.h"

#include <algorithm>
#include <utility>

#include "base/read_around.h"
#include "lsm/log_reader.h"

namespace weft::lsm {

// The sure records of a file, in order.
class RecordWindow::Ahead {
 public:
  Ahead(FileSystem* files, const std::string& path, RecordKind kind) : kind_(kind) {
    auto file = base::AroundFile::Open(files, path);
    if (!file) return;
    file_ = std::move(*file);
    reader_ = std::make_unique<LogReader>(file_.get(), nullptr, LogReader::Mode::kNextBlock);
    reader_->Expect(kind);
  }
  // The first from `offset` on with a number above `before`. Neither of the two gets lower.
  std::optional<At> Next(uint64_t offset, uint64_t before) {
    while (reader_ != nullptr && !(next_ && next_->offset >= offset && next_->number > before)) {
      next_.reset();
      std::string_view record;
      if (!reader_->Read(&record)) {
        reader_ = nullptr;
        break;
      }
      if (const auto numbers = NumbersOf(kind_, record)) {
        next_ = At{numbers->first, reader_->record_offset()};
      }
    }
    return next_;
  }

 private:
  const RecordKind kind_;
  std::unique_ptr<base::AroundFile> file_;
  std::unique_ptr<LogReader> reader_;  // none behind the last
  std::optional<At> next_;
};

RecordWindow::RecordWindow(FileSystem* files, std::string path, RecordKind kind,
                           std::optional<uint64_t> before)
    : files_(files), path_(std::move(path)), kind_(kind), before_(before) {}

RecordWindow::~RecordWindow() = default;

void RecordWindow::Note(std::string_view record, bool is_sure, uint64_t end) {
  const auto numbers = NumbersOf(kind_, record);
  // Numbers that do not rise were never written by a store.
  if (!numbers || numbers->first <= taken_) return;
  taken_ = std::max(taken_, numbers->last);
  if (is_sure) sure_ = At{numbers->last, end};
}

SearchTerms RecordWindow::TermsFor(uint64_t offset, size_t bytes) {
  const auto place = [&](uint64_t at) {
    return static_cast<int64_t>(at) - static_cast<int64_t>(offset);
  };
  SearchTerms terms;
  terms.kind = kind_;
  terms.before = taken_;
  if (sure_) {
    terms.anchor = SearchTerms::At{sure_->number, place(sure_->offset)};
  } else if (before_) {
    terms.anchor = SearchTerms::At{*before_, place(0)};
  }
  if (const auto behind = NextBehind(offset + bytes)) {
    terms.behind = SearchTerms::At{behind->number, place(behind->offset)};
  }
  return terms;
}

std::optional<RecordWindow::At> RecordWindow::NextBehind(uint64_t offset) {
  if (ahead_ == nullptr) ahead_ = std::make_unique<Ahead>(files_, path_, kind_);
  if (const auto next = ahead_->Next(offset, taken_)) return next;
  if (sure_ || before_) return std::nullopt;
  if (!last_of_all_) last_of_all_ = LastOfAll();
  if (!*last_of_all_ || (*last_of_all_)->offset < offset) return std::nullopt;
  return (*last_of_all_)->number > taken_ ? *last_of_all_ : std::nullopt;
}

std::optional<RecordWindow::At> RecordWindow::LastOfAll() const {
  auto file = base::AroundFile::Open(files_, path_);
  if (!file) return std::nullopt;
  LogReader reader(file->get(), nullptr, LogReader::Mode::kSalvage);
  reader.Expect(kind_);
  std::optional<At> last;
  std::string_view record;
  while (reader.Read(&record)) {
    if (const auto numbers = NumbersOf(kind_, record)) {
      last = At{numbers->first, reader.record_offset()};
    }
  }
  return last;
}

}  // namespace weft::lsm
