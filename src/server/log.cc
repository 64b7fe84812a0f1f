#include "server/log.h"

#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace weft::server {

void StartLog(int verbosity) {
  // The sink itself leaves colours out where stderr is no terminal.
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  sink->set_pattern("weft: %^%l%$: %v");
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("weft", std::move(sink)));
  spdlog::flush_on(spdlog::level::trace);
  SetLogLevel(verbosity);
}

void SetLogLevel(int verbosity) {
  spdlog::set_level(verbosity <= 0   ? spdlog::level::info
                    : verbosity == 1 ? spdlog::level::debug
                                     : spdlog::level::trace);
}

}  // namespace weft::server
