// Feeds ParseBinary any bytes, whole and in pieces, and writes the longest answers.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "protocol/batch_io.h"

namespace weft::protocol {
namespace {

constexpr uint32_t kItemBytesMax = 4096;

void CheckLimits(const Request& request, const ParseResult& result, size_t input_bytes) {
  WEFT_CHECK(result.consumed_bytes > 0 && result.consumed_bytes <= input_bytes);
  WEFT_CHECK(request.binary);
  WEFT_CHECK(request.swallow_bytes <= uint64_t{1} << 30);
  const cache::Command& command = request.command;
  if (request.kind == RequestKind::kBinary || request.drop_key)
    WEFT_CHECK(!command.key.empty() && command.key.size() <= kKeyBytesMax);
  WEFT_CHECK(command.value.size() <= kItemBytesMax);
}

// Writes every answer there can be and holds it to its bound.
void CheckReplies(const Request& request) {
  if (request.kind != RequestKind::kBinary) {
    for (const std::string_view text :
         {"VERSION 1\r\n", "STAT a b\r\nEND\r\n", "OK\r\n", "STAT x", "PREFIX p\r\nEND\r\n"}) {
      if (request.kind == RequestKind::kVersion && !text.starts_with("VERSION")) continue;
      const std::string packets = BinaryFromText(request, text);
      WEFT_CHECK(packets.empty() || packets.size() >= kBinaryHeaderBytes);
    }
    return;
  }
  cache::Reply reply;
  reply.value = "the value";
  reply.client_flags = ~0u;
  reply.cas = reply.number = ~uint64_t{0};
  const size_t bytes_max =
      BinaryReplyBytesMax(request, request.command.key.size()) + reply.value.size();
  std::vector<char> out(bytes_max);
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::kBadKey); ++outcome) {
    reply.outcome = static_cast<Outcome>(outcome);
    const char* const end = WriteBinaryReply(request, request.command.key, reply, out.data());
    const auto written = static_cast<size_t>(end - out.data());
    WEFT_CHECK(written <= bytes_max);
    WEFT_CHECK(written == 0 || written >= kBinaryHeaderBytes);
    WEFT_CHECK(written != 0 || request.quiet);
  }
}

// The requests of `bytes` when they arrive in pieces of `piece_bytes`.
std::vector<std::string> Requests(std::string_view bytes, size_t piece_bytes) {
  ParseContext context;
  context.now_s = 1'700'000'000;
  context.start_s = context.now_s - 1000;
  context.item_bytes_max = kItemBytesMax;
  std::vector<std::string> requests;
  std::string buffer;
  uint64_t swallow_bytes = 0;
  for (size_t arrived = 0; arrived < bytes.size(); arrived += piece_bytes) {
    buffer += bytes.substr(arrived, piece_bytes);
    for (;;) {
      const size_t skipped = std::min<uint64_t>(swallow_bytes, buffer.size());
      buffer.erase(0, skipped);
      swallow_bytes -= skipped;
      if (buffer.empty()) break;
      const std::vector<char> input(buffer.begin(), buffer.end());  // exact: reads past it show
      Request request;
      const ParseResult result = ParseBinary({input.data(), input.size()}, context, &request);
      if (result.status == ParseStatus::kClose) {
        requests.emplace_back("close");
        return requests;
      }
      if (result.status == ParseStatus::kNeedMore) {
        WEFT_CHECK(result.needed_bytes > input.size());
        WEFT_CHECK(result.needed_bytes <= kBinaryHeaderBytes + 255 + kKeyBytesMax + kItemBytesMax);
        break;
      }
      CheckLimits(request, result, input.size());
      CheckReplies(request);
      const cache::Command& command = request.command;
      requests.push_back(std::to_string(static_cast<int>(request.kind)) + " " +
                         std::to_string(request.binary_words.status) + " " +
                         std::to_string(request.quiet | request.close << 1) + " " +
                         std::string(command.key) + "|" + std::string(command.value) + "|" +
                         std::string(request.arguments));
      if (request.close) return requests;
      buffer.erase(0, result.consumed_bytes);
      swallow_bytes = request.swallow_bytes;
    }
  }
  return requests;
}

}  // namespace
}  // namespace weft::protocol

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = weft::protocol::Requests(bytes, size + 1);
  WEFT_CHECK(whole == weft::protocol::Requests(bytes, 7));
  if (size <= 300) WEFT_CHECK(whole == weft::protocol::Requests(bytes, 1));
  return 0;
}
