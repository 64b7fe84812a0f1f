// Feeds any bytes to a connection that must log in, whole and in pieces: whatever they are, nothing
// is asked of the store, and nothing that is about keys comes through.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "protocol/binary.h"
#include "protocol/gate.h"

namespace weft::protocol {
namespace {

ParseResult ParseBy(Gate gate, std::string_view input, const ParseContext& context,
                    Request* request) {
  return gate == Gate::kToken ? ParseToken(input, context, request)
                              : ParseBinary(input, context, request);
}

std::vector<std::string> Requests(Gate gate, std::string_view bytes, size_t piece_bytes) {
  ParseContext context;
  context.now_s = 1'700'000'000;
  context.sasl = Sasl::kBefore;
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
      const ParseResult result = ParseBy(gate, {input.data(), input.size()}, context, &request);
      context.line_scanned_bytes = result.scanned_bytes;
      if (result.status == ParseStatus::kClose) {
        requests.emplace_back("close");
        return requests;
      }
      if (result.status == ParseStatus::kNeedMore) {
        WEFT_CHECK(result.needed_bytes == 0 || result.needed_bytes > input.size());
        WEFT_CHECK(result.needed_bytes <= kLineBytesMax + kTokenBytesMax + 600);
        break;
      }
      WEFT_CHECK(request.kind == RequestKind::kText || request.kind == RequestKind::kLogin ||
                 request.kind == RequestKind::kVersion);
      WEFT_CHECK(!request.drop_key && request.command.key.empty());
      WEFT_CHECK(result.consumed_bytes > 0 && result.consumed_bytes <= input.size());
      Credentials credentials;
      std::string summary = std::to_string(static_cast<int>(request.kind));
      if (request.kind == RequestKind::kLogin && CredentialsOf(request, &credentials))
        summary.append(credentials.user).append(1, '|').append(credentials.password);
      requests.push_back(summary.append(request.text));
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
  using weft::protocol::Gate;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Gate gate : {Gate::kToken, Gate::kSasl}) {
    const auto whole = weft::protocol::Requests(gate, bytes, size + 1);
    WEFT_CHECK(whole == weft::protocol::Requests(gate, bytes, 7));
    if (size <= 300) WEFT_CHECK(whole == weft::protocol::Requests(gate, bytes, 1));
  }
  return 0;
}
