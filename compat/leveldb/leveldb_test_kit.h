// compat/leveldb/leveldb_test_kit.h: helpers that the tests of this folder share.
//
// Threads   one at a time.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace weft::compat {

// An empty folder; its end removes it with all in it.
class TestFolder {
 public:
  TestFolder() : path_(std::filesystem::temp_directory_path() / "weft-compat-XXXXXX") {
    WEFT_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TestFolder() {
    std::error_code ignored;  // what stays behind is in the system's folder for such
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace weft::compat
