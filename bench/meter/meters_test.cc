#include "bench/meter/meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>

#include "base/folder_test_kit.h"
#include "bench/harness/machine.h"
#include "bench/meter/meter_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;

constexpr const char* kSchemaNames[] = {"cpu_s",
                                        "client_cpu_s",
                                        "instructions",
                                        "cycles",
                                        "branch_misses",
                                        "cache_misses",
                                        "context_switches",
                                        "page_faults",
                                        "disk_read_bytes",
                                        "disk_written_bytes",
                                        "resident_bytes",
                                        "energy_j",
                                        "power_w_mean",
                                        "gpu_energy_j",
                                        "memory_bandwidth_bytes_per_s"};

// Some systems that carry out another's calls show a process none of its own CPU time here.
bool ProcTellsOwnTime() {
  Spin(50'000'000);
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  for (int field = 3; field < 14; ++field) fields >> text;
  long user = 0, system = 0;
  return fields >> user >> system && user + system > 0;
}

MeterOptions WithModel() {
  MeterOptions options;
  options.energy = "model:100,200";
  return options;
}

TEST(MeterSet, EveryNameOfTheSchemaHasAValueOrAReason) {
  MeterOptions options;
  options.bandwidth = TriadOptions();
  options.bandwidth->seconds = 0.05;
  options.bandwidth->array_bytes = 8 << 20;
  auto set = MeterSet::Make(options);
  ASSERT_TRUE(set) << set.error().ToString();
  (*set)->Start({getpid()});
  const nlohmann::json json = ToJson((*set)->Stop());
  for (const char* name : kSchemaNames) {
    ASSERT_TRUE(json.contains(name)) << name;
    const nlohmann::json& one = json.at(name);
    if (one.contains("unavailable")) {
      EXPECT_NE("", one.at("unavailable").get<std::string>()) << name;
    } else {
      EXPECT_TRUE(one.at("value").is_number()) << name;
      EXPECT_NE("", one.at("source").get<std::string>()) << name;
    }
  }
}

TEST(MeterSet, SlicesOfASpinningProcess) {
  if (!ProcTellsOwnTime()) GTEST_SKIP() << "/proc/self/stat has no CPU time";
  auto set = MeterSet::Make(WithModel());
  ASSERT_TRUE(set);
  PowerBounds bounds;
  bounds.Before();
  (*set)->Start({getpid()});
  bounds.Begun();
  Spin(300'000'000);
  bounds.Asked();
  const MeterSlice busy = (*set)->Sample();
  bounds.Answered();
  EXPECT_EQ(0, busy.at_s);
  ASSERT_TRUE(busy.cpu_percent && busy.power);
  // Other work may keep it from a CPU, so seconds of CPU time are compared, not percents.
  EXPECT_NEAR(0.3, *busy.cpu_percent / 100 * busy.seconds, 0.03);
  EXPECT_GE(busy.power->value(), bounds.Least(100));
  EXPECT_LE(busy.power->value(), bounds.Most(200));
  usleep(200'000);
  const MeterSlice idle = (*set)->Sample();
  EXPECT_DOUBLE_EQ(busy.seconds, idle.at_s);
  EXPECT_LE(*idle.cpu_percent / 100 * idle.seconds, 0.03);
  EXPECT_THAT(ToJson(idle), testing::SizeIs(4));
}

TEST(MeterSet, TheClientIsCountedApartFromTheStore) {
  if (!ProcTellsOwnTime()) GTEST_SKIP() << "/proc/self/stat has no CPU time";
  const pid_t store = fork();
  if (store == 0) {
    pause();
    _exit(0);
  }
  auto set = MeterSet::Make(WithModel());
  ASSERT_TRUE(set);
  (*set)->Start({store});
  Spin(200'000'000);
  Readings readings = (*set)->Stop();
  EXPECT_NEAR(0.2, readings.at("client_cpu_s").value(), 0.03);
  EXPECT_NEAR(0, readings.at("cpu_s").value(), 0.011);
  (*set)->Start({getpid()});
  readings = (*set)->Stop();
  EXPECT_THAT(readings.at("client_cpu_s").reason(), HasSubstr("in the client's process"));
  kill(store, SIGKILL);
  waitpid(store, nullptr, 0);
}

// Read calls of this process so far; none where the system does not tell.
std::optional<uint64_t> ReadCalls() {
  std::ifstream file("/proc/self/io");
  uint64_t calls = 0;
  for (std::string name; file >> name >> calls;)
    if (name == "syscr:") return calls;
  return std::nullopt;
}

// How long a sample takes is the machine's; how often it asks the system is not.
TEST(MeterSet, SamplingCostsLittle) {
  auto set = MeterSet::Make(WithModel());
  ASSERT_TRUE(set);
  (*set)->Start({getpid()});
  constexpr int kSamples = 50;
  const auto calls_before = ReadCalls();
  const double before_s = ThreadCpuSeconds();
  for (int i = 0; i < kSamples; ++i) (*set)->Sample();
  const double spent_s = ThreadCpuSeconds() - before_s;
  const auto calls_after = ReadCalls();
  const double told_s = (*set)->Stop().at("meter_cpu_s").value();
  RecordProperty("microseconds_a_sample", std::to_string(told_s / kSamples * 1e6));
  EXPECT_GT(told_s, 0);
  EXPECT_LE(told_s, spent_s);
  if (!calls_before || !calls_after) GTEST_SKIP() << "/proc/self/io has no calls";
  EXPECT_LE(*calls_after - *calls_before, 30u * kSamples) << "three times what one thread takes";
}

TEST(MeterSet, EmulatedEnergyOfTheWholeRun) {
  const base::TestFolder folder;
  std::ofstream(folder / "stat") << "cpu 0 0 0 0 0 0 0\n";
  MeterOptions options = WithModel();
  options.places.stat = folder / "stat";
  auto set = MeterSet::Make(options);
  ASSERT_TRUE(set);
  PowerBounds bounds;
  bounds.Before();
  (*set)->Start({getpid()});
  bounds.Begun();
  std::ofstream(folder / "stat") << "cpu 50 0 0 50 0 0 0\n";
  usleep(100'000);
  bounds.Asked();
  const Readings readings = (*set)->Stop();
  bounds.Answered();
  EXPECT_GE(readings.at("power_w_mean").value(), bounds.Least(150));
  EXPECT_LE(readings.at("power_w_mean").value(), bounds.Most(150));
  EXPECT_TRUE(readings.at("power_w_mean").modelled());
}

TEST(MeterSet, WordsThatMeanNothingAreAnErrorAndMissingMetersAreNot) {
  MeterOptions options;
  options.energy = "horses";
  EXPECT_THAT(MeterSet::Make(options).error().message(), HasSubstr("--energy horses"));
  options.energy = "serial:/dev/nowhere";
  auto set = MeterSet::Make(options);
  ASSERT_TRUE(set);
  (*set)->Start({getpid()});
  EXPECT_FALSE((*set)->Sample().power);
  EXPECT_THAT((*set)->Stop().at("energy_j").reason(), HasSubstr("/dev/nowhere"));
}

}  // namespace
}  // namespace weft::bench
