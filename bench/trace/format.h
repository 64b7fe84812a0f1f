// bench/trace/format.h: the formats of traces, and how a file's format is found.
//
// Threads   pure.
#pragma once

#include <memory>
#include <string>

#include "bench/trace/byte_source.h"
#include "bench/trace/reader.h"
#include "bench/trace/trace.h"
#include "weft/status.h"

namespace weft::bench {

// kInvalidArgument: the options name no format, or columns of one without.
Status CheckFormatOptions(const TraceOptions& options);

// A reader of the format that the options name, or of this one:
//
//   columns in the options         csv
//   oracleGeneral in its name      oracle-general
//   its first line that has text   cloudphysics: its names of columns
//                                  twitter: 7 columns or more, the last but one an operation
//                                  numbers: digits alone
//                                  csv: names of columns, a key's among them
//   bytes that are no text         be32, unless they are known to be no multiple of four
//
// kInvalidArgument: none of these; the message has the formats there are. kCorruption: it is empty.
// REQUIRES: the options are checked.
//
// `*name`: the format that it is read as.
MadeReader MakeReader(std::unique_ptr<ByteSource> source, const TraceOptions& options,
                      std::string* name);

// A file's name, without its folders and without the endings of formats and of compression.
std::string TraceNameOf(const std::string& path);

}  // namespace weft::bench
