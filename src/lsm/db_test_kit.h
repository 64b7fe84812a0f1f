// lsm/db_test_kit.h: what the tests of a whole store share: one in memory, that is opened and read.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/memory_file_system.h"
#include "weft/db.h"

namespace weft {

class DbFixture : public testing::Test {
 protected:
  DbFixture() {
    options.create_if_missing = true;
    options.file_system = &files;
    options.write_buffer_size = 64 << 10;
  }
  ~DbFixture() override { Close(); }

  // Anew, where it is open.
  void Open() {
    Close();
    auto opened = Db::Open(options, "/db");
    ASSERT_TRUE(opened.has_value()) << opened.error().ToString();
    db = std::move(*opened);
  }
  void Close() { db.reset(); }
  // The value, "(none)", or the error's text.
  std::string Get(std::string_view key, const Snapshot* snapshot = nullptr) {
    std::string value;
    ReadOptions read;
    read.verify_checksums = true;
    read.snapshot = snapshot;
    const Status status = db->Get(read, key, &value);
    if (status.code() == Code::kNotFound) return "(none)";
    return status.ok() ? value : status.ToString();
  }

  base::MemoryFileSystem files;
  DbOptions options;
  std::unique_ptr<Db> db;
};

}  // namespace weft
