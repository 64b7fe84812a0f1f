#include "planner/calibration.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/cpu_facts.h"
#include "base/hash.h"

namespace weft::planner {
namespace {

using nlohmann::json;
using pipeline::Task;

constexpr std::string_view kFormat = "weft calibration";
constexpr double kBytesMax = 1e18;
constexpr int kVersion = 5;  // of the file, and of what its figures mean

struct WorkRow {
  std::string_view name;
  Task task;
};
constexpr std::array<WorkRow, kWorkCount> kWorks = {{{"receive", Task::kReceive},
                                                     {"parse", Task::kParse},
                                                     {"place", Task::kMemory},
                                                     {"empty", Task::kMemory},
                                                     {"search", Task::kSearch},
                                                     {"insert", Task::kInsert},
                                                     {"delete", Task::kDelete},
                                                     {"compare", Task::kCompare},
                                                     {"write", Task::kWrite},
                                                     {"gather", Task::kRead},
                                                     {"finish", Task::kCompare},
                                                     {"note", Task::kCompare},
                                                     {"write gathered", Task::kWrite},
                                                     {"settle", Task::kInsert},
                                                     {"hand over", Task::kMemory},
                                                     {"send", Task::kSend},
                                                     {"receive a value", Task::kReceive},
                                                     {"parse a change", Task::kParse},
                                                     {"compare a change", Task::kCompare},
                                                     {"answer a change", Task::kWrite},
                                                     {"compare what was found", Task::kCompare},
                                                     {"compare what was left", Task::kCompare},
                                                     {"compare a row", Task::kCompare},
                                                     {"write a row", Task::kWrite}}};

std::string CpuModel() {
  const std::string model = base::CpuModel();
  return model.empty() ? "unknown processor" : model;
}

int UsableCpuCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

json ToJson(const std::array<UnitCost, kWorkCount>& all) {
  json units = json::object();
  for (uint32_t i = 0; i < kWorkCount; i++) {
    const UnitCost& unit = all[i];
    if (unit == UnitCost{}) continue;  // no such work is done
    units[std::string(kWorks[i].name)] = {{"instructions_ns", unit.instructions},
                                          {"key_byte_ns", unit.key_byte},
                                          {"memory_ns", unit.memory},
                                          {"stream_ns", unit.stream},
                                          {"cache_ns", unit.cache},
                                          {"far_ns", unit.far}};
  }
  return units;
}

json ToJson(const ProcessorCosts& costs) {
  return {{"name", costs.name},
          {"hardware", costs.hardware},
          {"memory", costs.mirrored ? "mirrored" : "coupled"},
          {"line_bytes", costs.line_bytes},
          {"cache_bytes", costs.cache_bytes},
          {"cache_growth", costs.cache_growth},
          {"job_ns", costs.job},
          {"job_latency_ns", costs.job_latency},
          {"interference", costs.interference},
          {"change_ns", costs.change},
          {"change_byte_ns", costs.change_byte},
          {"units", ToJson(costs.units)},
          {"worker_units", ToJson(costs.worker_units)},
          {"worker_job_ns", costs.worker_job}};
}

// Reads what must be there, and keeps the first complaint.
class Reader {
 public:
  const Status& status() const { return status_; }
  double Figure(const json& object, const char* name) {
    const auto at = object.find(name);
    if (at == object.end() || !at->is_number()) return Fail(name, "is not a number"), 0;
    const auto figure = at->get<double>();
    if (!std::isfinite(figure) || figure < 0) return Fail(name, "is negative or not finite"), 0;
    return figure;
  }
  // One of 1 to 2^32 - 1.
  uint32_t Count(const json& object, const char* name) {
    const double figure = Figure(object, name);
    if (figure < 1 || figure > UINT32_MAX) return Fail(name, "is not a count"), 1;
    return static_cast<uint32_t>(figure);
  }
  std::string Text(const json& object, const char* name) {
    const auto at = object.find(name);
    if (at == object.end() || !at->is_string()) return Fail(name, "is not text"), std::string();
    return at->get<std::string>();
  }
  // Of an object or array; an empty one where it is missing.
  const json& Part(const json& object, const char* name, json::value_t type) {
    static const json kNone;
    const auto at = object.find(name);
    if (at != object.end() && at->type() == type) return *at;
    Fail(name, "is missing");
    return kNone;
  }
  void Fail(std::string_view name, std::string_view what) {
    if (status_.ok()) status_ = {Code::kCorruption, fmt::format("{} {}", name, what)};
  }

