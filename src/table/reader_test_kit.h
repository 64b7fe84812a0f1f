// table/reader_test_kit.h: what the tests of the reader share: files in memory, tables made of
// maps, iterators held against a map.
//
// Threads   one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/file_test_kit.h"
#include "table/table.h"
#include "table/table_builder.h"
#include "table/table_iterator.h"
#include "weft/file_system.h"

namespace weft::table {

// A file whose bytes are here. Mapped: readers get pointers to them; else copies.
class MemoryFile final : public RandomAccessFile {
 public:
  MemoryFile(std::string contents, bool mapped) : contents_(std::move(contents)), mapped_(mapped) {}

  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    const size_t begin = std::min<uint64_t>(offset, contents_.size());
    const size_t taken = std::min(bytes, contents_.size() - begin);
    if (taken > 0) std::copy_n(contents_.data() + begin, taken, scratch);
    *result = {scratch, taken};
    return {};
  }
  void WillNeed(uint64_t, size_t) const override { ++asked_ahead_; }
  std::string_view Mapped() const override {
    return mapped_ ? std::string_view(contents_) : std::string_view();
  }
  int asked_ahead() const { return asked_ahead_; }

 private:
  const std::string contents_;
  const bool mapped_;
  mutable int asked_ahead_ = 0;
};

// Orders a map as a comparator orders keys.
struct ByComparator {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, ByComparator>;

inline std::string BuildTable(const TableFormat& format, const Model& model) {
  StringFile file;
  TableBuilder builder(format, &file);
  for (const auto& [key, value] : model) builder.Add(key, value);
  EXPECT_TRUE(builder.Finish().ok());
  return file.contents();
}

inline Result<std::unique_ptr<Table>> OpenTable(const TableReadOptions& options,
                                                std::string contents, bool mapped = true) {
  const uint64_t bytes = contents.size();
  return Table::Open(options, std::make_unique<MemoryFile>(std::move(contents), mapped), bytes,
                     "test.ldb");
}

// Where the iterator should stand.
inline void ExpectAt(const Model& model, Model::const_iterator at, const Iterator& it) {
  ASSERT_TRUE(it.status().ok()) << it.status().ToString();
  ASSERT_EQ(it.Valid(), at != model.end());
  if (at == model.end()) return;
  ASSERT_EQ(it.key(), at->first);
  ASSERT_EQ(it.value(), at->second);
}

inline void ExpectForward(const Model& model, Iterator* it) {
  it->SeekToFirst();
  for (auto at = model.begin(); at != model.end(); ++at) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(model, at, *it));
    it->Next();
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(model, model.end(), *it));
}

inline void ExpectBackward(const Model& model, Iterator* it) {
  it->SeekToLast();
  for (auto at = model.end(); at != model.begin();) {
    --at;
    ASSERT_NO_FATAL_FAILURE(ExpectAt(model, at, *it));
    it->Prev();
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(model, model.end(), *it));
}

// Seeks and steps in any order. `target` makes keys to seek.
template <typename Target>
void ExpectRandomWalk(const Model& model, Iterator* it, Strings* random, int steps,
                      const Target& target) {
  Model::const_iterator at = model.end();
  for (int i = 0; i < steps; ++i) {
    const uint64_t what = random->Below(16);
    if (at == model.end() || what < 2) {
      const uint64_t how = random->Below(8);
      if (how == 0) {
        at = model.begin();
        it->SeekToFirst();
      } else if (how == 1) {
        at = model.empty() ? model.end() : std::prev(model.end());
        it->SeekToLast();
      } else {
        const std::string key = target();
        at = model.lower_bound(key);
        it->Seek(key);
      }
    } else if (what < 9) {
      ++at;
      it->Next();
    } else {
      at = at == model.begin() ? model.end() : std::prev(at);
      it->Prev();
    }
    ASSERT_NO_FATAL_FAILURE(ExpectAt(model, at, *it)) << "step " << i;
  }
}

}  // namespace weft::table
