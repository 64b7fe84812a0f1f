// Picking, driven by the texts in testdata/picker: each says what it shows. A case is a command,
// lines that belong to it, "----", and what is expected up to an empty line; a line that begins
// with # is a remark. WEFT_REWRITE=1 writes what happened into the files instead: read the
// difference before you keep it.
//
//   store trigger=N buffer=N level1=N file=N seeks=0|1   a new store; lines: L<level> <number>
//                                                       <smallest>[@seq]..<largest>[@seq] <bytes>
//   pick, range LEVEL BEGIN END, rewrite LEVEL BEGIN END NUMBER     begin compactions 1, 2, ...
//   done N      compaction N ends; its outputs as lines
//   fail N      compaction N ends without any
//   seek NUMBER TIMES, level SMALLEST..LARGEST, scores, debt, targets, job N, show
#include "lsm/compaction_picker.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lsm/version_test_kit.h"

namespace weft::lsm {
namespace {

std::string Key(const std::string& text, uint64_t default_sequence) {
  const size_t at = text.find('@');
  const uint64_t sequence =
      at == std::string::npos ? default_sequence : std::stoull(text.substr(at + 1));
  return ValueKey(text.substr(0, at), sequence);
}

NewFile ParseTable(const std::string& line) {
  std::istringstream in(line);
  std::string level;
  std::string span;
  NewFile file;
  in >> level >> file.number >> span >> file.bytes;
  file.level = level[1] - '0';
  const size_t dots = span.find("..");
  file.smallest = Key(span.substr(0, dots), file.number);
  file.largest = Key(span.substr(dots + 2), file.number);
  return file;
}

std::string Numbers(const std::vector<FileRef>& files) {
  std::string text;
  for (const FileRef& file : files) {
    text += (text.empty() ? "" : " ") + std::to_string(file->number);
  }
  return "[" + text + "]";
}

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

class Script {
 public:
  // What the command answers, a line each.
  std::string Run(const std::string& command, const std::vector<std::string>& lines) {
    std::istringstream in(command);
    std::string verb;
    in >> verb;
    if (verb == "store") return Store(in, lines);
    if (verb == "pick") return Begin({picker_->Pick(version_), false, std::nullopt});
    if (verb == "range" || verb == "rewrite") return Manual(verb == "rewrite", in);
    if (verb == "done") return Done(in, lines);
    if (verb == "fail") return Fail(in);
    if (verb == "seek") return Seek(in);
    if (verb == "level") return LevelFor(in);
    if (verb == "job") return Job(in);
    if (verb == "scores") return Scores();
    if (verb == "debt") return std::to_string(picker_->targets().DebtBytes(*version_)) + "\n";
    if (verb == "targets") return Targets();
    if (verb == "show") return Show();
    return "no such command\n";
  }

 private:
  std::string Store(std::istringstream& in, const std::vector<std::string>& lines) {
    running_.clear();
    options_ = {};
    options_.seek_compaction = false;
    for (std::string setting; in >> setting;) {
      const size_t at = setting.find('=');
      const auto value = static_cast<uint64_t>(std::stoull(setting.substr(at + 1)));
      const std::string name = setting.substr(0, at);
      if (name == "trigger") options_.level0_compaction_trigger = static_cast<int>(value);
      if (name == "buffer") options_.write_buffer_size = value;
      if (name == "level1") options_.level1_bytes_max = value;
      if (name == "file") options_.max_file_size = value;
      if (name == "seeks") options_.seek_compaction = value != 0;
    }
    pointers_ = {};
    picker_ = std::make_unique<CompactionPicker>(options_, &pointers_);
    version_ = Version::MakeEmpty(&kit_.comparator, kit_.tables.get());
    VersionEdit edit;
    for (const std::string& line : lines) edit.new_files.push_back(ParseTable(line));
    return Apply(edit);
  }

  std::string Apply(const VersionEdit& edit) {
    Result<VersionRef> next = version_->Apply(edit);
    if (!next) return next.error().ToString() + "\n";
    version_ = std::move(next.value());
    return "";
  }

  std::string Begin(CompactionPicker::ManualPick pick) {
    if (pick.busy) return "busy\n";
    if (pick.compaction == nullptr) return "none\n";
    const Compaction& c = *pick.compaction;
    static constexpr const char* kReasons[] = {"size", "seeks", "manual"};
    std::string text = std::to_string(running_.size() + 1) + ": " +
                       kReasons[static_cast<int>(c.reason)] + ", level " + std::to_string(c.level) +
                       " " + Numbers(c.inputs[0]) + " to " + std::to_string(c.output_level) + " " +
                       Numbers(c.inputs[1]);
    text += ", grandparents " + Numbers(c.grandparents) + ", " + c.smallest + ".." + c.largest;
    if (c.trivial_move) text += ", moved";
    if (pick.next_begin) text += ", then from " + *pick.next_begin;
    running_.push_back(std::move(pick.compaction));
    return text + "\n";
  }

