// tool/db/dump_file.h: one file of a store as text: a log's batches, a table's blocks and entries,
// a manifest's edits.
//
// Damage is told where it is met, and what follows it is still shown.
//
// Threads   one at a time.
#pragma once

#include <cstdint>
#include <string>

#include "tool/console.h"
#include "tool/text_form.h"

namespace weft::tool {

struct DumpStyle {
  bool keys_only = false;
  bool layout_only = false;  // of a table: its blocks, without their entries
  Form values = Form::kEscaped;
  uint64_t entries_max = UINT64_MAX;
};

// Prints the file at `path`; its name says what it is.
Exit DumpFile(const Console& console, const std::string& path, const DumpStyle& style);

}  // namespace weft::tool
