// compat/leveldb/include/leveldb/status.h: how a call says that it failed.
//
// Eight bytes, null if all went well. All lookups that found nothing share one object as their
// answer, so it allocates nothing.
//
// Threads   values; distinct objects may be used at once.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "leveldb/export.h"
#include "leveldb/slice.h"

namespace leveldb {

class LEVELDB_EXPORT Status {
 public:
  Status() noexcept = default;
  ~Status() = default;
  Status(const Status& rhs) : rep_(CopyOf(rhs.rep_.get())) {}
  Status& operator=(const Status& rhs) {
    if (rep_ != rhs.rep_) rep_.reset(CopyOf(rhs.rep_.get()));
    return *this;
  }
  Status(Status&& rhs) noexcept = default;
  Status& operator=(Status&& rhs) noexcept = default;

  static Status OK() { return Status(); }
  // The text is "msg: msg2", or msg alone if msg2 is empty.
  static Status NotFound(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotFound, msg, msg2);
  }
  static Status Corruption(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kCorruption, msg, msg2);
  }
  static Status NotSupported(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kNotSupported, msg, msg2);
  }
  static Status InvalidArgument(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kInvalidArgument, msg, msg2);
  }
  static Status IOError(const Slice& msg, const Slice& msg2 = Slice()) {
    return Status(kIOError, msg, msg2);
  }

  bool ok() const { return rep_ == nullptr; }
  bool IsNotFound() const { return code() == kNotFound; }
  bool IsCorruption() const { return code() == kCorruption; }
  bool IsIOError() const { return code() == kIOError; }
  bool IsNotSupportedError() const { return code() == kNotSupported; }
  bool IsInvalidArgument() const { return code() == kInvalidArgument; }

  // "OK", or the kind and the text: "NotFound: ", "Corruption: ", "Not implemented: ",
  // "Invalid argument: ", "IO error: ".
  std::string ToString() const;

 private:
  friend struct StatusAccess;  // the library's own way to code and text

  enum Code { kOk, kNotFound, kCorruption, kNotSupported, kInvalidArgument, kIOError };
  struct Rep {
    Code code;
    bool lives_for_ever;
    std::string message;
  };
  struct Release {
    void operator()(Rep* rep) const {
      if (!rep->lives_for_ever) delete rep;
    }
  };

  Status(Code code, const Slice& msg, const Slice& msg2);
  static Rep* CopyOf(Rep* rep) {
    return rep == nullptr || rep->lives_for_ever ? rep : new Rep(*rep);  // freed by Release
  }
  Code code() const { return rep_ == nullptr ? kOk : rep_->code; }

  std::unique_ptr<Rep, Release> rep_;
};

}  // namespace leveldb
