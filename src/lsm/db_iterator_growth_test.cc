// What a database's iterator shows while the memtable under it grows.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lsm/db_iterator.h"
#include "lsm/memtable.h"
#include "table/merging_iterator.h"

namespace weft::lsm {
namespace {

using table::InternalComparator;
using table::SequenceNumber;
using table::ValueType;

// A memtable's iterator. In its SeekToLast, but the first one, the writers get ahead: the end that
// a Seek has just left it behind is another one then.
class OvertakenIterator final : public Iterator {
 public:
  OvertakenIterator(MemTable* memtable, SequenceNumber next)
      : memtable_(memtable), next_(next), it_(memtable->NewIterator()) {}

  bool Valid() const override { return it_->Valid(); }
  void SeekToFirst() override { it_->SeekToFirst(); }
  void SeekToLast() override {
    if (calls_++ > 0) {
      for (int i = 0; i < 40; ++i) memtable_->Add(next_++, ValueType::kValue, "y", "too new");
    }
    it_->SeekToLast();
  }
  void Seek(std::string_view target) override { it_->Seek(target); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  std::string_view key() const override { return it_->key(); }
  std::string_view value() const override { return it_->value(); }
  Status status() const override { return it_->status(); }

 private:
  MemTable* const memtable_;
  SequenceNumber next_;
  const std::unique_ptr<Iterator> it_;
  int calls_ = 0;
};

TEST(DbIteratorGrowth, BackwardsShowsNothingTwice) {
  const InternalComparator comparator(BytewiseComparator());
  MemTable older(comparator);
  MemTable active(comparator);
  SequenceNumber sequence = 0;
  // So many versions that they are passed by a seek.
  for (const std::string key : {"a", "b", "c", "x"}) {
    for (int i = 0; i < 40; ++i) older.Add(++sequence, ValueType::kValue, key, "v");
  }
  DbIteratorOptions options;
  options.sequence = sequence;
  std::vector<std::unique_ptr<Iterator>> children;
  children.push_back(std::make_unique<OvertakenIterator>(&active, sequence + 1));
  children.push_back(older.NewIterator());
  const auto it = NewDbIterator(
      comparator, table::NewMergingIterator(&comparator, std::move(children)), options);
  std::string seen;
  for (it->SeekToLast(); it->Valid() && seen.size() < 10; it->Prev()) seen += it->key();
  EXPECT_EQ(seen, "xcba");
  EXPECT_GT(active.entries(), 0u) << "it was not overtaken";
}

}  // namespace
}  // namespace weft::lsm
