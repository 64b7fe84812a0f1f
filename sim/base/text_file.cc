#include "sim/base/text_file.h"

#include <cerrno>
#include <fstream>

namespace weft::sim {

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

Status WriteText(const std::string& path, const std::string& text, std::ios::openmode mode) {
  std::ofstream file(path, mode);
  if (!file) return Status::FromErrno("open " + path, errno);
  file << text;
  file.close();
  if (!file) return {Code::kIoError, "write " + path};
  return Status::Ok();
}

}  // namespace weft::sim
