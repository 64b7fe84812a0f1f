// tests/linearizability/workload.h: what one process of a history asks next.
//
// Keys carry the history's name, so histories do not meet. Every value written to a register key
// names its key, its process and its number. So no two writes write the same value, and one from
// elsewhere is recognised. Counter keys hold numbers.
//
// Threads   one Workload belongs to one process.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "linearizability/history.h"

namespace weft::linearizability {

struct WorkloadShape {
  std::string name;            // of the history: "h17"
  int registers = 3;           // keys with strings
  int counters = 1;            // keys with numbers
  uint32_t padding_bytes = 0;  // values are made longer by up to this many bytes
  std::string without;         // name of a verb that is never drawn: to narrow a violation down
};

class Workload {
 public:
  Workload(WorkloadShape shape, int process, uint64_t seed);

  // The next request: verb, key, argument, delta and cas_expected are filled in.
  Operation Next();
  // A request of this verb, on key number `key` (registers first).
  Operation Make(Verb verb, int key);
  // Notes what a reply reported: versions for a later cas.
  void Learn(const Operation& answered);

  int keys() const { return shape_.registers + shape_.counters; }
  uint64_t Draw(uint64_t bound) { return rng_() % bound; }

 private:
  std::string KeyName(int key) const;
  std::string FreshValue(int key);
  Verb DrawVerb(bool counter);

  const WorkloadShape shape_;
  const int process_;
  std::mt19937_64 rng_;
  uint64_t values_made_ = 0;
  std::vector<uint64_t> told_;  // by key: the version last reported to this process
};

}  // namespace weft::linearizability
