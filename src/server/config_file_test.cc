#include "server/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/folder_test_kit.h"
#include "server/options.h"

namespace weft::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ConfigFileTest : public testing::Test {
 protected:
  std::string Write(std::string_view text) {
    const std::string path = folder_ / "weft.conf";
    std::ofstream(path) << text;
    return path;
  }
  std::string Complaint(const std::vector<std::string>& words) {
    auto all = WithConfigFiles(words);
    return all ? "none" : std::string(all.error().message());
  }

  base::TestFolder folder_;
};

TEST_F(ConfigFileTest, DebiansOwnFileIsRead) {
  const std::string path = Write(
      "# memcached default config file\n"
      "# 2003 - Jay Bonci\n"
      "-d\n"
      "logfile /var/log/memcached.log\n"
      "# -v\n"
      "\n"
      "-m 64\n"
      "  -p 11211   # the default\r\n"
      "-o modern,track_sizes\n"
      "--listen=127.0.0.1\n"
      "-P /var/run/a#b.pid");
  auto all = WithConfigFiles({"-t", "2", "--config", path, "-m", "128"});
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_THAT(*all, ElementsAre("-t", "2", "-m", "64", "-p", "11211", "-o", "modern,track_sizes",
                                "--listen=127.0.0.1", "-P", "/var/run/a#b.pid", "-m", "128"));
  auto parsed = ParseOptions({"--config=" + path, "-m", "128"});
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  EXPECT_EQ(parsed->server.memory_bytes, uint64_t{128} << 20);
  EXPECT_FALSE(parsed->server.daemonize);
}

TEST_F(ConfigFileTest, SaysWhereALineIsNoFlag) {
  EXPECT_THAT(Complaint({"--config", Write("-m 64\n\nmemory 64\n")}),
              HasSubstr("line 3: 'memory' is no flag"));
  EXPECT_THAT(Complaint({"--config", Write("--config other\n")}), HasSubstr("line 1"));
  EXPECT_THAT(Complaint({"--config", folder_ / "none"}), HasSubstr(folder_ / "none"));
  EXPECT_EQ(Complaint({"--config"}), "--config needs a file");
}

}  // namespace
}  // namespace weft::server
