// lsm/record_window.h: which numbers a record may have that a log or a manifest is searched for.
//
// The records around a place that is searched are sure: they stand where a block begins, or where a
// length leads that can be trusted. What lies between them has a number between theirs. The next of
// them is looked up ahead; where there is none, the last record that a search finds takes its
// place: it stands behind all values but its own.
//
// Threads   one.
// Errors    none: where the file cannot be read, nothing is known of it.
// Cost      reads the file once more, as far as the next sure record, and a third time where it has
//           none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lsm/log_resync.h"
#include "lsm/record_kind.h"
#include "weft/file_system.h"

namespace weft::lsm {

class RecordWindow {
 public:
  // `path` is read for what stands ahead. `before`: the last number of what goes before the file,
  // if that is known.
  RecordWindow(FileSystem* files, std::string path, RecordKind kind,
               std::optional<uint64_t> before);
  ~RecordWindow();

  // A record that was delivered, with the byte behind it.
  void Note(std::string_view record, bool is_sure, uint64_t end);
  // Of the sure ones; 0: there was none.
  uint64_t last_sure() const { return sure_ ? sure_->number : 0; }
  // For a search in the block at `offset`.
  SearchTerms TermsFor(uint64_t offset, size_t bytes);

 private:
  struct At {
    uint64_t number = 0;
    uint64_t offset = 0;
  };
  class Ahead;
  std::optional<At> NextBehind(uint64_t offset);
  std::optional<At> LastOfAll() const;

  FileSystem* const files_;
  const std::string path_;
  const RecordKind kind_;
  const std::optional<uint64_t> before_;
  uint64_t taken_ = 0;
  std::optional<At> sure_;
  std::unique_ptr<Ahead> ahead_;
  std::optional<std::optional<At>> last_of_all_;  // once it was looked for
};

}  // namespace weft::lsm
