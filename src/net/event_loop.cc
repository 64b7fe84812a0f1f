#include "net/event_loop.h"

#include "net/epoll_loop.h"
#include "net/uring_loop.h"

namespace weft::net {
namespace {

Status CheckOptions(const LoopOptions& options, const Handler* handler) {
  const bool sane = handler != nullptr && options.tick_ms > 0 && options.take_bytes_max >= 1024 &&
                    options.output_low_bytes < options.output_high_bytes;
  return sane ? Status::Ok()
              : Status(Code::kInvalidArgument, "the event loop's options contradict each other");
}

template <typename Loop>
Result<std::unique_ptr<EventLoop>> Make(const LoopOptions& options, Handler* handler) {
  auto loop = std::make_unique<Loop>(options, handler);
  Status status = loop->Open();
  if (!status.ok()) return status;
  return std::unique_ptr<EventLoop>(std::move(loop));
}

}  // namespace

Status EventLoop::UringAvailable() { return UringLoop::Probe(); }

Result<std::unique_ptr<EventLoop>> EventLoop::Create(Kind kind, const LoopOptions& options,
                                                     Handler* handler) {
  Status status = CheckOptions(options, handler);
  if (!status.ok()) return status;
  if (kind == Kind::kEpoll) return Make<EpollLoop>(options, handler);
  if (status = UringLoop::Probe(); status.ok()) {
    auto made = Make<UringLoop>(options, handler);
    if (made || kind == Kind::kUring) return made;
  } else if (kind == Kind::kUring) {
    return status;
  }
  return Make<EpollLoop>(options, handler);
}

}  // namespace weft::net
