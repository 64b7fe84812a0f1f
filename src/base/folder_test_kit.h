// base/folder_test_kit.h: a new folder for a test, which goes with all that is in it.
//
// Threads   one at a time.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/check.h"

namespace weft::base {

class TestFolder {
 public:
  // In the system's folder for temporary files, or in `in`.
  explicit TestFolder(const std::string& in = std::filesystem::temp_directory_path().string()) {
    path_ = in + "/weft-test-XXXXXX";
    WEFT_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace weft::base
