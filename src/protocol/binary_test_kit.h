// protocol/binary_test_kit.h: packets of the binary protocol, written for tests.
//
// Threads   values.
#pragma once

#include <string>

#include "protocol/batch_io.h"

namespace weft::protocol {

// A number as the protocol has it.
template <typename Number>
std::string Big(Number number) {
  std::string bytes(sizeof number, '\0');
  for (size_t i = sizeof number; i-- > 0; number = static_cast<Number>(number >> 7 >> 1))
    bytes[i] = static_cast<char>(number & 0xFF);
  return bytes;
}

struct PacketText {
  uint8_t magic = kBinaryRequestMagic;
  Opcode opcode = Opcode::kNoop;
  BinaryStatus status = BinaryStatus::kOk;
  uint32_t opaque = 0;
  uint64_t cas = 0;
  std::string extras = {};
  std::string key = {};
  std::string value = {};
};

inline std::string Bytes(const PacketText& packet) {
  const size_t body = packet.extras.size() + packet.key.size() + packet.value.size();
  return Big(packet.magic) + Big(static_cast<uint8_t>(packet.opcode)) +
         Big(static_cast<uint16_t>(packet.key.size())) +
         Big(static_cast<uint8_t>(packet.extras.size())) + Big(uint8_t{0}) +
         Big(static_cast<uint16_t>(packet.status)) + Big(static_cast<uint32_t>(body)) +
         Big(packet.opaque) + Big(packet.cas) + packet.extras + packet.key + packet.value;
}

}  // namespace weft::protocol