  std::string Manual(bool rewrite, std::istringstream& in) {
    int level = 0;
    std::string begin;
    std::string end;
    uint64_t number_end = 0;
    in >> level >> begin >> end >> number_end;
    const std::string_view begin_key = begin;
    const std::string_view end_key = end;
    const UserKeyRange range{begin == "*" ? nullptr : &begin_key, end == "*" ? nullptr : &end_key};
    return Begin(rewrite ? picker_->PickRewrite(version_, level, range, number_end)
                         : picker_->PickRange(version_, level, range));
  }

  Compaction* Running(std::istringstream& in) {
    size_t i = 0;
    in >> i;
    return running_.at(i - 1).get();
  }

  std::string Done(std::istringstream& in, const std::vector<std::string>& lines) {
    const Compaction* compaction = Running(in);
    VersionEdit edit;
    compaction->AddTo(&edit);
    for (const std::string& line : lines) edit.new_files.push_back(ParseTable(line));
    picker_->Release(*compaction);
    return Apply(edit);
  }

  std::string Fail(std::istringstream& in) {
    picker_->Release(*Running(in));
    return "";
  }

  std::string Seek(std::istringstream& in) {
    uint64_t number = 0;
    int times = 0;
    in >> number >> times;
    bool asked = false;
    for (int level = 0; level < kLevels; ++level) {
      for (const FileRef& file : version_->level(level).files()) {
        if (file->number != number) continue;
        for (int i = 0; i < times; ++i) asked = version_->ChargeSeek({file.get(), level}) || asked;
      }
    }
    return asked ? "wants compaction\n" : "nothing\n";
  }

  std::string LevelFor(std::istringstream& in) {
    std::string span;
    in >> span;
    const size_t dots = span.find("..");
    const int level =
        picker_->LevelForMemTable(*version_, span.substr(0, dots), span.substr(dots + 2));
    return std::to_string(level) + "\n";
  }

  std::string Job(std::istringstream& in) {
    const compaction::Job job = Running(in)->ToJob(options_.file_system, options_, {}, 9);
    std::string text =
        "level " + std::to_string(job.level) + " to " + std::to_string(job.output_level) + "\n";
    const auto numbers = [](const std::vector<compaction::JobTable>& tables) {
      std::string list;
      for (const auto& table : tables) list += " " + std::to_string(table.number);
      return list + "\n";
    };
    for (const auto& run : job.runs) text += "run" + numbers(run);
    text += "grandparents" + numbers(job.grandparents);
    for (const auto& spans : job.deeper) {
      text += "deeper";
      for (const auto& span : spans) text += " " + span.smallest + ".." + span.largest;
      text += "\n";
    }
    return text;
  }

  std::string Scores() {
    std::string text;
    for (int level = 0; level < kLevels; ++level) {
      text += Fixed(picker_->Scores(*version_)[static_cast<size_t>(level)]);
      if (level + 1 < kLevels) text += " ";
    }
    return text + (picker_->NeedsCompaction(*version_) ? ", due\n" : ", at rest\n");
  }

  std::string Targets() {
    std::string text;
    for (int level = 1; level < kLevels; ++level) {
      text += (level > 1 ? " " : "") + std::to_string(picker_->targets().TargetBytes(level));
    }
    return text + "\n";
  }

  std::string Show() {
    std::string text;
    for (int level = 0; level < kLevels; ++level) {
      const std::span<const FileRef> files = version_->level(level).files();
      if (files.empty()) continue;
      text += "L" + std::to_string(level) + " " +
              Numbers(std::vector<FileRef>(files.begin(), files.end())) + "\n";
    }
    return text;
  }

  VersionFixture kit_;
  DbOptions options_;
  CompactPointers pointers_;
  std::unique_ptr<CompactionPicker> picker_;
  VersionRef version_;
  std::vector<std::unique_ptr<Compaction>> running_;
};

// Runs a file's cases; what they gave, in the form of the file.
std::string RunFile(const std::string& content) {
  Script script;
  std::istringstream in(content);
  std::string result;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') {
      result += line + "\n";
      continue;
    }
    const std::string command = line;
    result += command + "\n";
    std::vector<std::string> lines;
    while (std::getline(in, line) && line != "----") {
      lines.push_back(line);
      result += line + "\n";
    }
    result += "----\n" + script.Run(command, lines);
    while (std::getline(in, line) && !line.empty()) {
    }
    result += "\n";
  }
  // A file ends with its last line, not with the empty one behind a case.
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

TEST(CompactionPicker, PicksAsTheTextsSay) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(WEFT_SOURCE_DIR "/src/lsm/testdata/picker")) {
    ++files;
    std::ostringstream content;
    content << std::ifstream(entry.path()).rdbuf();
    const std::string result = RunFile(content.str());
    if (std::getenv("WEFT_REWRITE") != nullptr) {
      std::ofstream(entry.path()) << result;
    } else {
      EXPECT_EQ(result, content.str()) << entry.path();
    }
  }
  EXPECT_GE(files, 5);
}

}  // namespace
}  // namespace weft::lsm
