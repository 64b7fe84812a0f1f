#include "server/watch_hub.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "base/thread.h"

namespace weft::server {
namespace {

// How long the thread rests between two looks at the rings: longer and longer while they are empty.
constexpr int kRestMsMin = 1;
constexpr int kRestMsMax = 32;

uint64_t UnixTimeUs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

std::string_view BytesOf(const WatchEvent& event) {
  return {reinterpret_cast<const char*>(&event), sizeof event};
}

// False: there is no room for it.
bool SendLine(std::string_view line, Watcher* watcher) {
  if (watcher->skipped == 0) return watcher->lines.Write({line});
  char number[20];
  const char* const end = std::to_chars(number, number + sizeof number, watcher->skipped).ptr;
  const std::string_view digits(number, static_cast<size_t>(end - number));
  if (!watcher->lines.Write({"skipped=", digits, "\n", line})) return false;
  watcher->skipped = 0;
  return true;
}

}  // namespace

void WatchPost::Note(WatchEvent event, std::string_view text) {
  text = text.substr(0, kWatchTextBytesMax);
  event.text_bytes = static_cast<uint16_t>(text.size());
  event.number = hub_->next_number_.fetch_add(1, std::memory_order_relaxed);
  event.time_us = UnixTimeUs();
  (ring_.Write({BytesOf(event), text}) ? written_ : dropped_).Add(1);
}

void WatchPost::NoteTlsError(int fd, std::string_view message) {
  if (!IsWatched(protocol::kWatchConnections)) return;
  WatchEvent event;
  event.type = WatchType::kTlsError;
  event.fd = fd;
  Note(event, message);
}

void WatchPost::NotePlan(std::string_view plan) {
  if (!IsWatched(protocol::kWatchPipeline)) return;
  WatchEvent event;
  event.type = WatchType::kPipeline;
  Note(event, plan);
}

void WatchPost::Note(const cache::Evicted& evicted) {
  WatchEvent event;
  event.type = WatchType::kEviction;
  event.size = evicted.value_bytes;
  event.ttl_s = evicted.ttl_s;
  event.idle_s = evicted.idle_s;
  event.was_read = evicted.was_read;
  Note(event, evicted.key);
}

WatchHub::WatchHub(const Options& options) : options_(options) {
  const size_t bytes = std::max(options.worker_bytes, kRingBytesMin);
  for (uint32_t i = 0; i < options.workers; i++)
    posts_.push_back(std::make_unique<WatchPost>(this, bytes));
}

Result<std::shared_ptr<Watcher>> WatchHub::Join(uint32_t classes, WatchPost* post,
                                                uint64_t connection) {
  base::MutexLock lock(&mutex_);
  if (watchers_.size() >= kWatchersMax) return Status(Code::kRetryLater, "too many watchers");
  if (!thread_.joinable()) {
    auto thread = base::StartThread([this] { Run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
  }
  std::shared_ptr<Watcher> watcher;
  try {
    watcher = std::make_shared<Watcher>(classes, post, connection,
                                        std::max(options_.watcher_bytes, kRingBytesMin));
    watchers_.push_back(watcher);
  } catch (const std::bad_alloc&) {
    return Status(Code::kNoMemory, "no memory for a watcher's lines");
  }
  SetClassesLocked();
  // What lies in the rings from before is not for it.
  watcher->first_number = next_number_.load(std::memory_order_relaxed);
  changed_.NotifyOne();
  return watcher;
}

void WatchHub::Leave(const Watcher* watcher) {
  base::MutexLock lock(&mutex_);
  std::erase_if(watchers_, [watcher](const auto& each) { return each.get() == watcher; });
  SetClassesLocked();
}

void WatchHub::SetClassesLocked() {
  uint32_t classes = 0;
  for (const auto& watcher : watchers_) classes |= watcher->classes;
  classes_.store(classes, std::memory_order_relaxed);
}

std::vector<uint64_t> WatchHub::Connections() const {
  std::vector<uint64_t> ids;
  base::MutexLock lock(&mutex_);
  for (const auto& watcher : watchers_) ids.push_back(watcher->connection);
  return ids;
}

WatchHub::Counts WatchHub::Count() const {
  Counts counts;
  for (const auto& post : posts_) {
    counts.worker_dropped += post->dropped().value();
    counts.worker_written += post->written().value();
  }
  counts.watcher_skipped = skipped_.value();
  counts.watcher_sent = sent_.value();
  base::MutexLock lock(&mutex_);
  counts.watchers = watchers_.size();
  return counts;
}

void WatchHub::End() {
  std::thread thread;
  {
    base::MutexLock lock(&mutex_);
    ended_ = true;
    thread = std::move(thread_);
    changed_.NotifyAll();
  }
  if (thread.joinable()) thread.join();
}

// Waits until somebody watches. False: the hub has ended.
bool WatchHub::Await(Watchers* watchers) {
  base::MutexLock lock(&mutex_);
  while (watchers_.empty() && !ended_) changed_.Wait(&mutex_);
  *watchers = watchers_;
  return !ended_;
}

void WatchHub::Rest(int ms) {
  base::MutexLock lock(&mutex_);
  if (!ended_) changed_.WaitFor(&mutex_, ms);
}

void WatchHub::Run() {
  base::SetThreadName("weft-watch");
  std::vector<uint64_t> ends(posts_.size());
  Watchers watchers;
  int rest_ms = kRestMsMin;
  for (;;) {
    // In this order: what was written before somebody began to watch is drained before it is known
    // here, and what is written afterwards is not.
    for (size_t i = 0; i < posts_.size(); i++) ends[i] = posts_[i]->ring_.written();
    watchers.clear();
    if (!Await(&watchers)) return;
    size_t drained = 0, most = 0;
    for (size_t i = 0; i < posts_.size(); i++) {
      const size_t bytes = Drain(*posts_[i], ends[i], watchers);
      drained += bytes;
      most = std::max(most, bytes * 4 / posts_[i]->ring_.size());
    }
    WakeOwners(watchers);
    rest_ms = drained != 0 ? kRestMsMin : std::min(2 * rest_ms, kRestMsMax);
    if (most == 0) Rest(rest_ms);  // otherwise a ring was a quarter full: it may be again
  }
}

// Takes what lies before `end`. Returns how many bytes that was.
size_t WatchHub::Drain(WatchPost& post, uint64_t end, const Watchers& watchers) {
  ByteRing& ring = post.ring_;
  const uint64_t begin = ring.read();
  char text[kWatchTextBytesMax];
  while (ring.read() < end) {
    WatchEvent event;
    ring.Read(&event, sizeof event);
    ring.Read(text, event.text_bytes);
    Send(event, {text, event.text_bytes}, watchers);
  }
  return static_cast<size_t>(ring.read() - begin);
}

void WatchHub::Send(const WatchEvent& event, std::string_view text, const Watchers& watchers) {
  char buffer[kWatchLineBytesMax];
  std::string_view line;
  for (const auto& watcher : watchers) {
    if ((watcher->classes & WatchClassOf(event.type)) == 0 || event.number < watcher->first_number)
      continue;
    if (line.empty())
      line = {buffer, static_cast<size_t>(WriteWatchLine(event, text, buffer) - buffer)};
    if (SendLine(line, watcher.get())) {
      watcher->has_more = true;
      sent_.Add(1);
    } else {
      watcher->skipped++;
      skipped_.Add(1);
    }
  }
}

// Those whose watchers have lines, if some are new, or if their sockets took some since they were
// last woken. Of a socket that takes nothing the worker finds out by its ticks. Once each, however
// many watchers it has.
void WatchHub::WakeOwners(const Watchers& watchers) {
  std::array<const WatchPost*, kWatchersMax> woken;
  size_t count = 0;
  for (const auto& watcher : watchers) {
    const uint64_t read = watcher->lines.read();
    const bool goes_on = watcher->has_more || watcher->seen_read != read;
    watcher->has_more = false;
    watcher->seen_read = read;
    if (!goes_on || watcher->lines.readable() == 0) continue;
    const auto end = woken.begin() + static_cast<std::ptrdiff_t>(count);
    if (std::find(woken.begin(), end, watcher->post) != end) continue;
    woken[count++] = watcher->post;
    watcher->post->Wake();
  }
}

}  // namespace weft::server
