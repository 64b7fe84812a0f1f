// sim/command/figure_command.h: `weft-sim figure`, which runs one or several experiments of paper
// 004, compares the results with the paper's claims and draws them; and `weft-sim sweep`, which
// runs one machine with many options.
//
// Threads   one owner; several runs at once.
// Errors    those of figure/catalogue.h, figure/runner.h, figure/setting.h, figure/output.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/figure/runner.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::sim {

struct ManyRunsOptions {
  Case base;
  std::vector<std::string> over;
  bool one_at_a_time = false;
  int jobs = 0;                   // 0: as many as CPUs
  int seeds = 0;                  // 0: five, or with --quick one
  std::string command_line = {};  // for the files
};

struct FigureOptions {
  ManyRunsOptions runs;
  std::vector<std::string> names;
  std::vector<int> mixes = {};  // empty: all
  std::vector<std::string> traces = {};
  bool is_quick = false;
  std::function<std::vector<std::string>()> given = {};  // "pop=uniform", those that have a value
  Case defaults = {};                                    // what the options change
};

// `options` must outlive the parsing; its values are the defaults.
void AddFigure(CLI::App* app, FigureOptions* options);
void AddSweep(CLI::App* app, ManyRunsOptions* options);

// Print their tables and write their files into base.run.out, if that isn't empty.
Status RunFigureCommand(const FigureOptions& options);
Status RunSweepCommand(const ManyRunsOptions& options);

}  // namespace weft::sim
