#include "lsm/patient_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "base/clock.h"
#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"

namespace weft::lsm {
namespace {

class PatientFilesTest : public testing::Test {
 protected:
  PatientFilesTest() {
    EXPECT_TRUE(memory.CreateDir("/d").ok());
    EXPECT_TRUE(memory.SetContents("/d/table", "text").ok());
    faulty.SetHook([this](const base::FileCall&) {
      calls++;
      if (closes_at == calls) closing = true;
      return calls <= fails ? Status(code, "test") : Status();
    });
  }

  // Each in turn, from a count of no calls on.
  template <typename Check>
  void ForEachCall(Check check) {
    calls = 0;
    check(files.SyncDir("/d"));
    calls = 0;
    auto read = files.NewRandomAccessFile("/d/table");
    check(read ? Status() : read.error());
    calls = 0;
    auto made = files.NewWritableFile("/d/more", FileUse::kTable);
    check(made ? Status() : made.error());
  }

  base::MemoryFileSystem memory;
  base::FaultyFileSystem faulty{&memory};
  std::atomic<bool> closing{false};
  PatientFiles files{&faulty, &closing};
  Code code = Code::kRetryLater;
  int calls = 0;
  int fails = 0;      // so many calls fail
  int closes_at = 0;  // the call during which the store begins to close
};

TEST_F(PatientFilesTest, WhatFindsNoDescriptorIsTriedAgain) {
  fails = 3;
  ForEachCall([this](const Status& status) {
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(calls, 4);
  });
}

TEST_F(PatientFilesTest, PatienceEnds) {
  fails = 1'000'000;
  const uint64_t begin_ns = base::NowNs();
  EXPECT_EQ(files.SyncDir("/d").code(), Code::kRetryLater);
  EXPECT_GE(base::NowNs() - begin_ns, 900'000'000u);
  EXPECT_EQ(calls, 51);
}

TEST_F(PatientFilesTest, NobodyWaitsOnceTheStoreIsClosing) {
  fails = 1'000'000;
  closes_at = 2;
  EXPECT_EQ(files.SyncDir("/d").code(), Code::kRetryLater);
  EXPECT_EQ(calls, 2);
  ForEachCall([this](const Status& status) {
    EXPECT_EQ(status.code(), Code::kRetryLater);
    EXPECT_EQ(calls, 1);
  });
}

TEST_F(PatientFilesTest, OtherErrorsAreToldAtOnce) {
  fails = 1'000'000;
  code = Code::kIoError;
  ForEachCall([this](const Status& status) {
    EXPECT_EQ(status.code(), Code::kIoError);
    EXPECT_EQ(calls, 1);
  });
}

}  // namespace
}  // namespace weft::lsm
