// bench/harness/defaults.h: the axes, durations and targets that every benchmark shares. They stand
// in one place, so that figures with the same name are taken the same way.
//
// A target is the project's own promise; docs cite it from here. The command line can change each
// one (--target), and the record then shows it.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::bench::defaults {

// Repeatability
inline constexpr uint64_t kSeed = 20'260'701;
inline constexpr int kRepetitions = 5;
inline constexpr double kRunS = 3.0;
inline constexpr double kWarmupS = 0.5;  // before every repetition, uncounted

// For --quick, which only shows that everything runs: of the durable benchmarks, and of the device
// a table that fits anywhere.
inline constexpr uint64_t kQuickKeys = 100'000;
inline constexpr double kQuickScale = 0.1;
inline constexpr double kQuickTailS = 1;
inline constexpr uint64_t kQuickObjects = 4'000'000;
inline constexpr uint32_t kQuickDeviceBatch = 1u << 20;

// The server axes of docs/design: 1 M keys of 16 B with 64 B values, 95 % GET, 50 connections
inline constexpr uint64_t kServerKeys = 1'000'000;
inline constexpr int kConnections = 50;
inline constexpr uint32_t kKeyBytes = 16;
inline constexpr uint32_t kValueBytes = 64;
inline constexpr double kGetShare = 0.95;
inline constexpr int kDeepDepth = 32;
inline constexpr int kMultigetKeys = 100;
inline constexpr uint64_t kServerMemoryMb = 4096;
inline constexpr int kConnectionsMax = 2048;
inline constexpr int kServerCpu = 0;
inline constexpr int kClientCpu = 1;

// The embedded axes
inline constexpr uint64_t kEmbeddedObjects = 10'000'000;
inline constexpr uint32_t kBatch = 32;
inline constexpr uint32_t kWalkObjectBytes = 96;  // header 16, key 16, value 64
inline constexpr double kZipfTheta = 0.99;

// The pipeline: paper 000, section V, and requests of a thread that no processor cache holds
inline constexpr uint64_t kPipelineMemoryMb = 1908;
inline const std::vector<double> kAlternationCyclesMs = {2, 4, 8, 16, 32, 64, 128, 256};
inline constexpr double kAlternationTraceMs = 6;
inline constexpr uint32_t kAlternationTraceCycles = 1000;
inline constexpr double kAlternationSlotMs = 0.3;
inline constexpr double kPipelineIntervalUs = 1000;
inline constexpr uint64_t kPipelineRing = 1 << 20;
inline constexpr uint32_t kPipelineBatchMax = 16384;

// Memory and hit ratio
inline constexpr uint64_t kMemoryItems = 5'000'000;
inline constexpr uint64_t kHitRatioMemoryMb = 64;

// The durable store: 16 B keys, as in LevelDB's own benchmark
inline constexpr uint64_t kDurableKeys = 2'000'000;
inline constexpr uint32_t kDurableValueBytes = 256;
inline constexpr uint64_t kDurableReads = 500'000;
inline constexpr int kDurableRepetitions = 3;
inline constexpr double kTailLoad = 0.80;  // of the store's own top rate

// Stores beside other work: paper 001, section IV
inline constexpr uint64_t kContentionKeys = 10'000'000;
inline const std::vector<uint32_t> kContentionValueBytes = {128, 256, 512, 1024};
inline const std::vector<int> kContentionTaken = {0, 40, 80};

// The table in device memory
inline constexpr uint64_t kDeviceObjects = 200'000'000;
inline constexpr double kDeviceLoad = 0.80;
inline constexpr uint32_t kDeviceBatch = 16u << 20;
inline constexpr uint32_t kDeviceMissPermille = 100;

// Latency: the open-loop rate as a share of the peer's best closed-loop rate
inline constexpr double kLatencyLoad = 0.70;

// Targets. `advantage` is peer cost over subject cost: 2 means half the CPU time an operation.
inline constexpr double kTargetWalk = 0.60;          // at least: embedded rate over the bare walk's
inline constexpr double kTargetPrefetch = 2.0;       // at least: prefetch on over off
inline constexpr double kTargetView = 0.9;           // at least: MultiView over MultiGet
inline constexpr double kTargetCpuDepth1 = 1 / 0.9;  // at least: advantage over memcached
inline constexpr double kTargetCpuDeep = 1 / 0.3;    //   at depth 32
inline constexpr double kTargetCpuMultiget = 1 / 0.35;    //   for gets of 100 keys
inline constexpr double kTargetCpuBinaryDeep = 1 / 0.15;  //   binary gets at depth 32
inline constexpr double kTargetCpuTlsDepth1 = 1 / 1.1;    //   TLS on both sides, at depth 1
inline constexpr double kTargetCpuTlsDeep = 1 / 0.35;     //   and at depth 32
inline constexpr double kTargetLatency = 1.0;             // at most: subject p99 over peer p99
inline constexpr double kTargetScaling = 1.8;             // at least: two workers' rate over one's
inline constexpr double kTargetItemBytes = 105;  // at most: resident bytes an item of 16 + 64 B
// Subject's hit ratio over the peer's, at least: not below.
inline constexpr double kTargetHitRatio = 1.0;

// The durable store: our operations a second over theirs, at least.
inline constexpr double kTargetWriteLevelDb = 1.3;  // fillrandom, overwrite: one writer
inline constexpr double kTargetWriteRocksDb = 2.0;
inline constexpr double kTargetWrite4LevelDb = 2.0;  //   four writers
inline constexpr double kTargetReadLevelDb = 1.0;    // readrandom
inline constexpr double kTargetReadRocksDb = 1.5;
inline constexpr double kTargetScanLevelDb = 0.9;      // readseq
inline constexpr double kTargetDurableMultiGet = 1.5;  // our MultiGet of 32 over our single Gets
inline constexpr double kTargetTail = 0.2;        // at most: our p99.9 of a write over LevelDB's
inline constexpr double kTargetCompaction = 1.3;  // one thread: input a second over a peer's
// The table in device memory, one H200: operations a second, at least.
inline constexpr double kTargetDeviceSearch = 15e9;  // 64-bit slot words for hashes
inline constexpr double kTargetDeviceReadK8 = 12e9;  // with key comparison and value
inline constexpr double kTargetDeviceReadK16 = 8e9;
inline constexpr double kTargetDeviceReadK32 = 4.7e9;
inline constexpr double kTargetDeviceInsertK16 = 4e9;  // object written, from empty to full
// YCSB A with 80 % of the CPUs taken: our operations a second, compacting on a GPU, over a peer's.
inline constexpr double kTargetContention = 2.65;
inline constexpr double kTargetContentionP99 = 1;  //   our 99th percentile over a peer's, at most
inline constexpr double kTargetCompactionThreads = 1.8;  // two threads over one

}  // namespace weft::bench::defaults
