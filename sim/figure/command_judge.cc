#include "sim/figure/command_judge.h"

#include <fmt/format.h>

namespace weft::sim {

CommandJudge::CommandJudge(const Preset& preset, bool refreshes, int64_t commands)
    : left_(commands) {
  for (int channel = 0; channel < preset.organization.channels; ++channel) {
    checkers_.emplace_back(preset.organization, preset.timing, refreshes);
  }
}

void CommandJudge::Check(int channel, const IssuedCommand& issued) {
  if (left_ == 0) return;
  --left_;
  checkers_[static_cast<size_t>(channel)].Check(issued);
}

int64_t CommandJudge::checked() const {
  int64_t sum = 0;
  for (const CommandChecker& checker : checkers_) sum += static_cast<int64_t>(checker.commands());
  return sum;
}

Status CommandJudge::Verdict() const {
  for (size_t channel = 0; channel < checkers_.size(); ++channel) {
    const auto& violations = checkers_[channel].violations();
    if (violations.empty()) continue;
    return {Code::kCorruption, fmt::format("channel {}, command {} at clock {} breaks {}; {} do",
                                           channel, violations[0].index, violations[0].clock,
                                           violations[0].rule, violations.size())};
  }
  return Status::Ok();
}

}  // namespace weft::sim
