#include "bench/meter/process_meter.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/folder_test_kit.h"
#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

// A process that does `work` when told to, and then waits to be ended.
class Child {
 public:
  explicit Child(const std::function<void()>& work) {
    WEFT_CHECK(pipe(go_) == 0 && pipe(done_) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      char byte = 0;
      if (read(go_[0], &byte, 1) != 1) _exit(1);
      work();
      if (write(done_[1], &byte, 1) != 1) _exit(1);
      pause();
      _exit(0);
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    for (const int fd : {go_[0], go_[1], done_[0], done_[1]}) close(fd);
  }
  void Work() {
    char byte = 0;
    ASSERT_EQ(1, write(go_[1], &byte, 1));
    ASSERT_EQ(1, read(done_[0], &byte, 1));
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int go_[2];
  int done_[2];
};

Readings Measure(const std::function<void()>& work) {
  Child child(work);
  ProcessMeter meter;
  meter.Start({child.pid()});
  child.Work();
  return meter.Stop();
}

double Value(const Readings& readings, const std::string& name) {
  const Reading& reading = readings.at(name);
  EXPECT_TRUE(reading.available()) << name << ": " << reading.reason();
  return reading.available() ? reading.value() : -1;
}

TEST(ProcessMeter, CpuSecondsOfASpinningChild) {
  const Readings readings = Measure([] { Spin(1'000'000'000); });
  EXPECT_NEAR(1, Value(readings, "cpu_s"), 0.05);
  // The parts are counted in steps.
  EXPECT_NEAR(Value(readings, "cpu_s"),
              Value(readings, "cpu_user_s") + Value(readings, "cpu_system_s"), 0.041);
}

TEST(ProcessMeter, CpuSecondsOfLessThanAStep) {
  const Readings readings = Measure([] { Spin(3'000'000); });
  EXPECT_GE(Value(readings, "cpu_s"), 0.003);
  EXPECT_LT(Value(readings, "cpu_s"), 0.5);
}

TEST(ProcessMeter, CpuSecondsOfThreadsThatEndedAndOfChildren) {
  const Readings readings = Measure([] {
    std::thread([] { Spin(400'000'000); }).join();
    const pid_t waited_for = fork();
    if (waited_for == 0) {
      Spin(300'000'000);
      _exit(0);
    }
    waitpid(waited_for, nullptr, 0);
    int done[2];
    if (pipe(done) != 0) _exit(1);
    if (fork() == 0) {
      Spin(300'000'000);
      if (write(done[1], "x", 1) != 1) _exit(1);
      sleep(5);  // still there when the meter stops
      _exit(0);
    }
    char byte;
    if (read(done[0], &byte, 1) != 1) _exit(1);
  });
  EXPECT_NEAR(1, Value(readings, "cpu_s"), 0.07);  // up to a tick more for each of the processes
}

TEST(ProcessMeter, PageFaultsOfTouchedPages) {
  constexpr size_t kPages = 5000;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const Readings readings = Measure([page] {
    void* const memory =
        mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, kPages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < kPages; ++i) static_cast<char*>(memory)[i * page] = 1;
  });
  EXPECT_GE(Value(readings, "page_faults"), kPages);
#ifndef WEFT_SANITIZED  // which touches pages of its own for each of ours
  EXPECT_LE(Value(readings, "page_faults"), kPages + 2000);
#endif
  EXPECT_GE(Value(readings, "resident_bytes"), static_cast<double>(kPages * page));
}

TEST(ProcessMeter, ContextSwitchesOfASleepingLoop) {
  const Readings readings = Measure([] {
    for (int i = 0; i < 300; ++i) usleep(500);
  });
  EXPECT_GE(Value(readings, "voluntary_context_switches"), 300);
  EXPECT_LE(Value(readings, "voluntary_context_switches"), 330);
  EXPECT_GE(Value(readings, "context_switches"), Value(readings, "voluntary_context_switches"));
}

TEST(ProcessMeter, ContextSwitchesOfThreadsThatWereSampled) {
  std::thread sleeper;
  ProcessMeter meter;
  meter.Start({getpid()});
  std::atomic<bool> ready = false, end = false;
  sleeper = std::thread([&] {
    for (int i = 0; i < 200; ++i) usleep(500);
    ready = true;
    while (!end) usleep(500);
  });
  while (!ready) usleep(1000);
  meter.Sample();
  end = true;
  sleeper.join();
  EXPECT_GE(Value(meter.Stop(), "voluntary_context_switches"), 200);
}

TEST(ProcessMeter, DiskBytesOfASyncedFile) {
  constexpr size_t kBytes = 8 << 20;
  const base::TestFolder folder(std::filesystem::current_path());
  const Readings readings = Measure([&] {
    const std::string block(kBytes, 'x');
    const int fd = open((folder / "file").c_str(), O_CREAT | O_WRONLY, 0644);
    if (write(fd, block.data(), kBytes) != kBytes || fsync(fd) != 0) _exit(1);
    close(fd);
  });
  const Reading& written = readings.at("disk_written_bytes");
  if (!written.available()) GTEST_SKIP() << written.reason();
  if (written.value() == 0) GTEST_SKIP() << "this file system's writes are not accounted";
  EXPECT_GE(written.value(), kBytes);
  EXPECT_LE(written.value(), kBytes + (1 << 20));
}

// What /proc would hold, in files.
class EmulatedProc {
 public:
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // Of a process whose figures follow from `n`.
  void Process(int pid, int n, const std::string& children) {
    const std::string base = std::to_string(pid);
    Write(base + "/stat", base + " (a b) c) S 1 1 1 0 -1 0 " + std::to_string(10 * n) + " " +
                              std::to_string(n) + " " + std::to_string(2 * n) + " 0 " +
                              std::to_string(100 * n) + " " + std::to_string(50 * n) +
                              " 20 30 20 0 1\n");
    Write(base + "/io", "rchar: 9\nread_bytes: " + std::to_string(4096 * n) + "\nwrite_bytes: " +
                            std::to_string(8192 * n) + "\ncancelled_write_bytes: 7\n");
    Write(base + "/status", "VmRSS:\t   " + std::to_string(n) + " kB\n");
    Write(base + "/task/" + base + "/status", "voluntary_ctxt_switches:\t" + std::to_string(7 * n) +
                                                  "\nnonvoluntary_ctxt_switches:\t" +
                                                  std::to_string(3 * n) + "\n");
    Write(base + "/task/" + base + "/children", children);
  }
  std::string path() const { return folder_.path(); }

 private:
  base::TestFolder folder_;
};

TEST(ProcessMeter, EmulatedProcessesAndTheirChildren) {
  EmulatedProc proc;
  proc.Process(70, 1, "71 ");
  proc.Process(71, 1, "");
  ProcessMeter meter(proc.path());
  meter.Start({70});
  proc.Process(70, 3, "71 ");
  proc.Process(71, 2, "");
  const Readings readings = meter.Stop();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(3 * 150 / ticks, Value(readings, "cpu_s"));
  EXPECT_DOUBLE_EQ(3 * 100 / ticks, Value(readings, "cpu_user_s"));
  EXPECT_EQ(3 * 13, Value(readings, "page_faults"));
  EXPECT_EQ(3 * 2, Value(readings, "major_page_faults"));
  EXPECT_EQ(3 * 4096, Value(readings, "disk_read_bytes"));
  EXPECT_EQ(3 * 8192, Value(readings, "disk_written_bytes"));
  EXPECT_EQ(3 * 7, Value(readings, "voluntary_context_switches"));
  EXPECT_EQ(3 * 10, Value(readings, "context_switches"));
  EXPECT_EQ(5 * 1024, Value(readings, "resident_bytes"));
}

TEST(ProcessMeter, ProcessesThatAreLeftOutAndTheirChildren) {
  EmulatedProc proc;
  proc.Process(70, 1, "71 73 ");
  proc.Process(71, 1, "72 ");
  proc.Process(72, 1, "");
  proc.Process(73, 1, "");
  EXPECT_EQ((std::vector<pid_t>{70, 73}), WithDescendants({70}, proc.path(), {71}));
  ProcessMeter meter(proc.path(), {71});
  meter.Start({70});
  for (const int pid : {71, 72}) proc.Process(pid, 100, pid == 71 ? "72 " : "");
  proc.Process(73, 3, "");
  EXPECT_EQ(2 * 4096, Value(meter.Stop(), "disk_read_bytes"));
}

TEST(ProcessMeter, AProcessThatIsNotThereIsUnavailableWithItsName) {
  ProcessMeter meter;
  meter.Start({999'999'999});
  for (const auto& [name, reading] : meter.Stop()) {
    EXPECT_FALSE(reading.available()) << name;
    EXPECT_THAT(reading.reason(), HasSubstr("999999999")) << name;
  }
  EXPECT_FALSE(meter.CpuSinceStart());
}

TEST(ProcessMeter, WhatTheKernelDoesNotTellIsUnavailableByItself) {
  EmulatedProc proc;
  proc.Process(70, 1, "");
  std::filesystem::remove(proc.path() + "/70/io");
  proc.Write("70/status", "Name:\tx\n");
  ProcessMeter meter(proc.path());
  meter.Start({70});
  const Readings readings = meter.Stop();
  EXPECT_THAT(readings.at("disk_read_bytes").reason(), HasSubstr("/70/io"));
  EXPECT_THAT(readings.at("resident_bytes").reason(), HasSubstr("has no VmRSS"));
  EXPECT_TRUE(readings.at("cpu_s").available());
}

}  // namespace
}  // namespace weft::bench
