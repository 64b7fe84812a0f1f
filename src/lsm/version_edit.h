// lsm/version_edit.h: a change of the set of tables: one record of the manifest.
//
// Layout    a sequence of fields, each a varint32 tag and what it says; docs/formats/manifest.md.
// Threads   a value.
// Errors    DecodeFrom: kCorruption for anything EncodeTo does not write: unknown tags, levels past
//           the last, ends that are no internal keys.
// Source    LevelDB's manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "table/internal_key.h"
#include "weft/status.h"

namespace weft::lsm {

struct NewFile {
  int level = 0;
  uint64_t number = 0;
  uint64_t bytes = 0;
  std::string smallest;  // internal keys
  std::string largest;

  friend bool operator==(const NewFile&, const NewFile&) = default;
};

struct VersionEdit {
  std::optional<std::string> comparator;  // its name; only in a manifest's first record
  std::optional<uint64_t> log_number;     // logs below it are in tables
  std::optional<uint64_t> prev_log_number;
  // Of a manifest; only in its first record. LevelDB reads it as a previous log number that the
  // same record takes back.
  std::optional<uint64_t> identity;
  std::optional<uint64_t> next_file_number;
  std::optional<table::SequenceNumber> last_sequence;
  std::vector<std::pair<int, std::string>> compact_pointers;  // level, internal key
  std::set<std::pair<int, uint64_t>> removed_files;           // level, number
  std::vector<NewFile> new_files;

  void AddFile(int level, uint64_t number, uint64_t bytes, std::string smallest,
               std::string largest) {
    new_files.push_back({level, number, bytes, std::move(smallest), std::move(largest)});
  }
  void RemoveFile(int level, uint64_t number) { removed_files.emplace(level, number); }

  void EncodeTo(std::string* to) const;
  // Takes the place of what it held; empty after an error.
  Status DecodeFrom(std::string_view record);
  // Takes one field off the front of *input, of which it keeps nothing; false where it is none.
  static bool PassField(std::string_view* input);
  // One line a field, for people.
  std::string DebugString() const;

  friend bool operator==(const VersionEdit&, const VersionEdit&) = default;
};

// An internal key for people: 'user key' @ sequence : type. Within the quotes there is no other
// quote, and a backslash only before what stands for a byte. `value`, `deletion`: the types' words.
std::string KeyText(std::string_view internal_key, std::string_view value = "value",
                    std::string_view deletion = "deletion");

}  // namespace weft::lsm
