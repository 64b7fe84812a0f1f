// tier/lookup_queue.h: lookups that wait for a thread, in an order that shares the threads' time
// fairly among their askers.
//
// Start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996): a job's start tag is the finish tag
// of its asker's last job, or the virtual time if that is later. The least start tag goes first,
// and becomes the virtual time. A finish tag is the start tag plus the job's cost. So askers that
// had little come before those that had much, and these share the rest. Jobs of one tag go in the
// order of Add. It differs in this:
//
// A job costs the bytes it asked for and brought, not its time. A disk that stalls is nobody's
// fault, and each waiting asker would wait once for time that another did not use.
//
// No job sets its asker back by more than kMeansMax mean costs of recent jobs. So one get of many
// keys among thousands of single ones waits a few rounds, not as many as it has keys.
//
// A tag counts usual jobs: those with the mean cost of recent jobs. So charges from a time of large
// jobs are no more rounds once jobs are small, nor fewer the other way round.
//
// Whoever asks for the first time starts behind the virtual time, by one usual job. Otherwise
// thousands that come, ask once and go would stop the virtual time, and keep whoever has asked
// before waiting.
//
// Threads   one at a time: its owner holds a lock.
// Cost      logarithmic in the jobs that wait.
// Errors    none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "tier/lookup.h"

namespace weft::tier {

class Mailbox;

class LookupQueue {
 public:
  struct Job {
    uint64_t id = 0;  // the asker's own, unique in its mailbox
    std::unique_ptr<Lookup> lookup;
    Mailbox* home = nullptr;
    uint64_t start = 0;  // its start tag
  };

  // A key counts as this many bytes: about two blocks of a table.
  static constexpr uint64_t kKeyBytes = uint64_t{8} << 10;
  static constexpr uint64_t kMeansMax = 8;
  static constexpr uint64_t kUsualJob = uint64_t{1} << 20;  // in tags

  static uint64_t CostOf(const Lookup& lookup) {
    return lookup.answered() * kKeyBytes + lookup.found_bytes();
  }

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  // `finish`: the finish tag of the asker's last job; 0: there was none. REQUIRES: no other job of
  // the asker waits
  void Add(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home, uint64_t finish);
  // REQUIRES: !empty()
  Job Take();
  // A job of this start tag is done, and cost `cost` bytes. Returns its asker's finish tag.
  uint64_t Ran(uint64_t start, uint64_t cost);
  // Takes an asker's job out; null: none of its jobs waits.
  std::unique_ptr<Lookup> Forget(uint64_t id, Mailbox* home);

 private:
  using Place = std::pair<uint64_t, uint64_t>;  // start tag, number of the Add
  static constexpr uint64_t kMeanOf = 64;       // jobs, roughly

  uint64_t time_ = 0;  // virtual: the last start tag taken
  uint64_t mean_ = 0;  // of recent jobs' costs: bytes
  uint64_t added_ = 0;
  std::map<Place, Job> jobs_;
  std::map<std::pair<Mailbox*, uint64_t>, Place> places_;  // by home and id
};

}  // namespace weft::tier
