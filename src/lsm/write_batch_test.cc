// Write batches: their bytes, what reads them back, and bytes that are none.
#include "weft/write_batch.h"

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lsm/memtable.h"
#include "lsm/write_batch_internal.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Lister final : public WriteBatch::Handler {
 public:
  void Put(std::string_view key, std::string_view value) override {
    changes.push_back("put " + std::string(key) + "=" + std::string(value));
  }
  void Delete(std::string_view key) override { changes.push_back("delete " + std::string(key)); }
  std::vector<std::string> changes;
};

std::vector<std::string> Changes(const WriteBatch& batch) {
  Lister lister;
  EXPECT_TRUE(batch.Iterate(&lister).ok());
  return lister.changes;
}

WriteBatch Sample() {
  WriteBatch batch;
  batch.Put("foo", "bar");
  batch.Delete("box");
  batch.Put("", std::string(200, 'v'));
  return batch;
}

TEST(WriteBatch, HoldsItsChangesInOrder) {
  WriteBatch batch = Sample();
  EXPECT_EQ(batch.Count(), 3u);
  EXPECT_THAT(Changes(batch),
              ElementsAre("put foo=bar", "delete box", "put =" + std::string(200, 'v')));
  batch.Clear();
  EXPECT_EQ(batch.Count(), 0u);
  EXPECT_EQ(batch.ApproximateSize(), 12u);
  EXPECT_THAT(Changes(batch), IsEmpty());
}

TEST(WriteBatch, HasLevelDbsBytes) {
  WriteBatch batch;
  batch.Put("k\xff", "v");
  batch.Delete(std::string("\0", 1));
  WriteBatchInternal::SetSequence(&batch, 0x0102030405060708);
  EXPECT_EQ(batch.contents(), std::string("\x08\x07\x06\x05\x04\x03\x02\x01"
                                          "\x02\0\0\0"
                                          "\x01\x02k\xff\x01v"
                                          "\0\x01\0",
                                          21));
  EXPECT_EQ(WriteBatchInternal::Sequence(batch), 0x0102030405060708u);
}

TEST(WriteBatch, AppendsOthersAndItself) {
  WriteBatch batch;
  WriteBatch more;
  WriteBatchInternal::SetSequence(&batch, 100);
  WriteBatchInternal::SetSequence(&more, 300);
  batch.Append(more);
  EXPECT_EQ(batch.Count(), 0u);
  more.Put("a", "1");
  batch.Append(more);
  more.Delete("b");
  batch.Append(more);
  batch.Append(batch);
  EXPECT_THAT(Changes(batch),
              ElementsAre("put a=1", "put a=1", "delete b", "put a=1", "put a=1", "delete b"));
  EXPECT_EQ(WriteBatchInternal::Sequence(batch), 100u);
}

TEST(WriteBatch, TakesItsOwnBytesAndNoOthers) {
  const WriteBatch sample = Sample();
  WriteBatch batch;
  ASSERT_TRUE(batch.SetContents(sample.contents()).ok());
  EXPECT_EQ(batch.contents(), sample.contents());
  for (size_t length = 0; length < sample.contents().size(); ++length) {
    const Status status = batch.SetContents(sample.contents().substr(0, length));
    EXPECT_EQ(status.code(), Code::kCorruption) << length;
    EXPECT_EQ(batch.Count(), 0u);
  }
  for (const char count : {0, 2, 4}) {
    std::string bytes(sample.contents());
    bytes[8] = count;
    EXPECT_EQ(batch.SetContents(bytes).code(), Code::kCorruption);
  }
  std::string bytes(sample.contents());
  bytes[12] = 2;
  EXPECT_EQ(batch.SetContents(bytes).code(), Code::kCorruption) << "no kind of change";
}

TEST(WriteBatch, GoesIntoAMemTableUnderRisingSequenceNumbers) {
  const table::InternalComparator comparator(BytewiseComparator());
  lsm::MemTable memtable(comparator);
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("a", "2");
  batch.Delete("a");
  WriteBatchInternal::SetSequence(&batch, 100);
  ASSERT_TRUE(WriteBatchInternal::InsertInto(batch, &memtable).ok());
  std::string value;
  EXPECT_EQ(memtable.Get("a", 99, &value), lsm::MemTable::Found::kNothing);
  EXPECT_EQ(memtable.Get("a", 100, &value), lsm::MemTable::Found::kValue);
  EXPECT_EQ(value, "1");
  EXPECT_EQ(memtable.Get("a", 101, &value), lsm::MemTable::Found::kValue);
  EXPECT_EQ(value, "2");
  EXPECT_EQ(memtable.Get("a", 102, &value), lsm::MemTable::Found::kDeletion);
}

TEST(WriteBatch, IsRefusedByTheMemTableWhereItsBytesAreWrong) {
  const table::InternalComparator comparator(BytewiseComparator());
  lsm::MemTable memtable(comparator);
  std::string bytes(Sample().contents());
  bytes.pop_back();
  EXPECT_EQ(WriteBatchInternal::InsertInto(bytes, &memtable).code(), Code::kCorruption);
  EXPECT_EQ(WriteBatchInternal::InsertInto("short", &memtable).code(), Code::kCorruption);
  WriteBatch late = Sample();
  WriteBatchInternal::SetSequence(&late, table::kSequenceMax - 1);
  EXPECT_EQ(WriteBatchInternal::InsertInto(late, &memtable).code(), Code::kCorruption);
}

TEST(WriteBatch, StaysAsItWasWhereThereIsNoMemory) {
  WriteBatch batch;
  batch.Put("a", "1");
  const std::string before(batch.contents());
  const std::string_view huge("x", std::numeric_limits<ptrdiff_t>::max());
  EXPECT_THROW(batch.Put("b", huge), std::length_error);
  EXPECT_THROW(batch.Put(huge, "2"), std::length_error);
  EXPECT_THROW(batch.Delete(huge), std::length_error);
  EXPECT_EQ(batch.contents(), before);
  EXPECT_THAT(Changes(batch), ElementsAre("put a=1"));
}

}  // namespace
}  // namespace weft
