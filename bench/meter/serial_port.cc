#include "bench/meter/serial_port.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

namespace weft::bench {
namespace {

Result<speed_t> SpeedOf(int baud) {
  switch (baud) {
    case 9600: return speed_t{B9600};
    case 19200: return speed_t{B19200};
    case 38400: return speed_t{B38400};
    case 57600: return speed_t{B57600};
    case 115200: return speed_t{B115200};
    default: return Status(Code::kInvalidArgument, fmt::format("{} baud is not supported", baud));
  }
}

Status Refused(const std::string& path, const char* what, int error_number) {
  const char* hint = error_number == EACCES ? " (its group, often dialout, may use it)" : "";
  return {
      Code::kUnsupported,
      fmt::format("{}{}", Status::FromErrno(what + (" " + path), error_number).message(), hint)};
}

}  // namespace

Result<SerialPort> SerialPort::Open(const std::string& path, int baud) {
  auto speed = SpeedOf(baud);
  if (!speed) return speed.error();
  base::Fd fd(open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return Refused(path, "open", errno);
  termios setting;
  if (tcgetattr(fd.get(), &setting) != 0) return Refused(path, "tcgetattr", errno);
  cfmakeraw(&setting);
  setting.c_cflag &= ~static_cast<tcflag_t>(CSTOPB | PARENB | CRTSCTS);
  setting.c_cflag |= CLOCAL | CREAD | CS8;
  cfsetispeed(&setting, *speed);
  cfsetospeed(&setting, *speed);
  if (tcsetattr(fd.get(), TCSANOW, &setting) != 0) return Refused(path, "tcsetattr", errno);
  return SerialPort(path, std::move(fd));
}

Status SerialPort::Lost(int error_number) const {
  return {Code::kDeviceLost,
          std::string(Status::FromErrno(path_ + " is gone", error_number).message())};
}

Status SerialPort::Ask(std::string_view bytes) {
  if (tcflush(fd_.get(), TCIFLUSH) != 0) return Lost(errno);
  // A question is short: a line that does not take it at once takes nothing.
  const ssize_t sent = write(fd_.get(), bytes.data(), bytes.size());
  if (sent < 0 && errno != EAGAIN) return Lost(errno);
  if (sent != static_cast<ssize_t>(bytes.size()))
    return {Code::kRetryNow, fmt::format("{} takes no bytes", path_)};
  return Status::Ok();
}

Result<unsigned char> SerialPort::NextByte(Seconds limit) {
  pollfd waited{fd_.get(), POLLIN, 0};
  const auto limit_ms = static_cast<int>(std::max(0.0, limit.value() * 1e3));
  const int ready = poll(&waited, 1, limit_ms);
  if (ready == 0 || (ready < 0 && errno == EINTR))
    return Status(Code::kRetryNow, fmt::format("no answer from {}", path_));
  if (ready < 0) return Lost(errno);
  unsigned char byte = 0;
  const ssize_t got = read(fd_.get(), &byte, 1);
  if (got == 1) return byte;
  if (got < 0 && errno == EAGAIN) return Status(Code::kRetryNow, "no answer from " + path_);
  return Lost(got == 0 ? ENODEV : errno);
}

}  // namespace weft::bench
