// base/mutex.h: a mutex that clang's thread-safety analysis understands, and the annotations.
//
// Every field that a mutex guards says so with WEFT_GUARDED_BY; every function that needs it held
// says so with WEFT_REQUIRES and ends in Locked. docs/concurrency.md has the one lock order.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define WEFT_TSA(x) __attribute__((x))
#else
#define WEFT_TSA(x)
#endif

#define WEFT_GUARDED_BY(x) WEFT_TSA(guarded_by(x))
#define WEFT_REQUIRES(...) WEFT_TSA(requires_capability(__VA_ARGS__))
#define WEFT_EXCLUDES(...) WEFT_TSA(locks_excluded(__VA_ARGS__))
#define WEFT_ACQUIRE(...) WEFT_TSA(acquire_capability(__VA_ARGS__))
#define WEFT_RELEASE(...) WEFT_TSA(release_capability(__VA_ARGS__))
#define WEFT_TRY_ACQUIRE(...) WEFT_TSA(try_acquire_capability(__VA_ARGS__))
#define WEFT_NO_THREAD_SAFETY_ANALYSIS WEFT_TSA(no_thread_safety_analysis)

namespace weft::base {

class WEFT_TSA(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() WEFT_ACQUIRE() { mutex_.lock(); }
  void Unlock() WEFT_RELEASE() { mutex_.unlock(); }
  bool TryLock() WEFT_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Tells the analysis that the caller holds it, where it cannot see that: in an object that was
  // given somebody else's mutex.
  void AssertHeld() const WEFT_TSA(assert_capability(this)) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex for a scope.
class WEFT_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) WEFT_ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() WEFT_RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// A condition variable for Mutex.
class CondVar {
 public:
  // Releases `mutex`, waits for a notification and takes it again. May wake without one.
  void Wait(Mutex* mutex) WEFT_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  // As Wait, but gives up after `timeout_ms`; false then.
  bool WaitFor(Mutex* mutex, int timeout_ms) WEFT_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    const bool notified = condition_.wait_for(lock, std::chrono::milliseconds(timeout_ms)) ==
                          std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace weft::base
