#include "bench/cost/result_file.h"

#include <cerrno>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "weft-bench run";
constexpr std::string_view kLeftOutFormat = "weft-bench left out";
constexpr int kVersion = 1;

// Takes fields out of one line and remembers the first that is missing or of another kind.
class Fields {
 public:
  explicit Fields(const json& root) : root_(root) {}

  const std::string& error() const { return error_; }

  // Where the path ("result.latency_us") leads; null where nothing is there.
  const json* Find(std::string_view path) const {
    const json* at = &root_;
    while (!path.empty()) {
      const std::string_view name = path.substr(0, path.find('.'));
      path.remove_prefix(std::min(path.size(), name.size() + 1));
      if (!at->is_object()) return nullptr;
      const auto found = at->find(std::string(name));
      if (found == at->end()) return nullptr;
      at = &*found;
    }
    return at;
  }
  std::string Text(std::string_view path) {
    const json* found = Find(path);
    if (found != nullptr && found->is_string()) return found->get<std::string>();
    return Miss(path, found, "a text"), "";
  }
  double Number(std::string_view path) {
    const json* found = Find(path);
    if (found != nullptr && found->is_number()) return found->get<double>();
    return Miss(path, found, "a number"), 0;
  }
  double PositiveNumber(std::string_view path) {
    const double number = Number(path);
    if (error_.empty() && !(number > 0))
      error_ = fmt::format("{} must be above 0, not {}", path, number);
    return number;
  }
  std::string TextOr(std::string_view path, std::string_view otherwise) const {
    const json* found = Find(path);
    return found != nullptr && found->is_string() ? found->get<std::string>()
                                                  : std::string(otherwise);
  }
  double NumberOr(std::string_view path, double otherwise) const {
    const json* found = Find(path);
    return found != nullptr && found->is_number() ? found->get<double>() : otherwise;
  }
  // An object's members; none, and an error, where there is none.
  const json& Object(std::string_view path) {
    static const json kNone = json::object();
    const json* found = Find(path);
    if (found != nullptr && found->is_object()) return *found;
    Miss(path, found, "an object");
    return kNone;
  }
  void Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }

 private:
  void Miss(std::string_view path, const json* found, const char* kind) {
    Fail(found == nullptr ? fmt::format("{} is missing", path)
                          : fmt::format("{} is not {}", path, kind));
  }

  const json& root_;
  std::string error_;
};

// "24 B keys": sizes are texts ("24", "8-64") in the file, numbers in older ones.
std::string SizeText(const Fields& fields, std::string_view path, std::string_view of) {
  const json* found = fields.Find(path);
  if (found == nullptr) return "";
  const std::string size = found->is_string() ? found->get<std::string>() : found->dump();
  return fmt::format(", {} B {}", size, of);
}

std::string LoadText(Fields& fields) {
  const std::string loop = fields.Text("load.loop");
  std::string text = loop + " loop";
  const json* rate = fields.Find("load.rate_per_s");
  if (rate != nullptr && rate->is_number())
    text += fmt::format(", {}/s", Short(rate->get<double>()));
  for (const char* name : {"threads", "sessions"}) {
    const double count = fields.NumberOr(fmt::format("load.{}", name), 0);
    const std::string one = std::string(name, std::string_view(name).size() - 1);
    if (count > 0) text += fmt::format(", {} {}", count, count == 1 ? one : name);
  }
  if (const double depth = fields.NumberOr("load.depth", 0); depth > 0)
    text += fmt::format(", depth {}", depth);
  if (const std::string setting = fields.TextOr("setting", ""); !setting.empty())
    text += ", " + setting;
  return text;
}

std::map<std::string, MeterReading> MetersOf(Fields& fields) {
  std::map<std::string, MeterReading> meters;
  if (fields.Find("meters") == nullptr) return meters;
  for (const auto& [name, reading] : fields.Object("meters").items()) {
    const Fields of_meter(reading);
    MeterReading& meter = meters[name];
    meter.source = of_meter.TextOr("source", "");
    meter.unavailable = of_meter.TextOr("unavailable", "");
    const json* modelled = of_meter.Find("modelled");
    meter.modelled = modelled != nullptr && modelled->is_boolean() && modelled->get<bool>();
    const json* value = of_meter.Find("value");
    if (value != nullptr && value->is_number()) {
      meter.value = value->get<double>();
    } else if (meter.unavailable.empty()) {
      fields.Fail(fmt::format("meters.{} has neither a value nor a reason", name));
    }
  }
  return meters;
}

