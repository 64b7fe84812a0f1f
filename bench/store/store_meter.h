// bench/store/store_meter.h: what this process has used so far, and when it has come to rest.
//
// Threads: any. The figures are of the whole process, so one store works at a time.
#pragma once

#include <cstdint>

#include "bench/harness/process.h"

namespace weft::bench {

// CPU seconds of all threads.
CpuSeconds CpuOfThisProcess();
// Bytes that this process handed to the system to write, to files or elsewhere; 0 where the system
// does not say.
uint64_t BytesGivenToWrite();

// Waits until background work has ended: for a quarter of a second nothing was written, and no
// other thread wanted a processor or waited for a disk. Next to no CPU time may be used meanwhile.
// Gives up after `limit_s`. Returns the seconds of work it waited for.
double WaitUntilQuiet(double limit_s);
// The limit for a store without other work beside it.
inline constexpr double kSettleLimitS = 180;

// How many times the bytes of one thread two threads copy and checksum, at present: what this
// machine gives to a second thread that shares nothing with the first. Takes half a second.
double MachineTwoThreadsOverOne();

}  // namespace weft::bench
