// tool/db/db_test_kit.h: a store in memory, and commands of `weft db` to run on it. For tests.
//
// Threads   one at a time.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"
#include "tool/db/commands.h"
#include "weft/db.h"

namespace weft::tool {

inline std::string Key(int i) {
  const std::string text = std::to_string(i);
  return "key" + std::string(6 - text.size(), '0') + text;
}

class DbCommandTest : public testing::Test {
 protected:
  Exit Run(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    std::istringstream in(input);
    const Exit exit = RunDb({&files, out, err, &in}, arguments);
    output = out.str();
    errors = err.str();
    return exit;
  }
  std::unique_ptr<Db> Open(bool create = false) {
    DbOptions options;
    options.file_system = &files;
    options.create_if_missing = create;
    auto db = Db::Open(options, "/db");
    EXPECT_TRUE(db.has_value()) << db.error().ToString();
    return std::move(*db);
  }
  // A store with tables and a log.
  void Fill() {
    auto db = Open(true);
    for (int i = 0; i < 2000; i++) {
      ASSERT_TRUE(db->Put({}, Key(i), "value" + std::to_string(i)).ok());
    }
    ASSERT_TRUE(db->Flush().ok());
    ASSERT_TRUE(db->Delete({}, Key(7)).ok());
    ASSERT_TRUE(db->Put({}, Key(8), "newer").ok());
  }
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    for (const std::string& path : files.AllFiles()) contents[path] = *files.Contents(path);
    return contents;
  }
  std::string Find(std::string_view end) {
    for (const std::string& path : files.AllFiles()) {
      if (path.ends_with(end) && path.find("lost") == path.npos) return path;
    }
    ADD_FAILURE() << "no file " << end;
    return "";
  }
  static std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  base::MemoryFileSystem files;
  std::string input;
  std::string output;
  std::string errors;
};

}  // namespace weft::tool
