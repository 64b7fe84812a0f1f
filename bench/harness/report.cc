#include "bench/harness/report.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

nlohmann::json ToJson(const Side& side) {
  return {{"name", side.name},
          {"median", side.samples.Median()},
          {"min", side.samples.Min()},
          {"max", side.samples.Max()},
          {"samples", side.samples.all()}};
}

nlohmann::json ToJson(const Row& row) {
  nlohmann::json line = {{"bench", row.bench},    {"case", row.name},
                         {"unit", row.unit},      {"subject", ToJson(row.subject)},
                         {"judged", row.judged},  {"judged_name", row.judged_name},
                         {"noisy", Noisy(row)},   {"verdict", VerdictName(Judge(row))},
                         {"details", row.details}};
  line["peer"] = row.peer ? ToJson(*row.peer) : nlohmann::json();
  line["pair_ratios"] = row.pair_ratios.all();
  line["goal"] = row.goal == Goal::kAtLeast ? "at least" : "at most";
  line["target"] = row.target ? nlohmann::json(*row.target) : nlohmann::json();
  return line;
}

std::string SideText(const Side& side) {
  return fmt::format("{} {} [{} - {}]", side.name, Short(side.samples.Median()),
                     Short(side.samples.Min()), Short(side.samples.Max()));
}

std::string TargetText(const Row& row) {
  if (!row.target) return "-";
  return fmt::format("{} {}", row.goal == Goal::kAtLeast ? ">=" : "<=", Short(*row.target));
}

std::string VerdictText(const Row& row) {
  return fmt::format("{}{}", VerdictName(Judge(row)), Noisy(row) ? " (noisy)" : "");
}

void Print(const Row& row) {
  std::string text =
      fmt::format("{}/{}  {}: {}", row.bench, row.name, row.unit, SideText(row.subject));
  if (row.peer) text += ", " + SideText(*row.peer);
  text += fmt::format("\n    {} {}", row.judged_name, Short(row.judged));
  if (!row.pair_ratios.empty())
    text +=
        fmt::format(" (pairs {} - {})", Short(row.pair_ratios.Min()), Short(row.pair_ratios.Max()));
  text += fmt::format("   target {}   {}\n", TargetText(row), VerdictText(row));
  if (isatty(STDERR_FILENO)) std::fputs("\r\033[K", stderr);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

void Row::SetPeer(std::string name_of_ratio, Side other) {
  judged_name = std::move(name_of_ratio);
  judged = subject.samples.Median() / other.samples.Median();
  pair_ratios = PairRatios(subject.samples, other.samples);
  peer = std::move(other);
}

Verdict Judge(const Row& row) {
  if (!row.target) return Verdict::kInfo;
  const bool at_least = row.goal == Goal::kAtLeast;
  const bool met = at_least ? row.judged >= *row.target : row.judged <= *row.target;
  return met ? Verdict::kPass : Verdict::kShort;
}

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass: return "pass";
    case Verdict::kShort: return "short";
    case Verdict::kInfo: return "info";
  }
  return "?";
}

bool Noisy(const Row& row) {
  if (!row.target || row.pair_ratios.empty()) return false;
  return row.pair_ratios.Min() < *row.target && *row.target < row.pair_ratios.Max();
}

Result<Report> Report::Open(const std::string& json_path, nlohmann::json context) {
  Report report;
  const Machine& machine = ThisMachine();
  report.context_ = std::move(context);
  report.context_["commit"] = machine.commit;
  report.context_["machine"] = bench::ToJson(machine);
  if (!json_path.empty()) {
    report.file_.reset(std::fopen(json_path.c_str(), "a"));
    if (!report.file_) return Status::FromErrno("open " + json_path, errno);
  }
  fmt::print("weft-bench {}  {} ({} CPUs), {}, huge pages: {}\n", machine.commit, machine.cpu_model,
             machine.cpus, machine.kernel, machine.huge_pages);
  return report;
}

void Report::Add(Row row) {
  Print(row);
  WriteLine(ToJson(row));
  if (Judge(row) == Verdict::kShort) ++short_count_;
  rows_.push_back(std::move(row));
}

void Report::Unavailable(const std::string& bench, const std::string& reason) {
  fmt::print("{}  unavailable: {}\n", bench, reason);
  WriteLine({{"bench", bench}, {"verdict", "unavailable"}, {"reason", reason}});
  unavailable_.push_back(fmt::format("{}: {}", bench, reason));
}

void Report::WriteLine(nlohmann::json line) {
  if (!file_) return;
  line["date"] = NowText();
  line.update(context_);
  std::fputs((line.dump() + "\n").c_str(), file_.get());
  std::fflush(file_.get());
}

std::string Report::Markdown() const {
  const Machine& machine = ThisMachine();
  std::string text = fmt::format(
      "Commit {}, {}; {} with {} CPUs, {:.0f} GiB, Linux {}.\n"
      "Medians [min - max] of the repetitions.\n\n"
      "| benchmark | unit | subject | other side | judged | target | verdict |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n",
      machine.commit, NowText(), machine.cpu_model, machine.cpus, machine.memory_gib,
      machine.kernel);
  for (const Row& row : rows_)
    text += fmt::format("| {}/{} | {} | {} | {} | {} {} | {} | {} |\n", row.bench, row.name,
                        row.unit, SideText(row.subject), row.peer ? SideText(*row.peer) : "-",
                        row.judged_name, Short(row.judged), TargetText(row), VerdictText(row));
  for (const std::string& line : unavailable_) text += "\nUnavailable: " + line + "\n";
  return text;
}

void Progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) {
    fmt::print(stderr, "\r\033[K{}", text);
  } else {
    fmt::print(stderr, "  .. {}\n", text);
  }
  std::fflush(stderr);
}

std::string Short(double value) {
  struct Scale {
    double unit;
    const char* letter;
  };
  for (const Scale& scale : {Scale{1e9, " G"}, Scale{1e6, " M"}, Scale{1e4, " k"}}) {
    const double unit = scale.unit == 1e4 ? 1e3 : scale.unit;
    if (std::abs(value) >= scale.unit) return fmt::format("{:.4g}{}", value / unit, scale.letter);
  }
  return fmt::format("{:.4g}", value);
}

}  // namespace weft::bench
