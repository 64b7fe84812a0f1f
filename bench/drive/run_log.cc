#include "bench/drive/run_log.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "bench/drive/run_csv.h"
#include "bench/harness/report.h"

namespace weft::bench {
namespace {

// "start:weft ycsb-a" as the name of a file.
std::string FileName(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
  return text;
}

// "850.2204401653726" as "850.2"; a schedule of several as it is.
std::string RateText(const std::string& rate) {
  double number = 0;
  return base::ParseNumber(rate, &number) ? Short(number) : rate;
}

// What can be told at a glance: "-" where there is none. Nothing here can be 0 but what no meter
// has seen.
std::string ShortOf(const nlohmann::json& record, const char* pointer, double factor = 1) {
  const nlohmann::json::json_pointer at(pointer);
  if (!record.contains(at) || !record.at(at).is_number()) return "-";
  const double value = record.at(at).get<double>() * factor;
  return value > 0 ? Short(value) : "-";
}

void PrintRow(const nlohmann::json& record) {
  const auto latency = [&](const char* which) {
    return ShortOf(record, fmt::format("/result/latency_us/all/{}", which).c_str());
  };
  const auto operations = record.at("result").at("operations").get<double>();
  const double per_operation = operations > 0 ? 1e6 / operations : 0;
  const bool is_embedded = record.at("target").at("embedded").get<bool>();
  const nlohmann::json& client = record.at("result").at("client");
  // Of an embedded store the client's CPU time is the store's.
  fmt::print("{:<18} {:<13} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7}{}\n",
             record.at("target").at("name").get<std::string>(),
             record.at("workload").at("name").get<std::string>(),
             ShortOf(record, "/result/operations_per_s"), latency("mean"), latency("p50"),
             latency("p99"), latency("p99_9"), latency("max"),
             ShortOf(record, "/meters/cpu_s/value", per_operation),
             is_embedded ? "-" : ShortOf(record, "/result/client/cpu_us_per_operation"),
             client.at("saturated").get<bool>() ? "  the client was the limit" : "");
  std::fflush(stdout);
}

// Does what is there begin with `head`? An empty file, and none, do.
bool BeginsWith(const std::string& path, const std::string& head, bool* is_empty) {
  std::ifstream in(path);
  std::string line;
  *is_empty = !std::getline(in, line);
  return *is_empty || line == head;
}

}  // namespace

Result<RunLog::Lines> RunLog::Lines::Open(const std::string& path) {
  Lines lines{.path = path, .file = nullptr};
  if (path.empty()) return lines;
  lines.file.reset(std::fopen(path.c_str(), "ae"));
  if (lines.file == nullptr) return Status::FromErrno("open " + path, errno);
  return lines;
}

Status RunLog::Lines::Write(const std::string& line) {
  if (file == nullptr) return Status::Ok();
  const std::string text = line + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0)
    return Status::FromErrno("write " + path, errno);
  return Status::Ok();
}

Result<RunLog> RunLog::Open(const RunLogOptions& options) {
  RunLog log(options);
  auto json = Lines::Open(options.json);
  if (!json) return json.error();
  log.json_ = std::move(*json);
  if (!options.csv.empty()) {
    bool is_empty = false;
    if (!BeginsWith(options.csv, CsvHead(), &is_empty))
      return Status(Code::kInvalidArgument, options.csv + " has the columns of another version");
    auto csv = Lines::Open(options.csv);
    if (!csv) return csv.error();
    log.csv_ = std::move(*csv);
    if (Status status = is_empty ? log.csv_.Write(CsvHead()) : Status(); !status.ok())
      return status;
  }
  if (!options.hdr_folder.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.hdr_folder, failed);
    if (failed) return Status::FromErrno("make " + options.hdr_folder, failed.value());
    const std::time_t now = std::time(nullptr);
    std::tm local;
    localtime_r(&now, &local);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local);
    log.opened_ = text;
  }
  return log;
}

