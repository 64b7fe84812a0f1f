#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "weft/logger.h"

namespace weft::base {
namespace {

// A line with each digit made 9, and each run of them at its thread's number made one.
std::string Shape(std::string line) {
  for (char& c : line) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) c = '9';
  }
  const size_t thread = line.find(' ') + 1;
  return line.substr(0, thread) + "9" + line.substr(line.find_first_not_of('9', thread));
}

std::vector<std::string> Lines(const MemoryFileSystem& files) {
  std::istringstream text(files.Contents("/LOG").value());
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

TEST(FileLogger, LinesHaveDateAndThreadAndAreFlushed) {
  MemoryFileSystem files;
  auto logger = NewFileLogger(&files, "/LOG");
  ASSERT_TRUE(logger.has_value());
  (*logger)->Log("opened");
  (*logger)->Log("two\nlines are one");
  (*logger)->Log("");
  const std::vector<std::string> lines = Lines(files);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(Shape(lines[0]), "9999/99/99-99:99:99.999999 9 opened");
  EXPECT_EQ(Shape(lines[1]), "9999/99/99-99:99:99.999999 9 two lines are one");
  EXPECT_EQ(Shape(lines[2]), "9999/99/99-99:99:99.999999 9 ");
  EXPECT_LE(lines[0].substr(0, 26), lines[2].substr(0, 26));
}

TEST(FileLogger, ThreadsLogWholeLines) {
  MemoryFileSystem files;
  auto logger = NewFileLogger(&files, "/LOG");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) (*logger)->Log("a line of some length");
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = Lines(files);
  EXPECT_EQ(lines.size(), 400u);
  for (const std::string& line : lines) {
    EXPECT_EQ(Shape(line), "9999/99/99-99:99:99.999999 9 a line of some length");
  }
}

TEST(FileLogger, ErrorsAreGivenAtOpeningAndDroppedLater) {
  MemoryFileSystem memory;
  FaultyFileSystem files(&memory);
  EXPECT_EQ(NewFileLogger(&files, "/none/LOG").error().code(), Code::kNotFound);
  auto logger = NewFileLogger(&files, "/LOG");
  ASSERT_TRUE(logger.has_value());
  files.FailCall(1);
  (*logger)->Log("lost");
  (*logger)->Log("kept");
  EXPECT_EQ(Lines(memory).size(), 1u);
}

}  // namespace
}  // namespace weft::base
