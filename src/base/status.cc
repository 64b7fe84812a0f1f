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
  static Rep* const rep = new Rep{Code::kNotFound, true, ""};  // never freed
  Status status;
  status.rep_.reset(rep);
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