ResultRun RunOf(Fields& fields) {
  ResultRun run;
  run.experiment = fields.TextOr("experiment", "");
  run.target = fields.Text("target.name");
  run.target_title = fields.TextOr("target.title", run.target);
  run.workload = fields.Text("workload.name") + SizeText(fields, "workload.key_bytes", "keys") +
                 SizeText(fields, "workload.value_bytes", "values");
  run.records = fields.NumberOr("workload.records", 0);
  run.load = LoadText(fields);
  run.machine = fields.Text("machine.host_class");
  run.cpu_model = fields.TextOr("machine.cpu_model", "");
  run.cpus = static_cast<int>(fields.PositiveNumber("machine.cpus"));
  if (const json* settings = fields.Find("target.settings")) run.settings = *settings;
  run.command_line = fields.TextOr("command_line", "");
  run.duration = Seconds(fields.PositiveNumber("result.seconds"));
  run.throughput = OperationsPerSecond(fields.PositiveNumber("result.operations_per_s"));
  run.wrong = fields.NumberOr("result.outcomes.wrong", 0);
  const json* saturated = fields.Find("result.client.saturated");
  run.client_saturated = saturated != nullptr && saturated->is_boolean() && saturated->get<bool>();
  for (const auto& [name, value] : fields.Object("result.latency_us.all").items())
    if (value.is_number()) run.latency_us[name] = value.get<double>();
  run.meters = MetersOf(fields);
  return run;
}

// None: the line says what was not measured.
Result<std::optional<ResultRun>> ParseLine(const std::string& text) {
  const json line = json::parse(text, nullptr, false);
  if (line.is_discarded()) return Status(Code::kInvalidArgument, "not valid JSON");
  Fields fields(line);
  if (fields.TextOr("format", "") == kLeftOutFormat) return std::optional<ResultRun>();
  if (fields.TextOr("format", "") != kFormat) {
    return Status(Code::kInvalidArgument,
                  fmt::format("not a result: \"format\" must be \"{}\"", kFormat));
  }
  if (const double version = fields.Number("version");
      fields.error().empty() && version != kVersion)
    return Status(Code::kInvalidArgument,
                  fmt::format("it has version {}, but this program reads {}", version, kVersion));
  ResultRun run = RunOf(fields);
  if (!fields.error().empty()) return Status(Code::kInvalidArgument, fields.error());
  return std::optional<ResultRun>(std::move(run));
}

Status At(const std::string& name, int line, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{}:{}: {}", name, line, what)};
}

}  // namespace

MeterReading ResultRun::Meter(const std::string& name) const {
  const auto found = meters.find(name);
  if (found != meters.end()) return found->second;
  MeterReading none;
  none.unavailable = fmt::format("the file has no meter {}", name);
  return none;
}

Result<std::vector<ResultRun>> ReadResults(std::istream& in, const std::string& name) {
  std::vector<ResultRun> runs;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto parsed = ParseLine(text);
    if (!parsed) return At(name, number, parsed.error().message());
    std::optional<ResultRun>& run = *parsed;
    if (!run) continue;
    run->line = number;
    if (!runs.empty() && runs.front().machine != run->machine) {
      return At(
          name, number,
          fmt::format("it is of machine {}, but line {} is of {}; a file must have one machine",
                      run->machine, runs.front().line, runs.front().machine));
    }
    runs.push_back(std::move(*run));
  }
  if (in.bad()) return Status::FromErrno(fmt::format("read {}", name), errno);
  if (runs.empty()) return Status(Code::kInvalidArgument, fmt::format("{}: has no results", name));
  return runs;
}

Result<std::vector<ResultRun>> ReadResultFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::FromErrno(fmt::format("open {}", path), errno);
  return ReadResults(file, path);
}

}  // namespace weft::bench
