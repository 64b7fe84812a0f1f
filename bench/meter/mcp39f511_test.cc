#include "bench/meter/mcp39f511.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "bench/meter/meter_test_kit.h"
#include "bench/meter/power_sampler.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;
using Bytes = std::string;

// A monitor at the other end of a pseudo-terminal. Its frames are made and checked here by the data
// sheet's words once more, without the meter's code.
class EmulatedMonitor {
 public:
  // Changes an answer on its way; called with the number of the question, from 0.
  using Spoil = std::function<Bytes(int number, Bytes answer)>;

  explicit EmulatedMonitor(Spoil spoil = [](int, Bytes answer) { return answer; })
      : spoil_(std::move(spoil)) {
    char name[100];
    WEFT_CHECK(openpty(&master_, &slave_, name, nullptr, nullptr) == 0);
    path_ = name;
    Set(0x06, 2, 2301);
    Set(0x08, 2, 50'012);
    Set(0x12, 4, 12'345);
    thread_ = std::thread([this] { Serve(); });
  }
  ~EmulatedMonitor() {
    Unplug();
    close(slave_);
  }
  void Unplug() {
    ending_ = true;
    if (thread_.joinable()) thread_.join();
    if (master_ >= 0) close(master_);
    master_ = -1;
  }
  void Set(int address, int bytes, uint32_t value) {
    const base::MutexLock lock(&mutex_);
    for (int i = 0; i < bytes; ++i)
      registers_[address + i] = static_cast<unsigned char>(value >> (8 * i));
  }
  const std::string& path() const { return path_; }
  int questions() const { return questions_; }
  // Waits until it has read so many, for a minute at most.
  int QuestionsUpTo(int count) const {
    for (int looks = 0; looks < 6000 && questions_ < count; ++looks) usleep(10'000);
    return questions_;
  }
  // On a busy machine it may not run for long.
  static Mcp39f511::Options Options(Seconds limit = kAnyGap) {
    Mcp39f511::Options options;
    options.answer_limit = limit;
    return options;
  }

 private:
  static unsigned char Sum(const Bytes& bytes) {
    unsigned sum = 0;
    for (const char byte : bytes) sum += static_cast<unsigned char>(byte);
    return static_cast<unsigned char>(sum % 256);
  }
  Bytes AnswerTo(const Bytes& question) {
    const auto at = [&](size_t i) { return static_cast<unsigned char>(question[i]); };
    if (Sum(question.substr(0, 7)) != at(7)) return Bytes("\x51");
    if (at(0) != 0xA5 || at(1) != 8 || at(2) != 0x41 || at(5) != 0x4E) return Bytes("\x15");
    const base::MutexLock lock(&mutex_);
    Bytes answer("\x06");
    answer += static_cast<char>(at(6) + 3);
    for (int i = 0; i < at(6); ++i)
      answer += static_cast<char>(registers_[at(3) * 256 + at(4) + i]);
    return answer + static_cast<char>(Sum(answer));
  }
  void Serve() {
    Bytes question;
    while (!ending_) {
      pollfd waited{master_, POLLIN, 0};
      if (poll(&waited, 1, 5) <= 0) continue;
      char byte = 0;
      if (read(master_, &byte, 1) != 1) continue;
      question += byte;
      if (question.size() < 8) continue;
      const Bytes answer = spoil_(questions_++, AnswerTo(question));
      question.clear();
      EXPECT_EQ(static_cast<ssize_t>(answer.size()), write(master_, answer.data(), answer.size()));
    }
  }

  const Spoil spoil_;
  int master_ = -1;
  int slave_ = -1;
  std::string path_;
  base::Mutex mutex_;
  std::map<int, unsigned char> registers_ WEFT_GUARDED_BY(mutex_);
  std::atomic<bool> ending_ = false;
  std::atomic<int> questions_ = 0;
  std::thread thread_;
};

// Question 0 is the one for voltage and frequency; the answers to others are spoiled.
EmulatedMonitor::Spoil BehindTheFirst(const EmulatedMonitor::Spoil& spoil) {
  return [spoil](int number, Bytes answer) { return number == 0 ? answer : spoil(number, answer); };
}

// Only time tells of silence. A limit is too short where the monitor does not run for so long: then
// twice as much is tried, up to kAnyGap.
constexpr Seconds kShortLimit(0.1);
void TryWithin(Seconds limit, const std::function<bool(Seconds limit)>& is_done) {
  while (!is_done(std::min(limit, kAnyGap)) && limit < kAnyGap) limit = limit * 2;
}

double PowerWith(const EmulatedMonitor::Spoil& spoil, Seconds limit, int* questions) {
  EmulatedMonitor device(BehindTheFirst(spoil));
  auto monitor = Mcp39f511::Open(device.path(), device.Options(limit));
  if (!monitor) return -1;
  auto power = monitor->ReadPower();
  *questions = device.questions() - 1;
  return power ? power->value() : -1;
}

std::string FailureWith(const EmulatedMonitor::Spoil& spoil, Seconds least_limit = kAnyGap) {
  std::string message;
  TryWithin(least_limit, [&](Seconds limit) {
    EmulatedMonitor device(BehindTheFirst(spoil));
    auto monitor = Mcp39f511::Open(device.path(), device.Options(limit));
    if (!monitor || device.questions() != 1) return false;
    auto power = monitor->ReadPower();
    EXPECT_FALSE(power);
    if (!power) message = power.error().message();
    EXPECT_EQ(4, device.QuestionsUpTo(4));  // it tried three times
    return true;
  });
  return message;
}

TEST(Mcp39f511, AQuestionIsTheDataSheetsFrame) {
  // Written out by hand: A5+08+41+00+12+4E+04 = 0x152.
  EXPECT_EQ(Bytes("\xA5\x08\x41\x00\x12\x4E\x04\x52", 8), Mcp39f511::Question(0x0012, 4));
  EXPECT_EQ(Bytes("\xA5\x08\x41\x01\x02\x4E\x20\x5F", 8), Mcp39f511::Question(0x0102, 32));
}

TEST(Mcp39f511, ReadsVoltageFrequencyAndPower) {
  EmulatedMonitor device;
  auto monitor = Mcp39f511::Open(device.path(), device.Options());
  ASSERT_TRUE(monitor) << monitor.error().ToString();
  EXPECT_DOUBLE_EQ(230.1, monitor->volts());
  EXPECT_DOUBLE_EQ(50.012, monitor->hertz());
  auto power = monitor->ReadPower();
  ASSERT_TRUE(power) << power.error().ToString();
  EXPECT_DOUBLE_EQ(123.45, power->value());
}

TEST(Mcp39f511, TheLineIsSetAsTheDeviceNeedsIt) {
  EmulatedMonitor device;
  auto monitor = Mcp39f511::Open(device.path(), device.Options());
  ASSERT_TRUE(monitor);
  const int fd = open(device.path().c_str(), O_RDWR | O_NOCTTY);
  termios setting;
  ASSERT_EQ(0, tcgetattr(fd, &setting));
  close(fd);
  EXPECT_EQ(speed_t{B115200}, cfgetospeed(&setting));
  EXPECT_EQ(static_cast<tcflag_t>(CS8), setting.c_cflag & (CSIZE | PARENB | CSTOPB));
  EXPECT_EQ(0u, setting.c_lflag & (ICANON | ECHO | ISIG));
}

TEST(Mcp39f511, TwoOutletsAndOtherSteps) {
  EmulatedMonitor device;
  device.Set(0x16, 4, 100'000);
  device.Set(0x1A, 4, 0x01020304);
  Mcp39f511::Options options = device.Options();
  const auto power = [&](Mcp39f511::Part part) {
    options.part = part;
    auto monitor = Mcp39f511::Open(device.path(), options);
    EXPECT_TRUE(monitor);
    return monitor->ReadPower().value().value();
  };
  EXPECT_DOUBLE_EQ(1000, power(Mcp39f511::Part::kFirstOutlet));
  EXPECT_DOUBLE_EQ(0x01020304 * 0.01, power(Mcp39f511::Part::kSecondOutlet));
  options.step = Watts(0.00125);
  EXPECT_DOUBLE_EQ((100'000 + 0x01020304) * 0.00125, power(Mcp39f511::Part::kBothOutlets));
}

TEST(Mcp39f511, ASpoiledAnswerIsAskedForAgain) {
  struct Case {
    const char* name;
    std::function<Bytes(Bytes)> spoil;
    Seconds limit = kAnyGap;
  };
  const Case cases[] = {
      {"checksum", [](Bytes a) { return a.back() ^= 0x40, a; }},
      {"data", [](Bytes a) { return a[3] ^= 0x01, a; }},
      {"NAK", [](Bytes) { return Bytes("\x15"); }},
      {"CSFAIL", [](Bytes) { return Bytes("\x51"); }},
      {"short frame", [](Bytes a) { return a.substr(0, 4); }, kShortLimit},
      {"another length", [](Bytes a) { return a[1] = 9, a; }},
      {"garbage only", [](Bytes) { return Bytes(100, '\x77'); }},
      {"silence", [](Bytes) { return Bytes(); }, kShortLimit},
  };
  for (const Case& one : cases) {
    const auto spoil = [&](int number, Bytes answer) {
      return number == 1 ? one.spoil(answer) : answer;
    };
    int questions = 0;
    double power = 0;
    TryWithin(one.limit, [&](Seconds limit) {
      power = PowerWith(spoil, limit, &questions);
      return power > 0 && questions == 2;
    });
    EXPECT_DOUBLE_EQ(123.45, power) << one.name;
    EXPECT_EQ(2, questions) << one.name;
  }
}

TEST(Mcp39f511, GarbageBeforeAnAnswerIsSkipped) {
  int questions = 0;
  const auto spoil = [](int, Bytes answer) { return "\xFFgarbage\x01" + answer; };
  EXPECT_DOUBLE_EQ(123.45, PowerWith(spoil, kAnyGap, &questions));
  EXPECT_EQ(1, questions);
}

TEST(Mcp39f511, WhatFailsThreeTimesIsAnErrorThatSaysWhat) {
  EXPECT_THAT(FailureWith([](int, Bytes a) { return a.back() ^= 1, a; }),
              HasSubstr("wrong checksum"));
  EXPECT_THAT(FailureWith([](int, Bytes) { return Bytes("\x15"); }), HasSubstr("refuses"));
  EXPECT_THAT(FailureWith([](int, Bytes) { return Bytes("\x51"); }),
              HasSubstr("received a damaged command"));
  EXPECT_THAT(FailureWith([](int, Bytes a) { return a.substr(0, 5); }, kShortLimit),
              HasSubstr("no answer"));
  EXPECT_THAT(FailureWith([](int, Bytes) { return Bytes(); }, kShortLimit), HasSubstr("no answer"));
  EXPECT_THAT(FailureWith([](int, Bytes) { return Bytes(100, 'x'); }), HasSubstr("something else"));
}

TEST(Mcp39f511, ALineThatIsUnpluggedIsLost) {
  EmulatedMonitor device;
  auto monitor = Mcp39f511::Open(device.path(), device.Options());
  ASSERT_TRUE(monitor);
  ASSERT_TRUE(monitor->ReadPower());
  device.Unplug();
  auto power = monitor->ReadPower();
  ASSERT_FALSE(power);
  EXPECT_EQ(Code::kDeviceLost, power.error().code()) << power.error().ToString();
  EXPECT_THAT(power.error().message(), HasSubstr("is gone"));
}

TEST(Mcp39f511, WhyItIsUnavailable) {
  EXPECT_THAT(Mcp39f511::Open("/dev/nowhere", {}).error().message(),
              HasSubstr("open /dev/nowhere: No such file"));
  EXPECT_THAT(Mcp39f511::Open("/dev/null", {}).error().message(), HasSubstr("tcgetattr"));
  Mcp39f511::Options slow;
  slow.baud = 123;
  EXPECT_THAT(Mcp39f511::Open("/dev/null", slow).error().message(), HasSubstr("123 baud"));
  EmulatedMonitor mute([](int, const Bytes&) { return Bytes(); });
  auto monitor = Mcp39f511::Open(mute.path(), mute.Options(Seconds(0.05)));
  ASSERT_FALSE(monitor);
  EXPECT_EQ(Code::kUnsupported, monitor.error().code());
  EXPECT_THAT(monitor.error().message(), HasSubstr("no MCP39F511 answers: no answer from"));
}

TEST(Mcp39f511, SampledPowerIsEnergy) {
  EmulatedMonitor device([](int number, Bytes answer) {  // every fourth answer is spoiled
    if (number % 4 == 3) answer.back() ^= 1;
    return answer;
  });
  auto opened = Mcp39f511::Open(device.path(), device.Options());
  ASSERT_TRUE(opened);
  auto monitor = std::make_shared<Mcp39f511>(std::move(*opened));
  const auto read = [monitor] { return monitor->ReadPower(); };
  {
    PowerSampler sampler("serial", Seconds(0.05), read, kAnyGap);
    const uint64_t begin_ns = base::NowNs();
    ASSERT_TRUE(sampler.Start().ok());
    usleep(500'000);
    auto used = sampler.Used();
    ASSERT_TRUE(used) << used.error().ToString();
    const double spent_s = static_cast<double>(base::NowNs() - begin_ns) * 1e-9;
    EXPECT_GE(used->value(), 123.45 * 0.49);
    EXPECT_LE(used->value(), 123.45 * 1.02 * spent_s);
  }
  PowerSampler sampler("serial", Seconds(0.05), read);
  ASSERT_TRUE(sampler.Start().ok());
  device.Unplug();
  usleep(600'000);
  EXPECT_FALSE(sampler.Used()) << "there was no reading for more than five intervals";
  EXPECT_EQ(Code::kDeviceLost, FailureOf(&sampler).code());
}

}  // namespace
}  // namespace weft::bench
