// lsm/string_file_test_kit.h: files that are strings, for tests and fuzzers of what reads and
// writes logs.
//
// Threads   one at a time.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "weft/file_system.h"
#include "weft/status.h"

namespace weft::lsm {

// Appends to a string that outlives it.
class StringSink final : public WritableFile {
 public:
  explicit StringSink(std::string* to) : to_(to) {}
  Status Append(std::string_view data) override {
    to_->append(data);
    return {};
  }
  Status Flush() override { return {}; }
  Status Sync() override { return {}; }
  Status Close() override { return {}; }

 private:
  std::string* const to_;
};

// Reads a string that outlives it, up to `fail_at`: a read that would go further fails.
class StringSource final : public SequentialFile {
 public:
  explicit StringSource(std::string_view content, size_t fail_at = std::string_view::npos)
      : content_(content), fail_at_(fail_at) {}
  Status Read(size_t bytes, std::string_view* result, char* scratch) override {
    const size_t take = std::min(bytes, content_.size() - at_);
    if (at_ + take > fail_at_)
      return Status(Code::kIoError, "the rest of the string is unreadable");
    std::copy_n(content_.data() + at_, take, scratch);
    *result = {scratch, take};
    at_ += take;
    return {};
  }
  Status Skip(uint64_t bytes) override {
    at_ = std::min<size_t>(content_.size(), at_ + bytes);
    return {};
  }

 private:
  const std::string_view content_;
  const size_t fail_at_;
  size_t at_ = 0;
};

}  // namespace weft::lsm
