#include "bench/meter/mcp39f511.h"

#include <numeric>

#include <fmt/format.h>

#include "bench/meter/now.h"

namespace weft::bench {
namespace {

constexpr unsigned char kHeader = 0xA5;
constexpr unsigned char kSetAddress = 0x41;
constexpr unsigned char kRead = 0x4E;
constexpr unsigned char kAck = 0x06;
constexpr unsigned char kNak = 0x15;
constexpr unsigned char kChecksumFailed = 0x51;
constexpr uint16_t kVoltageAndFrequency = 0x0006;
constexpr uint16_t kPowerOfSingle = 0x0012;
constexpr uint16_t kPowerOfFirst = 0x0016;
constexpr uint16_t kPowerOfSecond = 0x001A;
constexpr int kAskTries = 3;
constexpr int kGarbageMax = 64;  // bytes that are skipped before an answer

uint32_t LowByteFirst(const std::vector<unsigned char>& bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

}  // namespace

std::string Mcp39f511::Question(uint16_t address, uint8_t bytes) {
  std::string frame;
  for (const int byte :
       {int{kHeader}, 8, int{kSetAddress}, address >> 8, address & 0xff, int{kRead}, int{bytes}})
    frame += static_cast<char>(byte);
  const unsigned sum = std::accumulate(
      frame.begin(), frame.end(), 0u,
      [](unsigned so_far, char byte) { return so_far + static_cast<unsigned char>(byte); });
  return frame + static_cast<char>(sum & 0xff);
}

Result<Mcp39f511> Mcp39f511::Open(const std::string& path, const Options& options) {
  auto port = SerialPort::Open(path, options.baud);
  if (!port) return port.error();
  Mcp39f511 monitor(std::move(*port), options);
  auto both = monitor.ReadRegisters(kVoltageAndFrequency, 4);
  if (!both) {
    return Status(Code::kUnsupported,
                  fmt::format("no MCP39F511 answers: {}", both.error().message()));
  }
  monitor.volts_ = LowByteFirst(*both, 0, 2) * 0.1;
  monitor.hertz_ = LowByteFirst(*both, 2, 2) * 0.001;
  return monitor;
}

Result<Watts> Mcp39f511::ReadPower() {
  const bool both = options_.part == Part::kBothOutlets;
  const uint16_t address = options_.part == Part::kSingle         ? kPowerOfSingle
                           : options_.part == Part::kSecondOutlet ? kPowerOfSecond
                                                                  : kPowerOfFirst;
  auto bytes = ReadRegisters(address, both ? 8 : 4);
  if (!bytes) return bytes.error();
  Watts power = options_.step * LowByteFirst(*bytes, 0, 4);
  if (both) power += options_.step * LowByteFirst(*bytes, 4, 4);
  return power;
}

Result<std::vector<unsigned char>> Mcp39f511::ReadRegisters(uint16_t address, uint8_t bytes) {
  auto answer = AskOnce(address, bytes);
  for (int i = 1; i < kAskTries && !answer && answer.error().code() == Code::kRetryNow; ++i)
    answer = AskOnce(address, bytes);
  return answer;
}

Result<unsigned char> Mcp39f511::ByteUntil(double until_s) {
  return port_.NextByte(Seconds(until_s - NowS()));
}

Status Mcp39f511::FindAnswer(double until_s) {
  for (int skipped = 0; skipped < kGarbageMax; ++skipped) {
    auto byte = ByteUntil(until_s);
    if (!byte) return byte.error();
    if (*byte == kAck) return Status::Ok();
    if (*byte == kNak)
      return {Code::kRetryNow, fmt::format("{} refuses the command", port_.path())};
    if (*byte == kChecksumFailed)
      return {Code::kRetryNow, fmt::format("{} received a damaged command", port_.path())};
  }
  return {Code::kRetryNow, fmt::format("{} sends something else", port_.path())};
}

Result<std::vector<unsigned char>> Mcp39f511::AskOnce(uint16_t address, uint8_t bytes) {
  if (Status status = port_.Ask(Question(address, bytes)); !status.ok()) return status;
  const double until_s = NowS() + options_.answer_limit.value();
  if (Status status = FindAnswer(until_s); !status.ok()) return status;
  unsigned sum = kAck;
  std::vector<unsigned char> rest;  // number of bytes, data, checksum
  for (int i = 0; i < bytes + 2; ++i) {
    auto byte = ByteUntil(until_s);
    if (!byte) return byte.error();
    rest.push_back(*byte);
    if (i == 0 && *byte != bytes + 3)
      return Status(Code::kRetryNow, fmt::format("{} answers another length", port_.path()));
    if (i <= bytes) sum += *byte;
  }
  if (rest.back() != (sum & 0xff)) {
    return Status(Code::kRetryNow,
                  fmt::format("an answer from {} has a wrong checksum", port_.path()));
  }
  return std::vector<unsigned char>(rest.begin() + 1, rest.end() - 1);
}

}  // namespace weft::bench
