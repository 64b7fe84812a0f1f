#include "bench/meter/rapl.h"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>

#include "base/posix_fd.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

Result<uint64_t> NumberIn(const std::string& path) {
  auto fd = base::OpenFd(path, O_RDONLY);
  if (!fd) return fd.error();
  char text[32];
  auto got = base::ReadUpTo(*fd, path, text, sizeof text);
  if (!got) return got.error();
  uint64_t number = 0;
  if (std::from_chars(text, text + *got, number).ec != std::errc())
    return Status(Code::kCorruption, path + " holds no number");
  return number;
}

// Zones of the same counters under other names, as intel-rapl-mmio's, would be counted twice.
bool IsZone(const std::string& folder) { return folder.rfind("intel-rapl:", 0) == 0; }

}  // namespace

Status Rapl::AddZone(const std::string& folder) {
  const std::string name = ReadLine(folder + "/name");
  if (name.rfind("package", 0) != 0 && name != "dram") return Status::Ok();
  Zone zone{folder + "/energy_uj", 0, 0};
  auto energy = NumberIn(zone.file);
  if (!energy) return energy.error();
  auto range = NumberIn(folder + "/max_energy_range_uj");
  if (!range) return range.error();
  zone.range_uj = *range;
  name_ += (zones_.empty() ? " " : ", ") + name;
  zones_.push_back(zone);
  return Status::Ok();
}

Result<std::unique_ptr<Rapl>> Rapl::Open(const std::string& root) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error))
    if (IsZone(entry.path().filename())) folders.push_back(entry.path());
  if (error) {
    return Status(Code::kUnsupported,
                  fmt::format("there is no {}: the processor, the kernel or the "
                              "virtual machine has no RAPL",
                              root));
  }
  std::sort(folders.begin(), folders.end());
  std::unique_ptr<Rapl> rapl(new Rapl);  // freed by the pointer
  for (const std::string& folder : folders) {
    if (Status status = rapl->AddZone(folder); !status.ok()) {
      return Status(Code::kUnsupported, fmt::format("{} (only root may read RAPL's counters: chmod "
                                                    "a+r {}/*/energy_uj)",
                                                    status.message(), root));
    }
  }
  if (rapl->zones_.empty())
    return Status(Code::kUnsupported, fmt::format("{} has no package of a processor", root));
  return rapl;
}

Status Rapl::Start() {
  used_uj_ = 0;
  for (Zone& zone : zones_) {
    auto now = NumberIn(zone.file);
    if (!now) return now.error();
    zone.last_uj = *now;
  }
  return Status::Ok();
}

Result<Joules> Rapl::Used() {
  for (Zone& zone : zones_) {
    auto now = NumberIn(zone.file);
    if (!now) return now.error();
    const bool anew = *now < zone.last_uj;
    used_uj_ += *now - zone.last_uj + (anew ? zone.range_uj + 1 : 0);
    zone.last_uj = *now;
  }
  return Joules(static_cast<double>(used_uj_) * 1e-6);
}

}  // namespace weft::bench
