#include "bench/drive/run_csv.h"

namespace weft::bench {
namespace {

struct Column {
  const char* name;
  const char* pointer;  // RFC 6901
};

constexpr Column kColumns[] = {
    {"date", "/date"},
    {"commit", "/commit"},
    {"experiment", "/experiment"},
    {"setting", "/setting"},
    {"sweep_part", "/sweep/part"},
    {"sweep_limit", "/sweep/limit"},
    {"sweep_holds", "/sweep/holds"},
    {"machine", "/machine/host_class"},
    {"target", "/target/name"},
    {"target_title", "/target/title"},
    {"workload", "/workload/name"},
    {"keys", "/workload/keys"},
    {"records", "/workload/records"},
    {"key_bytes", "/workload/key_bytes"},
    {"value_bytes", "/workload/value_bytes"},
    {"loop", "/load/loop"},
    {"threads", "/load/threads"},
    {"sessions", "/load/sessions"},
    {"depth", "/load/depth"},
    {"batch", "/load/batch"},
    {"rate_per_s", "/load/rate_per_s"},
    {"repetition", "/load/repetition"},
    {"seed", "/load/seed"},
    {"seconds", "/result/seconds"},
    {"operations", "/result/operations"},
    {"operations_per_s", "/result/operations_per_s"},
    {"mean_us", "/result/latency_us/all/mean"},
    {"p50_us", "/result/latency_us/all/p50"},
    {"p90_us", "/result/latency_us/all/p90"},
    {"p95_us", "/result/latency_us/all/p95"},
    {"p99_us", "/result/latency_us/all/p99"},
    {"p99_9_us", "/result/latency_us/all/p99_9"},
    {"p99_99_us", "/result/latency_us/all/p99_99"},
    {"max_us", "/result/latency_us/all/max"},
    {"missing", "/result/outcomes/missing"},
    {"refused", "/result/outcomes/refused"},
    {"client_cpu_us_per_operation", "/result/client/cpu_us_per_operation"},
    {"client_saturated", "/result/client/saturated"},
    {"energy_modelled", "/meters/energy_j/modelled"},
    {"command_line", "/command_line"},
};

constexpr const char* kMeters[] = {
    "cpu_s",
    "cpu_user_s",
    "cpu_system_s",
    "context_switches",
    "page_faults",
    "major_page_faults",
    "disk_read_bytes",
    "disk_written_bytes",
    "resident_bytes",
    "write_amplification",
    "instructions",
    "cycles",
    "branches",
    "branch_misses",
    "cache_references",
    "cache_misses",
    "memory_bandwidth_bytes_per_s",
    "energy_j",
    "power_w_mean",
    "gpu_energy_j",
    "gpu_busy",
    "gpu_memory_bytes",
};

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Field(const nlohmann::json& record, const char* pointer) {
  const nlohmann::json::json_pointer at(pointer);
  if (!record.contains(at)) return "";
  const nlohmann::json& value = record.at(at);
  if (value.is_null()) return "";
  return Quoted(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string MeterField(const nlohmann::json& record, const char* name) {
  if (!record.contains("meters") || !record.at("meters").contains(name)) return "unavailable";
  const nlohmann::json& meter = record.at("meters").at(name);
  return meter.contains("value") ? meter.at("value").dump() : "unavailable";
}

}  // namespace

std::string CsvHead() {
  std::string head;
  for (const Column& column : kColumns) {
    if (!head.empty()) head += ',';
    head += column.name;
  }
  for (const char* meter : kMeters) {
    head += ',';
    head += meter;
  }
  return head;
}

std::string CsvRow(const nlohmann::json& record) {
  std::string row;
  for (const Column& column : kColumns) {
    if (&column != &kColumns[0]) row += ',';
    row += Field(record, column.pointer);
  }
  for (const char* meter : kMeters) {
    row += ',';
    row += MeterField(record, meter);
  }
  return row;
}

}  // namespace weft::bench
