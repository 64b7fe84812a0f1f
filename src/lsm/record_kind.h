// lsm/record_kind.h: what tells a file's own records from those that a value of it holds.
//
// A value, or a key, may be a copy of some log or manifest. What stands in it looks whole. But a
// store numbers its records, and the numbers rise: those of batches one by one, those of version
// edits by the files that were made. And a record says itself where it ends, so that a header that
// is lost does not open it to a search.
//
// Threads   pure.
// Layout    docs/formats/write-batch.md, docs/formats/manifest.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace weft::lsm {

enum class RecordKind : uint8_t {
  kAny,    // nothing is known of it
  kBatch,  // a write batch
  kEdit,   // a version edit
};

// The next record begins above `last`. A record that takes no number ends below its first.
struct RecordNumbers {
  uint64_t first = 0;
  uint64_t last = 0;
  // How much is lost without it.
  uint64_t weight() const { return last >= first ? last - first + 1 : 1; }
};

// Of a whole record; nothing where it is none of this kind, or has no numbers. Not for kAny.
std::optional<RecordNumbers> NumbersOf(RecordKind kind, std::string_view record);
// Of a record's beginning, or of one that is damaged further on; nothing where too little is there.
std::optional<RecordNumbers> NumbersOfHead(RecordKind kind, std::string_view bytes);
// Whether `bytes` may be the beginning of a record.
bool MayBegin(RecordKind kind, std::string_view bytes);
// How many of the first of `bytes` belong to the record that begins there, whatever they hold, as
// its own lengths have it. Stops where `is_end` says so of a place at which it may end.
struct RecordExtent {
  size_t bytes = 0;
  bool is_end = false;
};
RecordExtent ExtentOf(RecordKind kind, std::string_view bytes,
                      const std::function<bool(size_t at)>& is_end);

}  // namespace weft::lsm
