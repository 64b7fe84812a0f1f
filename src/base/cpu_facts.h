// base/cpu_facts.h: what the system says of the processor; ARM's say it in other places than x86's.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <string>

namespace weft::base {

// "AMD EPYC 7B13"; of ARM's, which have no names there, "ARM implementer 0x41 part 0xd0c". Empty:
// the system does not say. `cpuinfo`: the file that does.
std::string CpuModel(const std::string& cpuinfo = "/proc/cpuinfo");

// Bytes of the last level of caches, one of them where there are several; 0: the system does not
// say.
uint64_t LastCacheBytes();
// The same from the folder that tells it of one CPU: all that ARM's have.
uint64_t LastCacheBytesIn(const std::string& folder);

}  // namespace weft::base
