// sim/figure/output.h: figures as files: one CSV and one SVG a figure, all tables as Markdown, and
// everything as JSON lines.
//
// Threads   pure, except for the files.
// Errors    kIoError: a file can't be written.
#pragma once

#include <string>
#include <vector>

#include "sim/figure/figure.h"

namespace weft::sim {

struct Finished {
  std::string setting;  // of setting.h
  FigureSpec spec;
  Figure figure;
  std::vector<JudgedClaim> claims;
};

// The columns, and a row for each point: means over the seeds, and their 95 % half widths. With one
// seed those are empty, and null in JSON.
std::string CsvOf(const std::vector<Finished>& figures);
// Claims, then for each figure its gains.
std::string MarkdownOf(const std::vector<Finished>& figures, const std::string& command);
// "claim, band, ours, holds or not".
std::string ClaimsCsv(const std::vector<Finished>& figures);

// Writes into the folder: figure-NAME.csv, figure-NAME.svg (with a setting: figure-NAME-2.svg for
// the second), claims.csv, figures.md, figures.jsonl.
Status WriteFigures(const std::string& folder, const std::vector<Finished>& figures,
                    const std::string& command);

}  // namespace weft::sim
