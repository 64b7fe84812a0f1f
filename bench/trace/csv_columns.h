// bench/trace/csv_columns.h: which column of a csv trace has what, and what separates them.
//
// Options   'time=1,key=2,size=3,op=4,ttl=5': numbers from 1. All but the key may be left out.
// Names     as a first line may have them, whatever the case, with - for _:
//             time  time, timestamp, ts, clock_time
//             key   key, id, obj_id, object_id, obj
//             size  size, obj_size, object_size, value_size, bytes
//             op    op, operation
//             ttl   ttl
// Threads   values and pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "weft/status.h"

namespace weft::bench {

// From 0.
struct CsvColumns {
  std::optional<size_t> time, key, size, op, ttl;

  bool operator==(const CsvColumns&) const = default;
};

struct CsvLayout {
  char delimiter = ',';
  size_t columns = 0;  // of each line
  CsvColumns of;
  bool has_names = false;  // in its first line, which is then no request
};

// kInvalidArgument: `text` has not the form above.
Result<CsvColumns> ParseCsvColumns(std::string_view text);

// The layout of a file without options. None: its first line does not name a column of keys.
// kInvalidArgument: it names two for one thing.
Result<std::optional<CsvLayout>> CsvLayoutOfNames(std::string_view first_line);

// The layout of a file with options. Its first line has names if no column of numbers (time, size,
// time to live) has a digit there. Without such a column, it has names if the key's has a name
// above. kInvalidArgument: it has fewer columns than the options name.
Result<CsvLayout> CsvLayoutOf(std::string_view first_line, const CsvColumns& columns);

// The field without the spaces around it, and without quotes.
std::string_view CsvField(std::string_view field);

}  // namespace weft::bench
