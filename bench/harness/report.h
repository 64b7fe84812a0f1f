// bench/harness/report.h: what a benchmark found, said once for people and once for machines.
//
// A Row is one line of the project's promises: what was measured of the subject and of the other
// side, the figure that is judged, the target and the verdict. People get text at once; files get
// one JSON line a row, with everything needed to repeat it.
//
// Threads: one at a time.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/harness/samples.h"
#include "weft/status.h"

namespace weft::bench {

// What was measured of one side: a name and its repetitions.
struct Side {
  std::string name;
  Samples samples;
};

enum class Goal : uint8_t { kAtLeast, kAtMost };

struct Row {
  std::string bench;  // the subcommand: "server"
  std::string name;   // the case: "get-depth32"
  std::string unit;   // of the samples: "CPU s / M op"
  Side subject;
  std::optional<Side> peer;
  std::string judged_name;  // "peer / subject"; says which way the ratio goes
  double judged = 0;        // the figure that the target is about
  Samples pair_ratios;      // the same figure for each repetition; may be empty
  Goal goal = Goal::kAtLeast;
  std::optional<double> target;  // none: the row is for information
  nlohmann::json details = nlohmann::json::object();

  // Judges the subject's median over the peer's, and pair by pair. REQUIRES: the subject is there
  void SetPeer(std::string name_of_ratio, Side other);
};

enum class Verdict : uint8_t { kPass, kShort, kInfo };
Verdict Judge(const Row& row);
const char* VerdictName(Verdict verdict);
// Do the repetitions lie on both sides of the target? Then the verdict is a matter of luck.
bool Noisy(const Row& row);

class Report {
 public:
  // `context` is added to every JSON line: seed, command line. `json_path` empty: no file;
  // otherwise lines are appended.
  static Result<Report> Open(const std::string& json_path, nlohmann::json context);
  Report(Report&&) = default;

  // Prints and writes the row. Kept for Markdown().
  void Add(Row row);
  // Prints and writes that a benchmark could not run, with the reason.
  void Unavailable(const std::string& bench, const std::string& reason);
  // All rows so far as a table.
  std::string Markdown() const;

  int short_count() const { return short_count_; }

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Report() = default;
  void WriteLine(nlohmann::json line);

  nlohmann::json context_;
  std::unique_ptr<std::FILE, FileCloser> file_;
  std::vector<Row> rows_;
  std::vector<std::string> unavailable_;
  int short_count_ = 0;
};

// One line of progress to standard error, overwritten by the next on a terminal.
void Progress(const std::string& text);

// "1.23", "12.3 k", "4.56 M": three significant digits.
std::string Short(double value);

}  // namespace weft::bench
