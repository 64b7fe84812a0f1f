#include "text_logger.h"

#include <cstdio>
#include <string>

#include "policies.h"

namespace weft::compat {

void TextLogger::Logv(const char* format, std::va_list ap) {
  std::va_list again;  // the first pass uses `ap` up
  va_copy(again, ap);
  char room[512];
  const int written = std::vsnprintf(room, sizeof room, format, ap);
  const size_t bytes = written < 0 ? 0 : static_cast<size_t>(written);
  std::string longer;
  std::string_view line(room, bytes);
  if (bytes >= sizeof room) {
    longer.resize(bytes);
    std::vsnprintf(longer.data(), bytes + 1, format, again);
    line = longer;
  }
  va_end(again);
  if (line.ends_with('\n')) line.remove_suffix(1);  // a line of the log ends by itself
  lines_->Log(line);
}

namespace {

class UserLogger final : public Logger {
 public:
  explicit UserLogger(leveldb::Logger* user) : user_(user) {}
  void Log(std::string_view line) override {
    leveldb::Log(user_, "%.*s", static_cast<int>(line.size()), line.data());
  }

 private:
  leveldb::Logger* const user_;
};

}  // namespace

std::shared_ptr<Logger> ToWeft(leveldb::Logger* given) {
  return given == nullptr ? nullptr : std::make_shared<UserLogger>(given);
}

}  // namespace weft::compat