void RunLog::PrintHead() const {
  fmt::print("{:<18} {:<13} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>7}\n", "target",
             "workload", "op/s", "mean us", "p50 us", "p99 us", "p99.9 us", "max us", "CPU us/op",
             "client");
}

void RunLog::Keep(const nlohmann::json& record) {
  const nlohmann::json& load = record.at("load");
  std::string what = fmt::format("{} {}", record.at("target").at("name").get<std::string>(),
                                 record.at("workload").at("name").get<std::string>());
  if (record.contains("setting")) what += ", " + record.at("setting").get<std::string>();
  if (load.at("rate").is_string()) what += ", " + RateText(load.at("rate")) + "/s";
  const auto [place, is_new] = told_.try_emplace(what);
  if (is_new) order_.push_back(what);
  const nlohmann::json& result = record.at("result");
  const nlohmann::json& latency = result.at("latency_us").at("all");
  place->second.operations_per_s.Add(result.at("operations_per_s").get<double>());
  place->second.p50_us.Add(latency.at("p50").get<double>());
  place->second.p99_us.Add(latency.at("p99").get<double>());
}

void RunLog::PrintMedians() const {
  const auto text = [](const Samples& samples) {
    return fmt::format("{} [{} - {}]", Short(samples.Median()), Short(samples.Min()),
                       Short(samples.Max()));
  };
  fmt::print("medians [least - most]\n");
  for (const std::string& what : order_) {
    const Told& told = told_.at(what);
    if (told.p50_us.all().size() < 2) continue;
    fmt::print("{:<40} {} op/s, p50 {} us, p99 {} us, {} runs\n", what, text(told.operations_per_s),
               text(told.p50_us), text(told.p99_us), told.p50_us.all().size());
  }
}

void RunLog::LeaveOut(const LeftOut& what, const std::string& why) {
  std::string name = what.target;
  for (const std::string& part : {what.workload, what.load})
    if (!part.empty()) name += " " + part;
  fmt::print("{:<18} left out: {}\n", name, why);
  std::fflush(stdout);
  (void)json_.Write(LeftOutRecord(what, why).dump());
}

RunLog::Entry RunLog::Begin(const RunContext& context, const OperationMix& mix) {
  runs_++;
  if (options_.hdr_folder.empty()) return Entry(this, "");
  return Entry(this, fmt::format("{}/{}-{}-{}", options_.hdr_folder, opened_,
                                 FileName(context.target_name + " " + mix.name), runs_));
}

Status RunLog::Entry::Start() {
  if (hdr_path_.empty()) return Status::Ok();
  start_s_ = static_cast<double>(std::time(nullptr));
  auto slices = HdrLog::Open(hdr_path_ + ".hlog", start_s_);
  if (!slices) return slices.error();
  slices_ = std::move(*slices);
  return Status::Ok();
}

Status RunLog::Entry::Add(const SliceRow& row, const base::Histogram& latency_ns) {
  return slices_ ? slices_->Add("", row.at_s, row.seconds, latency_ns) : Status::Ok();
}

Status RunLog::Entry::AddKinds(const LoadFigures& figures) {
  if (!slices_) return Status::Ok();
  auto kinds = HdrLog::Open(hdr_path_ + "-kinds.hlog", start_s_);
  if (!kinds) return kinds.error();
  for (size_t kind = 0; kind < figures.by_kind.size(); kind++) {
    if (figures.by_kind[kind].count() == 0) continue;
    Status status = kinds->Add(NameOf(static_cast<OperationKind>(kind)), 0, figures.seconds,
                               figures.by_kind[kind]);
    if (!status.ok()) return status;
  }
  return Status::Ok();
}

Status RunLog::Entry::End(const nlohmann::json& record, const LoadFigures& figures) {
  Status status = log_.json_.Write(record.dump());
  if (status.ok() && log_.csv_.file != nullptr) status = log_.csv_.Write(CsvRow(record));
  if (status.ok()) status = AddKinds(figures);
  PrintRow(record);
  log_.Keep(record);
  return status;
}

}  // namespace weft::bench
