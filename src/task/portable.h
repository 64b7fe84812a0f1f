// task/portable.h: the one file that knows the compilers. Everything above it in src/task is plain
// C99 with these words added, and compiles as C++20 (g++, clang++), CUDA C++ (nvcc) and OpenCL C.
//
// What a task may use: fixed-width types, WEFT_FN functions with WEFT_GLOBAL pointers, structs by
// value, bounded loops, and the verbs below for atomics, bits and prefetch. No libraries, no
// recursion, no function pointers, no allocation (docs/architecture.md, "Single-source tasks").
//
// Atomics   64-bit and 32-bit words only. Each verb states its order; the comment at each use says
//           what it pairs with. On a device the scope is the whole system, for coupled memory.
//           CUDA: code that defines WEFT_DEVICE_HOME gets the scope of its device, which is far
//           cheaper. That is right if index, log and columns lie in that device's memory and only
//           its kernels touch them while others run.
//           OpenCL C: the atomics of its versions 2.0 and 3.0, over all devices and the host. The
//           older atom_ and mem_fence functions order nothing between work items (PoCL makes no
//           instruction of mem_fence), so a compiler without the newer ones is not enough.
// Recording in a build with WEFT_RECORD_ACCESSES a recorder gets each access (sim/record): the
// verbs report theirs, and plain accesses are reported by the Touch verbs. All other builds have
// nothing of it, down to the machine code.
#pragma once

#if defined(__OPENCL_VERSION__)
#define WEFT_FN static inline
#define WEFT_GLOBAL __global
#define WEFT_TASK_BEGIN
#define WEFT_TASK_END
#define WEFT_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#ifdef cl_khr_int64_extended_atomics
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif
// Some compilers know no scope of all devices. Then WEFT_DEVICE_SCOPE says that the one device
// shares caches and instructions with the host (a CPU), so that its scope is as wide.
#ifdef WEFT_DEVICE_SCOPE
#define WEFT_SCOPE memory_scope_device
#else
#define WEFT_SCOPE memory_scope_all_svm_devices
#endif
#else
#if defined(__CUDACC__)
#define WEFT_FN static __host__ __device__ inline
#define WEFT_LANE_FN static __device__ __forceinline__
#define WEFT_UNROLL _Pragma("unroll")
#ifdef WEFT_DEVICE_HOME
#define WEFT_PTX_SCOPE "gpu"
#else
#define WEFT_PTX_SCOPE "sys"
#endif
#else
#if defined(WEFT_SANITIZED)
#define WEFT_FN static inline
#else
#define WEFT_FN static inline __attribute__((always_inline))
#endif
// A function that the lanes of a warp call in step: only on the device, if there is one.
#define WEFT_LANE_FN static inline
// The next loop has a few rounds, which keep arrays in registers if they are unrolled.
#define WEFT_UNROLL
#endif
#define WEFT_GLOBAL
#define WEFT_TASK_BEGIN namespace weft::task {
#define WEFT_TASK_END }
#define WEFT_STATIC_ASSERT(condition, text) static_assert(condition, text)
#include <cstdint>
#include <cstring>
namespace weft::task {
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
}  // namespace weft::task
#endif

// A branch that is seldom taken.
#if defined(__OPENCL_VERSION__)
#define WEFT_UNLIKELY(x) (x)
#else
#define WEFT_UNLIKELY(x) __builtin_expect(!!(x), 0)
#endif

// Whether and how a recorder gets an access; `word`: the 8 bytes read or written, otherwise 0.
#if defined(WEFT_RECORD_ACCESSES)
#define WEFT_RECORD(call) call
namespace weft::task {
void RecordRead(const void* at, u64 bytes, u64 word);
void RecordObject(const void* at);
void RecordWrite(const void* at, u64 bytes);
void RecordUpdate(const void* at, u64 bytes, u64 word);
void RecordPrefetch(const void* at);
}  // namespace weft::task
#else
#define WEFT_RECORD(call)
#endif

WEFT_TASK_BEGIN

// Plain reads and writes that a recorder must see.
WEFT_FN void Touch(WEFT_GLOBAL const void* at, u64 bytes) {
  (void)at;
  (void)bytes;
  WEFT_RECORD(RecordRead(at, bytes, 0));
}
// The header of the object that the following reads are about.
WEFT_FN void TouchObject(WEFT_GLOBAL const void* at) {
  (void)at;
  WEFT_RECORD(RecordObject(at));
}
WEFT_FN void TouchWrite(WEFT_GLOBAL const void* at, u64 bytes) {
  (void)at;
  (void)bytes;
  WEFT_RECORD(RecordWrite(at, bytes));
}

