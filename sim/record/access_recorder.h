// sim/record/access_recorder.h: writes down what the tasks of src/task do to memory, as records of
// the cores that they work for.
//
//     src/task's verbs --> RecordRead, ... --> the thread's AccessRecorder --> records, per core
//
// A build with WEFT_RECORD_ACCESSES calls the functions that task/portable.h declares. They are
// here, and do nothing on a thread that records nothing. An access becomes one record a line; those
// outside of all arenas (the stack, the heap) are left out and counted.
//
// Classes   follow from the arena, and in the log from the object whose header was read last: it is
//           head up to the end of its key, and body behind that. Plain writes to the log are
//           appends.
// Depends   the first access to an object waits for the bucket whose word named it; accesses behind
//           its key wait for its header. Buckets wait for nothing.
// Keys      kKey announces an operation's lookup ahead of the first access to each of its buckets;
//           kHit follows at its end.
// Index     kSlot follows the write that makes an entry visible to searches, or invisible.
// Units     bytes, instructions.
// Threads   one; any number of cores in turns.
// Source    the simulator's specification, sections 3.4 and 3.5.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "sim/record/arena_map.h"
#include "sim/record/gaps.h"
#include "sim/trace/record.h"
#include "sim/trace/table_image.h"
#include "task/index.h"
#include "task/log.h"

namespace weft::sim {

// An operation that begins. The key must stay until it ends.
struct Operation {
  OpType type = OpType::kGet;
  std::string_view key;
  uint64_t hash = 0;
};

class AccessRecorder {
 public:
  // `index` and `log` lie in the first two of `arenas`. REQUIRES: the index changes only between
  // Begin and End on this thread
  AccessRecorder(ArenaMap arenas, const task::IndexRef& index, const task::LogRef& log,
                 const Gaps& gaps, int cores);
  ~AccessRecorder();
  AccessRecorder(const AccessRecorder&) = delete;
  AccessRecorder& operator=(const AccessRecorder&) = delete;

  // Until End, records for `core` what the calling thread does.
  void Begin(int core);
  void End();
  // The core's next operation; those of a batch begin together and end in their order.
  void BeginOp(const Operation& operation);
  // `position`: where its key was found (task/columns.h), if it was.
  void EndOp(bool found, uint64_t position);

  // For the functions of task/portable.h.
  static AccessRecorder* OfThread();
  void OnRead(const void* at, uint64_t bytes, uint64_t word);
  void OnObject(const void* at);
  void OnWrite(const void* at, uint64_t bytes);
  void OnUpdate(const void* at, uint64_t bytes, uint64_t word);
  void OnPrefetch(const void* at);

  const ArenaMap& arenas() const { return arenas_; }
  const std::vector<Record>& records(int core) const {
    return cores_[static_cast<size_t>(core)].records;
  }
  // The records since the last call; what is known of the core stays.
  std::vector<Record> TakeRecords(int core);
  // The index as searches see it now.
  const TableImage& table() const { return table_; }
  uint64_t left_out() const { return left_out_; }
  // Instructions and accesses of all cores.
  uint64_t instructions() const;

 private:
  struct Lookup {
    Operation operation;
    std::array<uint64_t, 2> buckets{};
    std::array<bool, 2> told{};
  };
  // An access that read the word which names an object.
  struct Named {
    uint64_t location = 0;
    uint64_t access = 0;
  };
  static constexpr size_t kNamed = 256;  // a core can't wait for more accesses than that

  struct Core {
    std::vector<Record> records;
    std::deque<Lookup> lookups;  // of the operations under way
    uint64_t accesses = 0;
    uint64_t instructions = 0;
    uint64_t ops_ended = 0;
    AccessClass last_class = AccessClass::kOther;
    uint32_t key_lead = 0;              // before the next access, which a key came before
    std::array<Named, kNamed> named{};  // by number, modulo
    uint64_t named_count = 0;
    // The object whose header was read last: its beginning, its key's end and its own end.
    const uint8_t* object = nullptr;
    const uint8_t* object_key_end = nullptr;
    const uint8_t* object_end = nullptr;
    uint64_t header_access = 0;
    uint64_t named_by = 0;     // the access that named it
    uint64_t prefetch_by = 0;  // likewise, of the last object that was prefetched
  };

  Core& core() { return cores_[static_cast<size_t>(core_)]; }
  uint64_t NamedBy(const void* object);
  uint32_t GapTo(AccessClass cls);
  void Emit(Record record);
  void EmitAccess(RecordKind kind, const Arena& arena, const void* at, uint64_t bytes,
                  AccessClass cls, uint64_t producer);
  void ReadLog(const Arena& arena, const void* at, uint64_t bytes);
  void TellKeys(uint64_t bucket);
  uint8_t SlotOf(const Lookup& lookup, uint64_t bucket) const;
  TableSlot SlotOfWord(uint64_t word) const;
  void NoteWord(const void* at, uint64_t word);

  // Constant after construction.
  const ArenaMap arenas_;
  const task::IndexRef index_;
  const task::LogRef log_;
  const Gaps gaps_;

  std::vector<Core> cores_;
  int core_ = 0;
  TableImage table_;
  uint64_t left_out_ = 0;
};

}  // namespace weft::sim
