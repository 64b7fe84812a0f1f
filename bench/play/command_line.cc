#include "bench/play/command_line.h"

#include <CLI/CLI.hpp>

#include "bench/policy/policy.h"
#include "bench/target/command_line.h"

namespace weft::bench {
namespace {

template <typename Form>
std::string HelpOf(std::string text, const std::vector<Form>& forms) {
  for (const Form& form : forms) text += "\n" + form.name + ": " + form.meaning;
  return text;
}

void AddReading(CLI::App* app, TraceOptions* read) {
  app->add_option("--format", read->format,
                  HelpOf("format of the files (default: detected for each):", TraceFormats()));
  app->add_option("--columns", read->columns,
                  "columns of the format csv: time=1,key=2,size=3,op=4,ttl=5");
  app->add_option("--limit", read->limit, "number of requests to read from each file; 0: all")
      ->capture_default_str();
  app->add_option("--value-bytes", read->value_bytes,
                  "bytes of every value; 0: as the trace says, or 1000")
      ->check(CLI::Range(0u, kTraceValueBytesMax))
      ->capture_default_str();
  app->add_option("--key-bytes", read->key_bytes, "bytes of every key; 0: as the trace says, or 24")
      ->check(CLI::Range(0u, kTraceKeyBytesMax))
      ->capture_default_str();
}

void AddPlaying(CLI::App* app, TraceBenchOptions* options) {
  app->add_option(
         "-m,--memory", options->memory,
         "MiB of each cache, or a share such as '10%' of the bytes of all keys; repeatable")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--connections", options->play.connections,
                  "connections of each target, with a thread each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--rate", options->play.rate, "requests a second; 0: as fast as possible")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app->add_option("--pace", options->play.pace,
                  "seconds of the trace in a second, also for times to live; 0: nothing expires")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  AddServerOptions(app, &options->target);
}

}  // namespace

void AddTrace(CLI::App* app, TraceBenchOptions* options) {
  app->add_option("FILE", options->files, "trace files, compressed or not")->required();
  app->add_option("--target", options->targets, TargetHelp())
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--policy", options->policies,
                  HelpOf("caches to simulate, or 'none'; repeatable:", PolicyForms()))
      ->delimiter(',')
      ->capture_default_str();
  AddReading(app, &options->read);
  AddPlaying(app, options);
  app->add_option("--json", options->json, "append one line for each size of memory to this file");
  app->add_option("--chart", options->chart, "file for charts of the miss ratios (SVG)");
  app->parse_complete_callback([app, options] {
    options->memory_is_given = app->get_option("--memory")->count() > 0;
    RefuseUnheededByTargets(*app, options->targets);
  });
}

}  // namespace weft::bench
