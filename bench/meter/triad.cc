#include "bench/meter/triad.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/clock.h"
#include "base/cpu_facts.h"
#include "base/thread.h"
#include "bench/harness/machine.h"

namespace weft::bench {
namespace {

constexpr uint64_t kBytesPerElement = 3 * sizeof(double);
constexpr uint64_t kCacheBytesUnknown = 32 << 20;
constexpr size_t kPieceElements = 16384;  // 384 KiB of traffic: some 40 microseconds
constexpr double kScalar = 3;

struct Triad {
  double* a;
  const double* b;
  const double* c;
};

// Three arrays in one.
Triad In(std::vector<double>* arrays) {
  const size_t each = arrays->size() / 3;
  return {arrays->data(), arrays->data() + each, arrays->data() + 2 * each};
}

void Work(const Triad& triad, size_t begin, size_t end) {
  double* const __restrict a = triad.a;
  const double* const __restrict b = triad.b;
  const double* const __restrict c = triad.c;
  for (size_t i = begin; i < end; ++i) a[i] = b[i] + kScalar * c[i];
  asm volatile("" : : "r"(a) : "memory");  // or nobody would see it
}

Result<size_t> ElementsOf(const TriadOptions& options) {
  if (options.threads < 1)
    return Status(Code::kInvalidArgument, "a triad needs at least one thread");
  const uint64_t bytes =
      options.array_bytes > 0 ? options.array_bytes : TriadArrayBytes(options.threads);
  return std::max<size_t>(bytes / sizeof(double), kPieceElements);
}

void PinAs(const TriadOptions& options, int number) {
  if (options.cpus.empty()) return;
  PinTo(0, {options.cpus[static_cast<size_t>(number) % options.cpus.size()]});
}

// One piece after another, over and over, until told to end. Returns its bytes.
uint64_t WorkUntil(const Triad& triad, size_t elements, uint64_t end_ns) {
  uint64_t bytes = 0;
  for (size_t at = 0; base::NowNs() < end_ns;) {
    const size_t end = std::min(at + kPieceElements, elements);
    Work(triad, at, end);
    bytes += (end - at) * kBytesPerElement;
    at = end == elements ? 0 : end;
  }
  return bytes;
}

Status NoMemory() { return {Code::kNoMemory, "no memory for the arrays of a triad"}; }

// False where the system has none.
bool Fill(std::vector<double>* arrays, size_t elements) {
  try {
    arrays->assign(3 * elements, 1.0);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace

uint64_t TriadArrayBytes(int threads) {
  const uint64_t said_bytes = base::LastCacheBytes();
  const uint64_t cache_bytes = said_bytes > 0 ? said_bytes : kCacheBytesUnknown;
  return std::max<uint64_t>(4 * cache_bytes / (3 * static_cast<uint64_t>(threads)), 8 << 20);
}

Result<double> MeasureTriad(const TriadOptions& options) {
  auto elements = ElementsOf(options);
  if (!elements) return elements.error();
  std::atomic<int> filled{0};
  std::atomic<bool> failed{false};
  std::atomic<uint64_t> bytes{0}, thread_ns{0};
  const auto work = [&](int number) {
    PinAs(options, number);
    std::vector<double> arrays;
    if (!Fill(&arrays, *elements)) failed = true;
    ++filled;
    while (filled < options.threads) std::this_thread::yield();
    if (failed) return;
    const uint64_t begin_ns = base::NowNs();
    bytes +=
        WorkUntil(In(&arrays), *elements, begin_ns + static_cast<uint64_t>(options.seconds * 1e9));
    thread_ns += base::NowNs() - begin_ns;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  if (failed) return NoMemory();
  const double seconds = static_cast<double>(thread_ns) * 1e-9 / options.threads;
  return static_cast<double>(bytes) / seconds;
}

Reading TriadReading(const TriadOptions& options) {
  auto rate = MeasureTriad(options);
  if (!rate) return Reading::Unavailable(rate.error().ToString());
  return Reading::Of(*rate, "B/s", "triad, threads: " + std::to_string(options.threads));
}

Result<std::unique_ptr<BandwidthHog>> BandwidthHog::Start(const TriadOptions& options,
                                                          double full_bytes_per_s, double share) {
  auto elements = ElementsOf(options);
  if (!elements) return elements.error();
  if (!(full_bytes_per_s > 0)) {
    return Status(Code::kInvalidArgument, "a hog's full rate must be more than 0 bytes a second");
  }
  std::unique_ptr<BandwidthHog> hog(new BandwidthHog(options, full_bytes_per_s));  // by the pointer
  hog->arrays_.resize(static_cast<size_t>(options.threads));
  for (int i = 0; i < options.threads; ++i) {
    bool filled = false;
    std::thread([&] {  // on its CPU, so that the memory is near
      PinAs(options, i);
      filled = Fill(&hog->arrays_[static_cast<size_t>(i)], *elements);
    })
        .join();
    if (!filled) return NoMemory();
  }
  hog->SetShare(share);
  for (int i = 0; i < options.threads; ++i) {
    hog->threads_.emplace_back(
        [hog = hog.get(), i] { hog->Run(i, &hog->arrays_[static_cast<size_t>(i)]); });
  }
  return hog;
}

BandwidthHog::~BandwidthHog() {
  ending_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void BandwidthHog::SetShare(double share) {
  share_ = std::clamp(share, 0.0, 1.0);
  begin_bytes_ = bytes_;
  begin_ns_ = base::NowNs();
}

double BandwidthHog::BytesPerSecond() const {
  const auto ns = static_cast<double>(base::NowNs() - begin_ns_);
  return ns > 0 ? static_cast<double>(bytes_ - begin_bytes_) * 1e9 / ns : 0;
}

void BandwidthHog::Run(int number, std::vector<double>* arrays) {
  base::SetThreadName("bandwidth-hog");
  PinAs(options_, number);
  const Triad triad = In(arrays);
  const size_t elements = arrays->size() / 3;
  constexpr auto kLateMax = std::chrono::milliseconds(20);
  auto due = std::chrono::steady_clock::now();
  for (size_t at = 0; !ending_;) {
    const double share = share_;
    const auto now = std::chrono::steady_clock::now();
    if (share == 0 || due > now) {
      std::this_thread::sleep_for(
          share == 0
              ? std::chrono::nanoseconds(kLateMax)
              : std::chrono::nanoseconds(std::min<std::chrono::nanoseconds>(due - now, kLateMax)));
      continue;
    }
    // What others kept from it is not taken later.
    due = std::max(due, now - kLateMax);
    const size_t end = std::min(at + kPieceElements, elements);
    Work(triad, at, end);
    const uint64_t bytes = (end - at) * kBytesPerElement;
    at = end == elements ? 0 : end;
    bytes_ += bytes;
    // At its full share it takes what it gets.
    const double rate = full_bytes_per_s_ * share / options_.threads;
    const double seconds = share == 1 ? 0 : static_cast<double>(bytes) / rate;
    due += std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
  }
}

}  // namespace weft::bench
