#include "leveldb/status.h"

#include "convert.h"

namespace leveldb {

Status::Status(Code code, const Slice& msg, const Slice& msg2)
    : rep_(new Rep{code, false, msg.ToString()}) {  // freed by Release
  if (!msg2.empty()) rep_->message.append(": ").append(msg2.data(), msg2.size());
}

std::string Status::ToString() const {
  const char* kind = "";
  switch (code()) {
    case kOk: return "OK";
    case kNotFound: kind = "NotFound: "; break;
    case kCorruption: kind = "Corruption: "; break;
    case kNotSupported: kind = "Not implemented: "; break;
    case kInvalidArgument: kind = "Invalid argument: "; break;
    case kIOError: kind = "IO error: "; break;
  }
  return kind + rep_->message;
}

Status StatusAccess::NotFound() {
  static Status::Rep* const rep = new Status::Rep{Status::kNotFound, true, ""};  // never freed
  Status status;
  status.rep_.reset(rep);
  return status;
}

Status StatusAccess::FromWeft(const weft::Status& status) {
  using weft::Code;
  const Slice message(status.message().data(), status.message().size());
  switch (status.code()) {
    case Code::kOk: return Status::OK();
    case Code::kNotFound: return message.empty() ? NotFound() : Status::NotFound(message);
    case Code::kInvalidArgument: return Status::InvalidArgument(message);
    case Code::kCorruption: return Status::Corruption(message);
    case Code::kUnsupported: return Status::NotSupported(message);
    case Code::kIoError:
    case Code::kNoMemory:
    case Code::kRetryNow:
    case Code::kRetryLater:
    case Code::kDeviceLost: break;  // LevelDB has one code for what the system refuses
  }
  return Status::IOError(message);
}

weft::Status StatusAccess::ToWeft(const Status& status) {
  using weft::Code;
  Code code = Code::kOk;
  switch (status.code()) {
    case Status::kOk: return weft::Status::Ok();
    case Status::kNotFound: code = Code::kNotFound; break;
    case Status::kCorruption: code = Code::kCorruption; break;
    case Status::kNotSupported: code = Code::kUnsupported; break;
    case Status::kInvalidArgument: code = Code::kInvalidArgument; break;
    case Status::kIOError: code = Code::kIoError; break;
  }
  return {code, status.rep_->message};
}

}  // namespace leveldb
