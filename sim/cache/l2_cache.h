// sim/cache/l2_cache.h: the shared cache, with the directory of the cores' own caches. Consecutive
// lines go to its banks in turns. It has what they have: a line that leaves it leaves them.
//
//     Request --> hit: L2Port::ToCore
//             --> miss: L2Port::ReadLine --> Fill: ToCore for all who asked meanwhile
//     Push (a prefetched line, unasked) --> kept, and marked until a core asks for it
//
// A bank with all its misses under way keeps later ones waiting in their order.
//
// The directory changes at once; its messages cost the asking core time. To get a line that another
// core owns costs `remote_cycles`; to own one that others share, a message to the furthest of them
// and back. A core that reads what no other has becomes the owner. Races of messages are not
// modelled.
//
// Units     Time (picoseconds); lines by number.
// Threads   one owner.
// Source    paper 004, table 2; the simulator's specification, sections 1.1, 3.1 and 3.7.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/cache/l1_cache.h"
#include "sim/noc/mesh.h"
#include "sim/trace/record.h"

namespace weft::sim {

struct L2Options {
  CacheShape shape = {.kilobytes = 4096, .ways = 16, .mshrs = 32};
  int banks = 8;
  int bank_cycles = 12;      // of an access
  int directory_cycles = 2;  // more
  int remote_cycles = 18;    // two hops and 10
  bool has_shadow = false;   // count hits that prefetched lines cost
};

Status Validate(const L2Options& options);

// What a core's cache asks for.
struct L2Request {
  uint64_t line = 0;
  int core = 0;
  AccessClass cls = AccessClass::kOther;
  bool owns = false;         // for a store
  bool is_measured = false;  // the core's warm-up is over
};

// What L2 tells the machine around it. The port may not call back before it returns.
class L2Port {
 public:
  virtual ~L2Port() = default;
  // The line, or only the right to change it, leaves for the core at `when`.
  virtual void ToCore(const L2Request& request, bool has_data, bool from_memory, Time when) = 0;
  virtual void ReadLine(const L2Request& request, Time now) = 0;
  virtual void WriteLine(uint64_t line, Time now) = 0;
  // What became of a pushed line.
  enum class Pushed : uint8_t { kUsed, kUnused, kHadIt, kMetMiss };
  virtual void OnPushed(uint64_t line, Pushed what) = 0;
};

struct L2Counts {
  int64_t hits = 0;
  int64_t misses = 0;         // each line once while it is under way
  int64_t joined_misses = 0;  // others for it
  int64_t object_misses = 0;  // of misses, those for an object's lines
  int64_t bucket_misses = 0;
  int64_t remote_hits = 0;    // another core was the owner
  int64_t invalidations = 0;  // of a core's copy
  int64_t write_backs = 0;    // to memory
  int64_t waited_for_mshr = 0;
  int64_t lost_hits = 0;  // misses that were hits without pushed lines (has_shadow)
};

class L2Cache {
 public:
  // `l1s`, the cores' by number, and `port` must outlive it; core c is at node c % nodes.
  // REQUIRES: Validate(options).ok()
  L2Cache(const L2Options& options, const Mesh& mesh, std::vector<L1Cache*> l1s, L2Port* port);

  int BankOf(uint64_t line) const { return static_cast<int>(line % banks_.size()); }
  Time latency() const { return latency_; }

  // The bank has looked the line up: `latency()` after the request came.
  void Request(const L2Request& request, Time now);
  // Memory's answer. It changes nothing if no miss is under way for it any more.
  void Fill(uint64_t line, Time now);
  void Push(uint64_t line, Time now);
  // A core's cache dropped the line.
  void LeftCore(int core, uint64_t line, bool is_modified);

  // An access that takes no time and that no core's own cache has seen: the line is there now, and
  // nobody wrote back what had to leave for it. REQUIRES: no core has a line, and none was pushed
  void PassOver(uint64_t line, bool is_write);
  // Call it after the last of them; without it the shadow doesn't know what was passed over.
  void EndPassOver();

  // Has it the line, or does a core own it?
  bool Has(uint64_t line) const { return tags_.Find(SetOf(line), line) != Tags::kNone; }
  // Misses under way, and those that wait.
  int64_t pending() const { return pending_; }
  // All pushed lines that nobody has asked for yet become unused.
  void DropPushed();
  const L2Counts& counts() const { return counts_; }

 private:
  struct Entry {
    uint64_t sharers = 0;  // a bit a core
    bool has_owner = false;
    bool is_dirty = false;
    bool is_pushed = false;  // and not used yet
  };
  using Tags = TagArray<Entry>;
  struct Nothing {};
  struct Miss {
    uint64_t line;
    std::vector<L2Request> requests;
  };
  struct Bank {
    std::vector<Miss> misses;
    std::deque<L2Request> waiting;
  };

  size_t SetOf(uint64_t line) const {
    const size_t banks = banks_.size();
    return line % banks * sets_of_bank_ + (line / banks & (sets_of_bank_ - 1));
  }
  int NodeOfCore(int core) const { return core % mesh_.options().nodes(); }
  Miss* MissOf(uint64_t line);
  // If it has the line, or the line is under way.
  bool ServeWhatIsKnown(const L2Request& request, Time now);
  void AskMemory(Bank& bank, const L2Request& request, Time now);
  void UseInShadow(uint64_t line);
  // Makes room for the line and puts it there.
  size_t Keep(uint64_t line, const Entry& entry, Time now);
  void Evict(size_t at, Time now);
  // Changes the directory for the request, and says what that costs.
  Time Grant(size_t at, const L2Request& request, bool* has_data);
  Time InvalidateSharers(Entry& entry, uint64_t line, int but);
  void Answer(Miss miss, bool from_memory, Time now);
  void ServeWaiting(Bank& bank, Time now);

  // Constant after construction.
  const L2Options options_;
  const Mesh& mesh_;
  const std::vector<L1Cache*> l1s_;
  L2Port* const port_;
  const size_t sets_of_bank_;
  const Time latency_;

  Tags tags_;
  TagArray<Nothing> shadow_;  // what it would have without pushed lines
  size_t passed_at_ = 0;      // where the line passed over last is, if one was
  std::vector<Bank> banks_;
  int64_t pending_ = 0;
  L2Counts counts_;
};

}  // namespace weft::sim
