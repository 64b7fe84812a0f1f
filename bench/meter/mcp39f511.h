// bench/meter/mcp39f511.h: a power monitor of Microchip's MCP39F511 family on a serial line, as in
// paper 002: the power that flows.
//
// Frames    from us: 0xA5, number of bytes in the frame, commands, checksum. Back: ACK (0x06),
//           number of bytes, data, checksum; or a single NAK (0x15), or CSFAIL (0x51) if our
//           checksum did not fit. A checksum is the sum of all bytes before it, modulo 256.
// Commands  0x41, address, high byte first: set the address; 0x4E, n: read n bytes from there.
// Registers low byte first. Voltage: 0x0006, 2 bytes, 0.1 V. Frequency: 0x0008, 2 bytes, 0.001 Hz.
//           Active power: 4 bytes, 0.01 W as the demonstration boards are calibrated; at 0x0012 in
//           the MCP39F511 and 511A, at 0x0016 and 0x001A in the 511N, for its two outlets. It is a
//           magnitude; the sign, which only says which way round the wires are, is left out.
// Threads   one at a time.
// Errors    as bench/meter/serial_port.h; kRetryNow also if an answer was garbled, three times.
// Cost      a reading takes two milliseconds of the line.
// Source    Microchip's data sheets DS20005393 (511), DS20006044 (511A), DS20005473 (511N), the
//           sections on the protocol and on registers; paper 002, section 3.4.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/meter/serial_port.h"

namespace weft::bench {

class Mcp39f511 {
 public:
  enum class Part : uint8_t { kSingle, kFirstOutlet, kSecondOutlet, kBothOutlets };
  struct Options {
    Part part = Part::kSingle;
    int baud = 115200;
    Watts step{0.01};           // of the power register
    Seconds answer_limit{0.2};  // for a whole answer
  };

  // Opens the line and asks for voltage and frequency once. kUnsupported: no monitor answers.
  static Result<Mcp39f511> Open(const std::string& path, const Options& options);

  Result<Watts> ReadPower();
  double volts() const { return volts_; }  // when it was opened
  double hertz() const { return hertz_; }

  // The frame that asks for `bytes` bytes from `address` on.
  static std::string Question(uint16_t address, uint8_t bytes);

 private:
  Mcp39f511(SerialPort port, const Options& options) : port_(std::move(port)), options_(options) {}
  Result<std::vector<unsigned char>> ReadRegisters(uint16_t address, uint8_t bytes);
  Result<std::vector<unsigned char>> AskOnce(uint16_t address, uint8_t bytes);
  // Reads up to the byte that begins an answer.
  Status FindAnswer(double until_s);
  Result<unsigned char> ByteUntil(double until_s);

  SerialPort port_;
  Options options_;
  double volts_ = 0;
  double hertz_ = 0;
};

}  // namespace weft::bench
