// sim/base/text_file.h: results as text, and files of them.
//
// Threads   pure, except for the file.
#pragma once

#include <ios>
#include <string>

#include "weft/status.h"

namespace weft::sim {

// The text as a field of a line of CSV: in quotes if it has a comma, a quote or a break.
std::string CsvField(const std::string& text);

// kIoError: the file can't be opened or written.
Status WriteText(const std::string& path, const std::string& text,
                 std::ios::openmode mode = std::ios::out);

}  // namespace weft::sim
