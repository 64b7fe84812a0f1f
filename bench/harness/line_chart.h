// bench/harness/line_chart.h: figures as lines, in a file that browsers and editors show (SVG).
//
// Threads   one at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/status.h"

namespace weft::bench {

struct LineChart {
  struct Line {
    std::string name;
    std::vector<double> x, y;          // of the same length
    std::vector<double> y_error = {};  // how far the truth may be from y; as many, or none
    std::vector<double> y_low = {}, y_high = {};  // over repetitions; as many, or none
  };
  // A part of the x axis that is shaded.
  struct Band {
    double begin = 0, end = 0;
  };

  // A place of the x axis that has a name.
  struct Tick {
    double x = 0;
    std::string name;
  };

  std::string title, x_name, y_name;
  bool log2_x = false;                     // then all x are above 0
  std::vector<Tick> ticks = {};            // empty: round figures
  bool marks_points = false;               // by dots, without which lines of one point do not show
  std::optional<double> reference_y = {};  // what y is compared with
  std::vector<std::string> notes = {};     // under the chart, a line each
  std::vector<Band> bands;
  std::vector<Line> lines;
};

// The text of the file. y begins at 0. A line without points has no name in the chart but keeps its
// colour from others, so that charts beside each other agree.
std::string ToSvg(const LineChart& chart);
// Several charts, one below the other.
std::string ToSvg(const std::vector<LineChart>& charts);
// kIoError.
Status WriteSvg(const LineChart& chart, const std::string& path);
Status WriteSvg(const std::vector<LineChart>& charts, const std::string& path);

}  // namespace weft::bench
