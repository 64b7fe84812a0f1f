#include "table/run_iterator.h"

#include <optional>
#include <utility>

#include "table/table_iterator.h"

namespace weft::table {

namespace {

class RunIterator final : public Iterator {
 public:
  RunIterator(const KeyOrder& order, const ReadOptions& options, std::unique_ptr<TableRun> run)
      : order_(order), options_(options), run_(std::move(run)) {}

  bool Valid() const override { return it_.has_value() && it_->Valid(); }
  std::string_view key() const override { return it_->key(); }
  std::string_view value() const override { return it_->value(); }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    status_ = {};
    if (!OpenTable(0)) return;
    it_->SeekToFirst();
    GoOn();
  }
  void SeekToLast() override {
    status_ = {};
    if (run_->size() == 0 || !OpenTable(run_->size() - 1)) return;
    it_->SeekToLast();
    GoBack();
  }
  void Seek(std::string_view target) override {
    status_ = {};
    if (!OpenTable(TableFor(target))) return;
    it_->Seek(target);
    GoOn();
  }
  void Next() override {
    it_->Next();
    if (!it_->Valid()) [[unlikely]]
      GoOn();
  }
  void Prev() override {
    it_->Prev();
    if (!it_->Valid()) [[unlikely]]
      GoBack();
  }

 private:
  // The first table whose largest key is not below target; size() where there is none.
  size_t TableFor(std::string_view target) const {
    size_t low = 0;
    size_t high = run_->size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (order_.Compare(run_->LargestKey(middle), target) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // An iterator over table i into it_; none, and false, past the end and where it does not open.
  bool OpenTable(size_t i) {
    if (it_.has_value() && i == open_) return true;
    it_.reset();
    table_.reset();
    if (i >= run_->size()) return false;
    Result<std::shared_ptr<const Table>> table = run_->Open(i);
    if (!table) {
      status_ = table.error();
      return false;
    }
    table_ = std::move(*table);
    open_ = i;
    it_.emplace(table_.get(), options_);
    return true;
  }

  // True where the table's iterator has ended for good: with an error.
  bool Failed() {
    if (it_->ok()) return false;
    status_ = it_->status();
    return true;
  }
  void GoOn() {
    while (!it_->Valid()) {
      if (Failed() || !OpenTable(open_ + 1)) return;
      it_->SeekToFirst();
    }
  }
  void GoBack() {
    while (!it_->Valid()) {
      if (Failed()) return;
      if (open_ == 0) return it_.reset();
      if (!OpenTable(open_ - 1)) return;
      it_->SeekToLast();
    }
  }

  const KeyOrder order_;
  const ReadOptions options_;
  const std::unique_ptr<TableRun> run_;
  std::shared_ptr<const Table> table_;
  std::optional<TableIterator> it_;  // of table open_; none: not valid
  size_t open_ = 0;
  Status status_;
};

}  // namespace

std::unique_ptr<Iterator> NewRunIterator(const KeyOrder& order, const ReadOptions& options,
                                         std::unique_ptr<TableRun> run) {
  return std::make_unique<RunIterator>(order, options, std::move(run));
}

}  // namespace weft::table
