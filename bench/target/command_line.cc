#include "bench/target/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/target/targets.h"

namespace weft::bench {

std::string TargetHelp() {
  std::string text = "what is measured, repeatable:";
  for (const TargetForm& form : TargetForms())
    text += "\n" + form.form + ": " + form.meaning +
            (form.missing.empty() ? "" : " (" + form.missing + ")");
  return text;
}

void AddServerOptions(CLI::App* app, TargetOptions* options) {
  app->add_option("-t,--server-threads", options->threads, "of servers that are started")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--weft", options->weft_program, "the program that start:weft starts")
      ->capture_default_str();
  app->add_option("--weft-flags", options->weft_flags,
                  "more of them for start:weft: '--device cuda:0 --plan auto'");
  app->add_flag("--wipe", options->wipe,
                "a server that is there may be emptied, whatever it holds; one that holds anything "
                "is refused otherwise");
}

}  // namespace weft::bench
