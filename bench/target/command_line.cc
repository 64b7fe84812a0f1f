#include "bench/target/command_line.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "bench/harness/unheeded.h"
#include "bench/store/store.h"
#include "bench/target/targets.h"

namespace weft::bench {
namespace {

// Options that only some targets heed.
struct Concern {
  std::vector<const char*> options;
  const char* who;
  bool (*heeds)(const std::string& spec);
};

bool IsStarted(const std::string& spec) { return spec.starts_with("start:"); }

const std::vector<Concern>& Concerns() {
  static const std::vector<Concern> all = {
      {{"--memory-mb"},
       "caches and started servers",
       [](const std::string& spec) { return IsStarted(spec) || spec == "weft-cache"; }},
      {{"--server-threads"}, "started servers", IsStarted},
      {{"--weft", "--weft-flags"},
       "start:weft",
       [](const std::string& spec) { return spec == "start:weft"; }},
      {{"--wipe"}, "running servers", IsThere},
      {{"--multi-get"},
       "servers",
       [](const std::string& spec) { return IsStarted(spec) || IsThere(spec); }},
      {{"--place", "--sync", "--block-cache", "--write-buffer"}, "durable stores", IsDurable},
      {{"--background-threads"}, "stores with several compaction threads", HasBackgroundThreads},
      {{"--compaction-device"}, "weft", [](const std::string& spec) { return spec == "weft"; }},
  };
  return all;
}

}  // namespace

std::string TargetHelp() {
  std::string text = "what to measure; repeatable:";
  for (const TargetForm& form : TargetForms())
    text += "\n" + form.form + ": " + form.meaning +
            (form.missing.empty() ? "" : " (" + form.missing + ")");
  return text;
}

void AddServerOptions(CLI::App* app, TargetOptions* options) {
  app->add_option("-t,--server-threads", options->threads, "worker threads of started servers")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app->add_option("--weft", options->weft_program, "the program that start:weft starts")
      ->capture_default_str();
  app->add_option("--weft-flags", options->weft_flags,
                  "additional flags for start:weft: '--device cuda:0 --plan auto'");
  app->add_flag("--wipe", options->wipe,
                "allow a running server to be emptied; without it, a server that holds anything "
                "is refused");
}

void RefuseUnheededByTargets(const CLI::App& app, const std::vector<std::string>& targets) {
  for (const Concern& concern : Concerns()) {
    if (targets.empty() || std::any_of(targets.begin(), targets.end(), concern.heeds)) continue;
    for (const char* name : concern.options) {
      if (!IsGiven(app, name)) continue;
      throw CLI::ValidationError(
          name, std::string("it is for ") + concern.who + ", and no --target is one");
    }
  }
}

}  // namespace weft::bench
