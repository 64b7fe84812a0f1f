// sim/figure/catalogue.h: the figures of paper 004's evaluation, and some of our own.
//
//     5a, 5b, 5c   values of one size (fixed_figures.cc)
//     6, 7, 8, 9   the twelve mixes (mix_figures.cc)
//     load, ...    what the paper leaves open (other_figures.cc)
//     trace-...    a recorded trace instead of a workload (trace_figures.cc)
//
// Threads   pure.
// Errors    kInvalidArgument: no figure of that name, or it needs a trace.
// Source    paper 004, section 5; the simulator's specification, sections 1.5 and 5.
#pragma once

#include <string>
#include <vector>

#include "sim/figure/figure.h"

namespace weft::sim {

// What all of a figure's runs share, apart from what the figure is about.
struct FigureBase {
  Case of;
  std::vector<int> mixes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::string> traces = {};  // folders
};

// "5a" to "9".
std::vector<std::string> PaperFigures();
std::vector<std::string> OtherFigures();
std::vector<std::string> TraceFigures();

Result<FigureSpec> MakeFigure(const std::string& name, const FigureBase& base);

}  // namespace weft::sim
