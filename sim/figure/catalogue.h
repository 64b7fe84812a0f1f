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

// What all of a figure's runs have, but for what the figure is about.
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

// Used by each other.
inline constexpr int kStaticBytes[] = {128, 192, 256, 384, 512, 768, 1024};
// Hit tables learn more slowly than L2 fills, where some keys are popular.
inline constexpr int kLearningFactor = 20;
inline constexpr int kFixedValueBytes[] = {128, 256, 512};

FigureSpec SizeFigure(const FigureBase& base);            // 5a
FigureSpec UtilizationFigure(const FigureBase& base);     // 5b
FigureSpec AccuracyFigure(const FigureBase& base);        // 5c
FigureSpec MixSizeFigure(const FigureBase& base);         // 6
FigureSpec MixUtilizationFigure(const FigureBase& base);  // 7
FigureSpec MixUnitFigure(const FigureBase& base);         // 8
FigureSpec MixEnergyFigure(const FigureBase& base);       // 9
FigureSpec OtherFigure(const std::string& name, const FigureBase& base);
FigureSpec TraceFigure(const std::string& name, const FigureBase& base);

// `of` with gets of values of one size, and exactly so many objects in each bucket.
Case WithFixed(Case of, int value_bytes, int per_bucket);
// `of` with a mix of the paper.
Case WithMix(Case of, int mix, const std::string& utilization);
Case WithUnit(Case of, const std::string& pacu, const std::string& pscu);

// From how many objects a bucket on gains are below 0: where the line through the points crosses
// it. 0: from the first on; infinity: nowhere. REQUIRES: as many of both, in order
double BreakEven(const std::vector<double>& per_bucket, const std::vector<double>& gains);
// "4.2", "<2", ">8"
std::string BreakEvenText(const std::vector<double>& per_bucket, const std::vector<double>& gains);

}  // namespace weft::sim
