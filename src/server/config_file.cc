#include "server/config_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include <fmt/format.h>

namespace weft::server {
namespace {

constexpr std::string_view kFlag = "--config";
constexpr std::string_view kBlanks = " \t\r";

// The next word of `rest`, which loses it; empty at the end.
std::string_view TakeWord(std::string_view* rest) {
  rest->remove_prefix(std::min(rest->find_first_not_of(kBlanks), rest->size()));
  const std::string_view word = rest->substr(0, rest->find_first_of(kBlanks));
  rest->remove_prefix(word.size());
  return word;
}

// A comment begins with a # at the front of a word.
std::string_view WithoutComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || kBlanks.find(line[i - 1]) != kBlanks.npos))
      return line.substr(0, i);
  }
  return line;
}

bool IsPassedOver(std::string_view flag) {
  return flag == "logfile" || flag == "-d" || flag == "--daemon" || flag == "-h" ||
         flag == "--help";
}

Status AddFile(const std::string& path, std::vector<std::string>* words) {
  std::ifstream file(path);
  if (!file) return Status::FromErrno("--config " + path, errno);
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    std::string_view rest = WithoutComment(text);
    const std::string_view flag = TakeWord(&rest);
    if (flag.empty() || IsPassedOver(flag)) continue;
    if (flag[0] != '-' || flag == kFlag || flag.starts_with("--config="))
      return {Code::kInvalidArgument,
              fmt::format("--config {}, line {}: '{}' is no flag that may stand there", path,
                          number, flag)};
    for (std::string_view word = flag; !word.empty(); word = TakeWord(&rest))
      words->emplace_back(word);
  }
  if (file.bad()) return Status::FromErrno("--config " + path, errno);
  return {};
}

}  // namespace

Result<std::vector<std::string>> WithConfigFiles(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    std::string path;
    if (word == kFlag) {
      if (i + 1 == words.size()) return Status(Code::kInvalidArgument, "--config needs a file");
      path = words[++i];
    } else if (word.starts_with("--config=")) {
      path = word.substr(kFlag.size() + 1);
    } else {
      all.push_back(words[i]);
      continue;
    }
    if (Status status = AddFile(path, &all); !status.ok()) return status;
  }
  return all;
}

}  // namespace weft::server
