// compaction/device/piece/piece_flow.h: reads the next piece and writes the last one while a device
// works on one.
//
// A thread loads, one puts files together, and the caller's is the device's; the first two have a
// crew, as many as the job may have (JobHost::threads). A piece's memory goes
// round: what was loaded is loaded anew once the device has it, what was packed once it is written.
// So a job has three pieces of each kind in memory, however long it is: of those loaded one that is
// computed, one on its way to the device, and one that is read; of those packed one that is made,
// one on its way back, and one that is written.
//
// Threads   one thread at a time; it starts two more for a job of several pieces, if it can.
// Errors    load_status, device_status and write_status: the first of each, once Finish has
// returned.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "base/crew.h"
#include "base/mutex.h"
#include "compaction/device/piece/handover.h"
#include "compaction/device/piece/packed_piece.h"
#include "compaction/device/piece/piece_loader.h"
#include "compaction/device/piece/piece_plan.h"
#include "compaction/device/piece/table_assembler.h"

namespace weft::compaction::device {

// A piece on its way to the device.
struct ReadyPiece {
  ReadyPiece(base::BufferMemory* memory, DeviceStorage* storage) : loaded(memory, storage) {}

  Piece piece;
  LoadedPiece loaded;
};

class PieceFlow {
 public:
  // What is given must outlive this. memory: of pieces; null: from new.
  PieceFlow(PiecePlan* plan, TableAssembler* assembler, base::Crew* crew,
            base::BufferMemory* memory, JobStorage* storage);
  // Ends as Finish does.
  ~PieceFlow();
  PieceFlow(const PieceFlow&) = delete;
  PieceFlow& operator=(const PieceFlow&) = delete;

  // The next piece; null at the end, and where loading has failed.
  std::unique_ptr<ReadyPiece> NextPiece();
  // The same; null also where it has not been loaded yet.
  std::unique_ptr<ReadyPiece> NextPieceIfLoaded();
  // Room for what the device makes of it; null where writing has failed.
  std::unique_ptr<PackedPiece> NextRoom();
  // Gives both back: what was packed will be written.
  void Pass(std::unique_ptr<ReadyPiece> ready, std::unique_ptr<PackedPiece> packed);

  // Waits until what was passed is written.
  void Finish();
  const Status& load_status() const { return load_status_; }
  const Status& write_status() const { return write_status_; }
  // Why what a device made did not come from it.
  const Status& device_status() const { return device_status_; }
  uint64_t bytes_read() const { return bytes_read_; }
  // What its threads did with pieces, in wall time.
  uint64_t load_ns() const { return load_ns_; }
  uint64_t write_ns() const { return write_ns_; }
  // Of its threads, without the crew's.
  uint64_t cpu_ns() const { return load_cpu_ns_ + write_cpu_ns_; }

 private:
  static constexpr size_t kPieces = 3;  // of each kind

  void LoadAll();
  void WriteAll();
  bool LoadInto(ReadyPiece* ready);
  bool Write(PackedPiece* packed);

  PiecePlan& plan_;
  TableAssembler& assembler_;
  base::Crew& crew_;
  base::BufferMemory* const memory_;
  JobStorage& storage_;
  size_t pieces_left_;
  Handover<std::unique_ptr<ReadyPiece>> empty_{kPieces};
  Handover<std::unique_ptr<ReadyPiece>> ready_{kPieces};
  Handover<std::unique_ptr<PackedPiece>> rooms_{kPieces};
  Handover<std::unique_ptr<PackedPiece>> packed_{kPieces};
  // Of one thread each until they have ended.
  Status load_status_;
  Status write_status_;
  Status device_status_;
  uint64_t bytes_read_ = 0;
  uint64_t load_ns_ = 0;
  uint64_t write_ns_ = 0;
  uint64_t load_cpu_ns_ = 0;
  uint64_t write_cpu_ns_ = 0;
  std::thread loader_;  // none for a job of one piece, or where the system gives none
  std::thread writer_;
};

}  // namespace weft::compaction::device