 private:
  Status status_;
};

std::array<UnitCost, kWorkCount> UnitsOf(const json& from, Reader* read) {
  std::array<UnitCost, kWorkCount> all{};
  for (uint32_t i = 0; i < kWorkCount; i++) {
    const auto unit = from.find(std::string(kWorks[i].name));
    if (unit == from.end()) continue;
    all[i] = {read->Figure(*unit, "instructions_ns"), read->Figure(*unit, "key_byte_ns"),
              read->Figure(*unit, "memory_ns"),       read->Figure(*unit, "stream_ns"),
              read->Figure(*unit, "cache_ns"),        read->Figure(*unit, "far_ns")};
  }
  return all;
}

ProcessorCosts CostsOf(const json& from, Reader* read) {
  ProcessorCosts costs;
  costs.name = read->Text(from, "name");
  costs.hardware = read->Text(from, "hardware");
  const std::string memory = read->Text(from, "memory");
  costs.mirrored = memory == "mirrored";
  if (!costs.mirrored && memory != "coupled") read->Fail("memory", "is unknown");
  costs.line_bytes = read->Count(from, "line_bytes");
  costs.cache_bytes = read->Figure(from, "cache_bytes");
  costs.cache_growth = read->Figure(from, "cache_growth");
  costs.job = read->Figure(from, "job_ns");
  costs.job_latency = read->Figure(from, "job_latency_ns");
  costs.worker_job = read->Figure(from, "worker_job_ns");
  costs.interference = read->Figure(from, "interference");
  costs.change = read->Figure(from, "change_ns");
  costs.change_byte = read->Figure(from, "change_byte_ns");
  costs.units = UnitsOf(read->Part(from, "units", json::value_t::object), read);
  costs.worker_units = UnitsOf(read->Part(from, "worker_units", json::value_t::object), read);
  return costs;
}

Calibration CalibrationOf(const json& from, Reader* read) {
  Calibration calibration;
  calibration.hardware = read->Text(from, "hardware");
  calibration.date = read->Text(from, "date");
  calibration.workers = read->Count(from, "workers");
  if (from.contains("scratch_bytes"))  // files of before do without
    calibration.scratch_bytes =
        static_cast<uint64_t>(std::min(read->Figure(from, "scratch_bytes"), kBytesMax));
  calibration.cpu = CostsOf(read->Part(from, "cpu", json::value_t::object), read);
  for (const json& device : read->Part(from, "devices", json::value_t::array))
    calibration.devices.push_back(CostsOf(device, read));
  return calibration;
}

}  // namespace

std::string_view WorkName(Work work) { return kWorks[static_cast<size_t>(work)].name; }
Task TaskOf(Work work) { return kWorks[static_cast<size_t>(work)].task; }
bool IsTimed(Work work) { return work != Work::kHandOver && work != Work::kSettle; }

void Scale(UnitCost* unit, double factor) {
  for (double UnitCost::*figure : {&UnitCost::instructions, &UnitCost::key_byte, &UnitCost::memory,
                                   &UnitCost::stream, &UnitCost::cache, &UnitCost::far})
    unit->*figure *= factor;
}

std::string HardwareOf(const std::vector<processor::Description>& devices) {
  std::string text = fmt::format("{} x {}", UsableCpuCount(), CpuModel());
  for (const processor::Description& device : devices)
    text += fmt::format(", {} ({})", device.name, device.hardware);
  return text;
}

std::string DefaultPath(std::string_view hardware, uint32_t workers) {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string folder = cache != nullptr && *cache == '/' ? std::string(cache)
                             : home != nullptr && *home == '/' ? std::string(home) + "/.cache"
                                                               : "/var/cache";
  return fmt::format("{}/weft/calibration-{:016x}-{}.json", folder, base::HashBytes(hardware),
                     workers);
}

std::string ToText(const Calibration& calibration) {
  json devices = json::array();
  for (const ProcessorCosts& device : calibration.devices) devices.push_back(ToJson(device));
  const json all = {{"format", kFormat},
                    {"version", kVersion},
                    {"hardware", calibration.hardware},
                    {"date", calibration.date},
                    {"workers", calibration.workers},
                    {"scratch_bytes", calibration.scratch_bytes},
                    {"cpu", ToJson(calibration.cpu)},
                    {"devices", devices}};
  return all.dump(2) + "\n";
}

Result<Calibration> ParseCalibration(std::string_view text) {
  const json all = json::parse(text, nullptr, false);
  if (!all.is_object() || all.value("format", json()) != json(kFormat))
    return Status(Code::kCorruption, "not a calibration");
  if (all.value("version", json()) != kVersion)
    return Status(Code::kUnsupported,
                  fmt::format("it has version {}, but this program reads {}: calibrate again",
                              all.value("version", json()).dump(), kVersion));
  Reader read;
  Calibration calibration = CalibrationOf(all, &read);
  if (!read.status().ok()) return read.status();
  return calibration;
}

Result<Calibration> LoadCalibration(const std::string& path, std::string_view hardware) {
  std::ifstream file(path);
  if (!file && errno == ENOENT) return Status(Code::kNotFound, path + " does not exist");
  if (!file) return Status::FromErrno("open " + path, errno);
  std::ostringstream text;
  text << file.rdbuf();
  auto calibration = ParseCalibration(text.str());
  if (!calibration)
    return Status(calibration.error().code(),
                  fmt::format("{}: {}", path, calibration.error().message()));
  if (calibration->hardware != hardware)
    return Status(Code::kInvalidArgument,
                  fmt::format("{} is for other hardware: it was measured on '{}', but this is "
                              "'{}'; run `weft calibrate` here",
                              path, calibration->hardware, hardware));
  return calibration;
}

Status SaveCalibration(const std::string& path, const Calibration& calibration) {
  std::error_code ignored;  // what is wrong with the folder, opening the file says
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // Others may save theirs at the same time.
  const std::string beside = fmt::format("{}.{}.new", path, getpid());
  {
    std::ofstream file(beside, std::ios::trunc);
    file << ToText(calibration);
    file.close();
    if (!file) {
      std::remove(beside.c_str());
      return {Code::kIoError, "can't write " + beside};
    }
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0)
    return Status::FromErrno("rename " + beside, errno);
  return Status::Ok();
}

}  // namespace weft::planner
