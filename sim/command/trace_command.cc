#include "sim/command/trace_command.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "sim/trace/file_trace.h"
#include "sim/trace/trace_facts.h"

namespace weft::sim {
namespace {

constexpr std::string_view kFolder = "folder";

Result<std::unique_ptr<TraceSource>> Open(const TraceOptions& options, const TextOptions& text) {
  if (options.from != kFolder) {
    const Result<TextFormat> format = ParseTextFormat(options.from);
    if (!format) return format.error();
    return ReadTextTrace(options.in, format.value(), text);
  }
  Result<std::unique_ptr<FileTrace>> trace = FileTrace::Open(options.in, text.memory_bytes);
  if (!trace) return trace.error();
  return std::unique_ptr<TraceSource>(std::move(trace.value()));
}

// Would what is written take the place of what is read?
bool IsInTrace(const TraceOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;  // of what isn't there yet, which is another
  if (fs::equivalent(options.in, options.out, error)) return true;
  const fs::path folder = fs::path(options.out).parent_path();
  return options.from == kFolder && options.to != kFolder &&
         fs::equivalent(options.in, folder.empty() ? fs::path(".") : folder, error);
}

Status Convert(const TraceOptions& options, const TextOptions& text, TraceSource& source) {
  if (options.to == kFolder) return WriteTrace(source, options.out, UINT64_MAX);
  const Result<TextFormat> format = ParseTextFormat(options.to);
  if (!format) return format.error();
  if (options.core < 0 || options.core >= source.cores()) {
    return {Code::kInvalidArgument,
            fmt::format("core {} does not exist: the trace has {}", options.core, source.cores())};
  }
  return WriteTextTrace(source, options.core, options.out, format.value(), text);
}

// Of text alone, and none is read or written.
Status RefuseIdle(const TraceOptions& options) {
  const auto refuse = [](const std::string& why) { return Status(Code::kInvalidArgument, why); };
  const bool reads_text = options.from != kFolder;
  const bool writes_text = !options.out.empty() && options.to != kFolder;
  const Given& given = options.given;
  if (given.contains("op-accesses") && !reads_text) {
    return refuse(
        "--op-accesses changes nothing: --from is a folder, which already has operations");
  }
  if (given.contains("op-accesses") && writes_text) {
    return refuse("--op-accesses changes nothing: a text has no operations");
  }
  const bool has_clocks = options.from == "dramsim3" || (writes_text && options.to == "dramsim3");
  if (given.contains("instr-per-clock") && !has_clocks) {
    return refuse("--instr-per-clock changes nothing: neither trace is DRAMsim3's");
  }
  if (given.contains("core") && !writes_text) {
    return refuse("--core changes nothing: a folder gets all cores");
  }
  return Status::Ok();
}

}  // namespace

void AddTrace(CLI::App* app, TraceOptions* options) {
  app->require_subcommand(1);
  CLI::App* const info = app->add_subcommand("info", "describes a trace");
  CLI::App* const convert =
      app->add_subcommand("convert", "converts a trace from one format to another");
  for (CLI::App* command : {info, convert}) {
    NoteGiven(command, &options->given);
    command
        ->add_option("--from", options->from,
                     fmt::format("format: folder, or a text of {}", kTextFormats))
        ->capture_default_str();
    command->add_option("--memory-gib", options->memory_gib, "size of the memory in GiB")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    command
        ->add_option("--instr-per-clock", options->text.instructions_per_clock,
                     "instructions in a DRAMsim3 clock")
        ->capture_default_str();
    command
        ->add_option("--op-accesses", options->text.op_accesses,
                     "accesses of a text that form an operation")
        ->capture_default_str();
    command->add_option("in", options->in, "the trace")->required();
  }
  convert->add_option("--to", options->to, "format, as for --from")->capture_default_str();
  convert->add_option("--core", options->core, "core whose accesses are written to a text")
      ->capture_default_str();
  convert->add_option("out", options->out, "the new trace")->required();
}

Status RunTrace(const TraceOptions& options) {
  TextOptions text = options.text;
  text.memory_bytes = options.memory_gib << 30;
  Status status = Validate(text);
  if (status.ok()) status = RefuseIdle(options);
  if (!status.ok()) return status;
  const Result<std::unique_ptr<TraceSource>> source = Open(options, text);
  if (!source) return source.error();
  if (!options.out.empty()) {
    if (IsInTrace(options)) {
      return {Code::kInvalidArgument, options.out + ": this is the input trace"};
    }
    return Convert(options, text, *source.value());
  }
  const Result<nlohmann::ordered_json> facts = FactsOf(*source.value());
  if (!facts) return facts.error();
  std::fputs((facts.value().dump(2) + "\n").c_str(), stdout);
  return Status::Ok();
}

}  // namespace weft::sim
