// tool/top/screen.h: what `weft top` shows of a server, as lines of plain text.
//
// Threads   pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tool/top/sample.h"

namespace weft::tool {

// What there is to show. No activity: there is only one sample yet.
struct View {
  std::string address;
  Sample sample;
  std::optional<Activity> activity;
  std::string trouble;  // why there is nothing newer; empty: there is
};

// For a screen of so many columns. What is too long goes on in the next line, indented: nothing is
// cut. No limit for `columns` of 0.
std::vector<std::string> ScreenLines(const View& view, size_t columns);

// Those that a screen of so many rows has room for; then the last one says how many more there are.
std::vector<std::string> FitRows(std::vector<std::string> lines, size_t rows, size_t columns);

// One line, for a log.
std::string LogLine(const View& view);

// One line of JSON.
std::string JsonLine(const View& view);

}  // namespace weft::tool
