// bench/meter/serial_port.h: a serial line to a device that answers questions: bytes out, bytes in,
// with a deadline.
//
// Setting   8 bits, no parity, one stop bit, no flow control, nothing interpreted.
// Threads   one at a time.
// Errors    kUnsupported, with the reason, if it cannot be opened; kRetryNow if nothing came in
//           time; kDeviceLost if the line is gone (unplugged).
#pragma once

#include <string>
#include <string_view>

#include "base/posix_fd.h"
#include "bench/harness/units.h"

namespace weft::bench {

class SerialPort {
 public:
  // `baud`: 9600, 19200, 38400, 57600 or 115200.
  static Result<SerialPort> Open(const std::string& path, int baud);

  const std::string& path() const { return path_; }
  // Discards what has come in so far, and sends.
  Status Ask(std::string_view bytes);
  // The next byte, within `limit`.
  Result<unsigned char> NextByte(Seconds limit);

 private:
  SerialPort(std::string path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  Status Lost(int error_number) const;

  std::string path_;
  base::Fd fd_;
};

}  // namespace weft::bench
