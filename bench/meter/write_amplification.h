// bench/meter/write_amplification.h: bytes of tables that a store wrote for each byte it was given,
// by the target's report of its own work (Target::Figures).
//
// Threads   pure.
// Source    paper 001, section 2; LevelDB's and RocksDB's statistics have both figures.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/meter/reading.h"

namespace weft::bench {

// Names in a target's figures, both counted since it was opened.
inline constexpr const char* kFigureTableBytesWritten = "table_bytes_written";
inline constexpr const char* kFigureUserBytesWritten = "user_bytes_written";

// For the time between two figures of one target.
Reading WriteAmplification(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace weft::bench
