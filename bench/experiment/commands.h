// bench/experiment/commands.h: weft-bench's subcommands that are experiments of paper 002:
// efficiency, bandwidth, oversubscription, block-cache.
//
// Threads   one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "weft/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace weft::bench {

class ExperimentCommands {
 public:
  ExperimentCommands();
  ~ExperimentCommands();

  // Adds them. This object must outlive the parsing.
  void AddTo(CLI::App* app);
  // None if `name` is not one of them.
  std::optional<Status> Run(const std::string& name, const std::string& command_line);

 private:
  struct Arguments;
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace weft::bench
