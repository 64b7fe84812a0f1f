#include "server/password_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/folder_test_kit.h"

namespace weft::server {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

class PasswordFileTest : public testing::Test {
 protected:
  Result<PasswordFile> Read(std::string_view text,
                            PasswordFile::Form form = PasswordFile::Form::kToken) {
    const std::string path = dir_.path() + "/passwords";
    std::ofstream(path) << text;
    return PasswordFile::Read(path, form);
  }
  std::string Complaint(std::string_view text) {
    auto file = Read(text);
    return file ? "none" : std::string(file.error().message());
  }

  base::TestFolder dir_;
};

TEST_F(PasswordFileTest, AdmitsWhoeverIsInIt) {
  auto file = Read("alice:secret\r\nbob:pa:ss");
  ASSERT_TRUE(file) << file.error().ToString();
  EXPECT_EQ(file->size(), 2u);
  EXPECT_TRUE(file->Admits("alice", "secret"));
  EXPECT_TRUE(file->Admits("bob", "pa:ss"));
  EXPECT_FALSE(file->Admits("alice", "pa:ss"));
  EXPECT_FALSE(file->Admits("alice", "secre"));
  EXPECT_FALSE(file->Admits("alice", "secret "));
  EXPECT_FALSE(file->Admits("alic", "esecret"));
  EXPECT_FALSE(file->Admits("", ""));
  EXPECT_FALSE(file->Admits(std::string_view("alice\0secret", 12), ""));
}

TEST_F(PasswordFileTest, OfSaslAFurtherColonEndsThePassword) {
  auto file = Read("bob:pass:more\n", PasswordFile::Form::kSasl);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->Admits("bob", "pass"));
  EXPECT_FALSE(file->Admits("bob", "pass:more"));
}

TEST_F(PasswordFileTest, RefusesWhatMemcachedWouldDropInSilence) {
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += "user" + std::to_string(i) + ":secret\n";
  EXPECT_THAT(Complaint(nine), EndsWith("line 9: 8 lines are allowed"));
  EXPECT_TRUE(Read(nine.substr(0, nine.size() - 14)));
  EXPECT_THAT(Complaint("a:" + std::string(300, 's') + "\n"),
              EndsWith("line 1: it is longer than 256 bytes"));
  EXPECT_THAT(Complaint("a:b\nsecret without a user\n"),
              EndsWith("line 2: it should be user:password"));
  EXPECT_THAT(Complaint("a:secret\n\n"), EndsWith("line 2: it should be user:password"));
  EXPECT_THAT(Complaint(":secret\n"), Not(HasSubstr("secret")));
  EXPECT_THAT(Complaint("a:\n"), EndsWith("line 1: the password is empty"));
  EXPECT_THAT(Complaint(""), EndsWith("names no user"));
}

TEST_F(PasswordFileTest, SaysWhichFileIsNotThere) {
  auto file = PasswordFile::Read(dir_.path() + "/none", PasswordFile::Form::kToken);
  ASSERT_FALSE(file);
  EXPECT_THAT(std::string(file.error().message()), HasSubstr(dir_.path() + "/none"));
  EXPECT_FALSE(PasswordFile::Read(dir_.path(), PasswordFile::Form::kToken));
  const std::string pipe = dir_.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  file = PasswordFile::Read(pipe, PasswordFile::Form::kToken);
  ASSERT_FALSE(file);
  EXPECT_THAT(std::string(file.error().message()), EndsWith("is no regular file"));
}

}  // namespace
}  // namespace weft::server
