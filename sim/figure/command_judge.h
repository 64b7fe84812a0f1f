// sim/figure/command_judge.h: checks the first commands of a run against the memory's rules, those
// of all channels (dram/command_checker.h).
//
// Threads   one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/dram/command_checker.h"
#include "sim/dram/preset.h"
#include "weft/status.h"

namespace weft::sim {

class CommandJudge {
 public:
  // `refreshes`: does the memory refresh? `commands`: how many, of all channels together.
  CommandJudge(const Preset& preset, bool refreshes, int64_t commands);

  void Check(int channel, const IssuedCommand& issued);
  int64_t checked() const;
  // kCorruption: which command of a channel broke which rule first.
  Status Verdict() const;

 private:
  int64_t left_;
  std::vector<CommandChecker> checkers_;  // by channel
};

}  // namespace weft::sim
