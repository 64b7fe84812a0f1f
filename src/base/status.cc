#include "weft/status.h"

#include <system_error>

namespace weft {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kNotFound: return "not found";
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kCorruption: return "corruption";
    case Code::kIoError: return "i/o error";
    case Code::kNoMemory: return "no memory";
    case Code::kRetryNow: return "retry now";
    case Code::kRetryLater: return "retry later";
    case Code::kUnsupported: return "unsupported";
    case Code::kDeviceLost: return "device lost";
  }
  return "unknown";
}

Status Status::NotFound() {
  static const Status* const status = new Status(Permanent(Code::kNotFound, ""));  // never freed
  return *status;
}

Status Status::Permanent(Code code, std::string message) {
  Status status;
  status.rep_.reset(new Rep{code, true, std::move(message)});  // never freed
  return status;
}

Status Status::FromErrno(std::string_view what, int error_number) {
  // std::system_category().message is thread-safe where strerror is not.
  return {Code::kIoError, std::string(what) + ": " + std::system_category().message(error_number)};
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  std::string text(CodeName(rep_->code));
  if (!rep_->message.empty()) text.append(": ").append(rep_->message);
  return text;
}

}  // namespace weft
