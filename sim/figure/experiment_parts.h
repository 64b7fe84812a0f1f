// sim/figure/experiment_parts.h: the parts of catalogue.h's figures, each in a file that it shares
// with others of its kind.
//
// Threads   pure.
#pragma once

#include <string>
#include <vector>

#include "sim/figure/catalogue.h"

namespace weft::sim {

FigureSpec SizeFigure(const FigureBase& base);            // 5a
FigureSpec UtilizationFigure(const FigureBase& base);     // 5b
FigureSpec AccuracyFigure(const FigureBase& base);        // 5c
FigureSpec MixSizeFigure(const FigureBase& base);         // 6
FigureSpec MixUtilizationFigure(const FigureBase& base);  // 7
FigureSpec MixUnitFigure(const FigureBase& base);         // 8
FigureSpec MixEnergyFigure(const FigureBase& base);       // 9
FigureSpec OtherFigure(const std::string& name, const FigureBase& base);
FigureSpec TraceFigure(const std::string& name, const FigureBase& base);

inline constexpr int kStaticBytes[] = {128, 192, 256, 384, 512, 768, 1024};
inline constexpr int kFixedValueBytes[] = {128, 256, 512};
// Hit tables learn more slowly than L2 fills, if some keys are popular.
inline constexpr int kLearningFactor = 20;

// `of` with gets of values of one size, and exactly so many objects in each bucket.
Case WithFixed(Case of, int value_bytes, int per_bucket);
// `of` with a mix of the paper.
Case WithMix(Case of, int mix, const std::string& utilization);
Case WithUnit(Case of, const std::string& pacu, const std::string& pscu);

// A point whose label is `at`.
void AddPoint(FigureSpec* spec, const std::string& series, double at, const Case& of);

// "12.3 %"
std::string Percent(double share);

// The number of objects a bucket from which gains are below 0: where the line through the points
// crosses it. 0: from the first on; infinity: nowhere. REQUIRES: as many of both, in order
double BreakEven(const std::vector<double>& per_bucket, const std::vector<double>& gains);
// "4.2", "<2", ">8"
std::string BreakEvenText(const std::vector<double>& per_bucket, const std::vector<double>& gains);

}  // namespace weft::sim