// High 64 bits of a product: maps a hash onto [0, n) without a division.
WEFT_FN u64 MulHigh64(u64 a, u64 b) {
#if defined(__OPENCL_VERSION__)
  return mul_hi(a, b);
#elif defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#else
  return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

// Index of the lowest set bit. REQUIRES: word != 0
WEFT_FN u32 LowestBit64(u64 word) {
#if defined(__OPENCL_VERSION__)
  return (u32)popcount((word & (~word + 1)) - 1);
#elif defined(__CUDA_ARCH__)
  return (u32)(__ffsll((long long)word) - 1);
#else
  return static_cast<u32>(__builtin_ctzll(word));
#endif
}

// Reads a word that others may be writing. Acquire: bytes written before the word was published are
// seen after it.
WEFT_FN u64 LoadAcquire64(WEFT_GLOBAL const u64* at) {
#if defined(__OPENCL_VERSION__)
  return atomic_load_explicit((WEFT_GLOBAL volatile atomic_ulong*)at, memory_order_acquire,
                              WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  u64 word;
  asm volatile("ld.acquire." WEFT_PTX_SCOPE ".u64 %0, [%1];" : "=l"(word) : "l"(at) : "memory");
  return word;
#else
  const u64 word = __atomic_load_n(at, __ATOMIC_ACQUIRE);
  WEFT_RECORD(RecordRead(at, 8, word));
  return word;
#endif
}

WEFT_FN u32 LoadAcquire32(WEFT_GLOBAL const u32* at) {
#if defined(__OPENCL_VERSION__)
  return atomic_load_explicit((WEFT_GLOBAL volatile atomic_uint*)at, memory_order_acquire,
                              WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  u32 word;
  asm volatile("ld.acquire." WEFT_PTX_SCOPE ".u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
  return word;
#else
  WEFT_RECORD(RecordRead(at, 4, 0));
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

// The same for a byte.
WEFT_FN u32 LoadAcquire8(WEFT_GLOBAL const u8* at) {
#if defined(__OPENCL_VERSION__)
  const u32 byte = *(WEFT_GLOBAL const volatile u8*)at;  // there are no atomic bytes
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, WEFT_SCOPE);
  return byte;
#elif defined(__CUDA_ARCH__)
  const u32 byte = *(WEFT_GLOBAL const volatile u8*)at;
  asm volatile("fence.acq_rel." WEFT_PTX_SCOPE ";" ::: "memory");
  return byte;
#else
  WEFT_RECORD(RecordRead(at, 1, 0));
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
#endif
}

// Writes a word that others may be reading. Release: whoever reads it by acquire sees all that was
// written before it.
WEFT_FN void StoreRelease64(WEFT_GLOBAL u64* at, u64 word) {
#if defined(__OPENCL_VERSION__)
  atomic_store_explicit((WEFT_GLOBAL volatile atomic_ulong*)at, word, memory_order_release,
                        WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  asm volatile("st.release." WEFT_PTX_SCOPE ".u64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
#else
  __atomic_store_n(at, word, __ATOMIC_RELEASE);
  WEFT_RECORD(RecordUpdate(at, 8, word));
#endif
}

// Reads a word in the one order of all sequentially consistent accesses.
WEFT_FN u32 LoadSequential32(WEFT_GLOBAL const u32* at) {
#if defined(__OPENCL_VERSION__)
  return atomic_load_explicit((WEFT_GLOBAL volatile atomic_uint*)at, memory_order_seq_cst,
                              WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  u32 word;
  asm volatile("fence.sc." WEFT_PTX_SCOPE
               ";\n\t"
               "ld.acquire." WEFT_PTX_SCOPE ".u32 %0, [%1];"
               : "=r"(word)
               : "l"(at)
               : "memory");
  return word;
#else
  WEFT_RECORD(RecordRead(at, 4, 0));
  return __atomic_load_n(at, __ATOMIC_SEQ_CST);
#endif
}

// Reads a 32-bit word that others may be writing, with no order: hints and counters.
WEFT_FN u32 LoadRelaxed32(WEFT_GLOBAL const u32* at) {
#if defined(__OPENCL_VERSION__)
  return atomic_load_explicit((WEFT_GLOBAL volatile atomic_uint*)at, memory_order_relaxed,
                              WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  return *(WEFT_GLOBAL const volatile u32*)at;
#else
  WEFT_RECORD(RecordRead(at, 4, 0));
  return __atomic_load_n(at, __ATOMIC_RELAXED);
#endif
}

// Writes a 32-bit word that others may be reading, with no order.
WEFT_FN void StoreRelaxed32(WEFT_GLOBAL u32* at, u32 word) {
#if defined(__OPENCL_VERSION__)
  atomic_store_explicit((WEFT_GLOBAL volatile atomic_uint*)at, word, memory_order_relaxed,
                        WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  *(WEFT_GLOBAL volatile u32*)at = word;
#else
  __atomic_store_n(at, word, __ATOMIC_RELAXED);
  WEFT_RECORD(RecordUpdate(at, 4, 0));
#endif
}

// The same for a byte. On a host: devices have no atomic bytes.
#if !defined(__OPENCL_VERSION__) && !defined(__CUDA_ARCH__)
WEFT_FN void StoreRelaxed8(WEFT_GLOBAL u8* at, u32 byte) {
  __atomic_store_n(at, static_cast<u8>(byte), __ATOMIC_RELAXED);
}
#endif

// Orders every access before it against every access after it.
WEFT_FN void FullFence(void) {
#if defined(__OPENCL_VERSION__)
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  asm volatile("fence.sc." WEFT_PTX_SCOPE ";" ::: "memory");
#elif defined(__SANITIZE_THREAD__)
  // The thread sanitizer does not model fences; every word it would order is itself atomic.
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Makes the sequentially consistent change before it a full fence, as x86's locked instructions are
// by themselves. Elsewhere, later reads may happen before the change is seen.
WEFT_FN void FenceBehindChange(void) {
#if !defined(__x86_64__) && !defined(__CUDA_ARCH__)
  FullFence();
#endif
}

// Replaces `expected` by `desired` if it is there; true if it was. Sequentially consistent and a
// full fence.
WEFT_FN bool CompareAndSwap64(WEFT_GLOBAL u64* at, u64 expected, u64 desired) {
#if defined(__OPENCL_VERSION__)
  const bool replaced = atomic_compare_exchange_strong_explicit(
      (WEFT_GLOBAL volatile atomic_ulong*)at, &expected, desired, memory_order_seq_cst,
      memory_order_seq_cst, WEFT_SCOPE);
  FenceBehindChange();
  return replaced;
#elif defined(__CUDA_ARCH__)
  u64 seen;
  asm volatile("fence.sc." WEFT_PTX_SCOPE
               ";\n\t"
               "atom.relaxed." WEFT_PTX_SCOPE
               ".cas.b64 %0, [%1], %2, %3;\n\t"
               "fence.sc." WEFT_PTX_SCOPE ";"
               : "=l"(seen)
               : "l"(at), "l"(expected), "l"(desired)
               : "memory");
  return seen == expected;
#else
  const bool replaced = __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                                    __ATOMIC_SEQ_CST);
  WEFT_RECORD(RecordUpdate(at, 8, replaced ? desired : expected));
  FenceBehindChange();
  return replaced;
#endif
}

WEFT_FN bool CompareAndSwap32(WEFT_GLOBAL u32* at, u32 expected, u32 desired) {
#if defined(__OPENCL_VERSION__)
  return atomic_compare_exchange_strong_explicit((WEFT_GLOBAL volatile atomic_uint*)at, &expected,
                                                 desired, memory_order_seq_cst,
                                                 memory_order_seq_cst, WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  u32 seen;
  asm volatile("atom.relaxed." WEFT_PTX_SCOPE ".cas.b32 %0, [%1], %2, %3;"
               : "=r"(seen)
               : "l"(at), "r"(expected), "r"(desired)
               : "memory");
  return seen == expected;
#else
  WEFT_RECORD(RecordUpdate(at, 4, 0));
  return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST);
#endif
}

// Sets bits in a word; returns the word before. Sequentially consistent.
WEFT_FN u32 FetchOr32(WEFT_GLOBAL u32* at, u32 bits) {
#if defined(__OPENCL_VERSION__)
  return atomic_fetch_or_explicit((WEFT_GLOBAL volatile atomic_uint*)at, bits, memory_order_seq_cst,
                                  WEFT_SCOPE);
#elif defined(__CUDA_ARCH__)
  u32 before;
  asm volatile("atom.relaxed." WEFT_PTX_SCOPE ".or.b32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(at), "r"(bits)
               : "memory");
  return before;
#else
  WEFT_RECORD(RecordUpdate(at, 4, 0));
  return __atomic_fetch_or(at, bits, __ATOMIC_SEQ_CST);
#endif
}

// Adds to a word; returns the word before. Sequentially consistent and a full fence.
WEFT_FN u32 FetchAdd32(WEFT_GLOBAL u32* at, u32 amount) {
#if defined(__OPENCL_VERSION__)
  const u32 before = atomic_fetch_add_explicit((WEFT_GLOBAL volatile atomic_uint*)at, amount,
                                               memory_order_seq_cst, WEFT_SCOPE);
  FenceBehindChange();
  return before;
#elif defined(__CUDA_ARCH__)
  u32 before;
  asm volatile("fence.sc." WEFT_PTX_SCOPE
               ";\n\t"
               "atom.relaxed." WEFT_PTX_SCOPE
               ".add.u32 %0, [%1], %2;\n\t"
               "fence.sc." WEFT_PTX_SCOPE ";"
               : "=r"(before)
               : "l"(at), "r"(amount)
               : "memory");
  return before;
#else
  WEFT_RECORD(RecordUpdate(at, 4, 0));
  const u32 before = __atomic_fetch_add(at, amount, __ATOMIC_SEQ_CST);
  FenceBehindChange();
  return before;
#endif
}

// Asks for a line ahead of its use. Never faults.
WEFT_FN void Prefetch(WEFT_GLOBAL const void* at) {
#if defined(__OPENCL_VERSION__) && defined(__x86_64__) && defined(__clang__)
  __builtin_prefetch((const void*)(size_t)at, 0, 3);  // there all address spaces are one
#elif defined(__OPENCL_VERSION__) || defined(__CUDA_ARCH__)
  (void)at;
#else
  WEFT_RECORD(RecordPrefetch(at));
  __builtin_prefetch(at, 0, 3);
#endif
}

// Little-endian words at any alignment. CUDA reads the aligned words that contain the eight bytes:
// memory must be readable, and initialized, out to multiples of 8. Objects are padded so; a column
// of keys that a kernel reads must begin and end on one.
WEFT_FN u64 LoadBytes64(WEFT_GLOBAL const u8* at) {
#if defined(__OPENCL_VERSION__)
  return as_ulong(vload8(0, at));
#elif defined(__CUDA_ARCH__)
  const u64* words = (const u64*)((u64)at & ~7ul);
  const u32 shift = ((u32)(u64)at & 7) * 8;
  if (shift == 0) return words[0];
  return words[0] >> shift | words[1] << (64 - shift);
#else
  u64 word;
  WEFT_RECORD(RecordRead(at, 8, 0));
  std::memcpy(&word, at, 8);
  return word;
#endif
}

// Copies `bytes` bytes; the ranges do not overlap.
WEFT_FN void CopyBytes(WEFT_GLOBAL u8* to, WEFT_GLOBAL const u8* from, u32 bytes) {
#if defined(__OPENCL_VERSION__) || defined(__CUDA_ARCH__)
  u32 i = 0;
  for (; i < bytes && ((u64)(to + i) & 7) != 0; i++) to[i] = from[i];
  for (; i + 8 <= bytes; i += 8) *(WEFT_GLOBAL u64*)(to + i) = LoadBytes64(from + i);
  for (; i < bytes; i++) to[i] = from[i];
#else
  WEFT_RECORD(RecordRead(from, bytes, 0));
  WEFT_RECORD(RecordWrite(to, bytes));
  std::memcpy(to, from, bytes);
#endif
}

WEFT_TASK_END

// Eight-slot tag match, tuned for compilers with 256-bit vectors; see MatchTags in bucket.h. Vector
// loads of slots that others write are no atomic accesses in C++'s terms. But each 8-byte slot
// arrives whole on x86, and the caller reads it again atomically before it believes it. The thread
// sanitizer gets the plain loop.
#if defined(__AVX2__) && !defined(__CUDACC__) && !defined(__OPENCL_VERSION__) && \
    !defined(__SANITIZE_THREAD__)
#define WEFT_VECTOR_MATCH 1
// Sixteen 16-bit lanes, and which of them equal the other's: two bits a lane. Types of the compiler
// instead of <immintrin.h>, whose 2.5 MB would be parsed with every file that reads an index.
typedef unsigned short WeftLanes __attribute__((vector_size(32), may_alias));
typedef char WeftLaneBytes __attribute__((vector_size(32)));
static inline unsigned WeftEqualLanes(WeftLanes a, WeftLanes b) {
  return (unsigned)__builtin_ia32_pmovmskb256((WeftLaneBytes)(a == b));
}
#else
#define WEFT_VECTOR_MATCH 0
#endif
