// tier/lookup_queue.h: lookups that wait for a thread, in the order that shares the threads' time
// fairly among their askers.
//
// Start-time fair queueing (Goyal, Vin, Cheng: SIGCOMM 1996): a job's start tag is the finish tag
// of its asker's last job, or the virtual time where that is later; the least start tag goes first,
// and is the virtual time then. A finish tag is the start tag and what the job cost. So whoever had
// little comes before those who had much, and these share what is left. Jobs of one tag go in the
// order of Add. It differs in this:
//
// A job costs what it asked for and brought, not the time it took: a disk that stalls is nobody's
// doing, and time that one did not use would be waited for once for each of those that wait.
//
// No job sets its asker back by more than kMeansMax of what jobs cost of late, so that one get of
// many keys among thousands of single ones waits a few rounds, not as many as it has keys.
//
// A tag counts usual jobs: those that cost what jobs cost of late. So what was charged while jobs
// were large is no more rounds once they are small; nor fewer the other way round.
//
// Whoever asks for the first time starts behind the virtual time, by one usual job. Otherwise
// thousands that come, ask once and go would keep the virtual time where it is, and whoever has
// asked before waiting.
//
// Threads   one at a time: its owner has a lock.
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
    uint64_t id = 0;  // the asker's own, of those that share a mailbox
    std::unique_ptr<Lookup> lookup;
    Mailbox* home = nullptr;
    uint64_t start = 0;  // its start tag
  };

  // A key counts as so many bytes: about two blocks of a table.
  static constexpr uint64_t kKeyBytes = uint64_t{8} << 10;
  static constexpr uint64_t kMeansMax = 8;
  static constexpr uint64_t kUsualJob = uint64_t{1} << 20;  // in tags

  static uint64_t CostOf(const Lookup& lookup) {
    return lookup.answered() * kKeyBytes + lookup.found_bytes();
  }

  bool empty() const { return jobs_.empty(); }
  size_t size() const { return jobs_.size(); }
  // `finish`: the finish tag of the asker's last job; 0: there was none. REQUIRES: no other job of
  // it waits
  void Add(uint64_t id, std::unique_ptr<Lookup> lookup, Mailbox* home, uint64_t finish);
  // REQUIRES: !empty()
  Job Take();
  // A job of this start tag is done, and cost so many bytes. Returns its asker's finish tag.
  uint64_t Ran(uint64_t start, uint64_t cost);
  // Takes an asker's job out; null: it has none that waits.
  std::unique_ptr<Lookup> Forget(uint64_t id, Mailbox* home);

 private:
  using Place = std::pair<uint64_t, uint64_t>;  // start tag, number of the Add
  static constexpr uint64_t kMeanOf = 64;       // jobs, about

  uint64_t time_ = 0;  // virtual: the last start tag that was taken
  uint64_t mean_ = 0;  // of what jobs cost, of late: bytes
  uint64_t added_ = 0;
  std::map<Place, Job> jobs_;
  std::map<std::pair<Mailbox*, uint64_t>, Place> places_;  // by home and id
};

}  // namespace weft::tier
