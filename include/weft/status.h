// weft/status.h: how a call says that it failed, and what the caller should do next.
//
// A miss in the cache is not an error and never travels as a Status: see Outcome in weft/cache.h.
// Threads: a value; distinct objects may be used at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weft {

// What went wrong. The codes differ in what the caller should do next.
enum class Code : uint8_t {
  kOk = 0,
  kNotFound,         // what was asked for is not there
  kInvalidArgument,  // the caller's mistake: change the call
  kCorruption,       // stored bytes fail their check: repair or restore
  kIoError,          // the system refused a call: the message says why
  kNoMemory,         // the limit is reached: free something or raise it
  kRetryNow,         // lost a race: call again
  kRetryLater,       // a resource is busy: call again after other work
  kUnsupported,      // this machine or build cannot do it: choose another way
  kDeviceLost,       // a device failed: its work must be rerun elsewhere
};

// The name of a code, for messages: "no memory", "i/o error", ...
std::string_view CodeName(Code code);

// The result of a call that returns nothing else. OK is a null pointer (8 bytes).
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message)
      : rep_(new Rep{code, false, std::move(message)}) {}  // freed by Release
  Status(const Status& other) : rep_(other.CopyOfRep()) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) {
    if (this != &other) rep_.reset(other.CopyOfRep());
    return *this;
  }
  Status& operator=(Status&&) noexcept = default;

  static Status Ok() { return {}; }
  // kNotFound without a message. Allocates nothing, so a lookup that misses costs no more.
  static Status NotFound();
  // A Status whose copies allocate nothing and whose text is never freed. For the few that are made
  // in advance, to be at hand when there is no memory.
  static Status Permanent(Code code, std::string message);
  // With errno's text: "open /x: No such file or directory".
  static Status FromErrno(std::string_view what, int error_number);

  bool ok() const { return rep_ == nullptr; }
  Code code() const { return rep_ ? rep_->code : Code::kOk; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : ""; }
  // "i/o error: open /x: No such file or directory", or "ok".
  std::string ToString() const;

 private:
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
  Rep* CopyOfRep() const {
    if (rep_ == nullptr || rep_->lives_for_ever) return rep_.get();
    return new Rep(*rep_);  // freed by Release
  }

  std::unique_ptr<Rep, Release> rep_;
};

// A value, or the Status that says why there is none. Member names are those of std::expected.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}         // NOLINT: implicit by design
  Result(Status status) : state_(std::move(status)) {}  // NOLINT: implicit by design

  bool has_value() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return has_value(); }
  // REQUIRES: has_value()
  T& value() { return std::get<T>(state_); }
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }
  // REQUIRES: !has_value()
  const Status& error() const { return std::get<Status>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace weft
