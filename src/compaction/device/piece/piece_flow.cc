#include "compaction/device/piece/piece_flow.h"

#include <utility>

#include "base/clock.h"
#include "base/thread.h"

namespace weft::compaction::device {

PieceFlow::PieceFlow(PiecePlan* plan, TableAssembler* assembler, base::Crew* crew,
                     base::BufferMemory* memory, JobStorage* storage)
    : plan_(*plan),
      assembler_(*assembler),
      crew_(*crew),
      memory_(memory),
      storage_(*storage),
      pieces_left_(plan->pieces()) {
  for (size_t i = 0; i < kPieces; i++) {
    empty_.Put(std::make_unique<ReadyPiece>(memory, storage->get()));
    rooms_.Put(std::make_unique<PackedPiece>(memory, storage->get()));
  }
  if (plan->pieces() <= 1) return;
  // Where the system gives no thread, the caller's does its work: all of it takes longer.
  if (auto loader = base::StartThread([this] { LoadAll(); })) loader_ = std::move(*loader);
  if (auto writer = base::StartThread([this] { WriteAll(); })) writer_ = std::move(*writer);
}

PieceFlow::~PieceFlow() { Finish(); }

bool PieceFlow::LoadInto(ReadyPiece* ready) {
  const uint64_t start_ns = base::NowNs();
  pieces_left_--;
  ready->piece = plan_.NextPiece();
  if (ready->piece.has_lost_blocks) {
    load_status_ = {Code::kUnsupported,
                    "the job has a table that does not end at the expected place"};
  } else {
    load_status_ = LoadPiece(plan_, ready->piece, &crew_, memory_, &storage_, &ready->loaded);
  }
  bytes_read_ += ready->loaded.bytes_read;
  load_ns_ += base::NowNs() - start_ns;
  return load_status_.ok();
}

void PieceFlow::LoadAll() {
  while (pieces_left_ > 0) {
    std::optional<std::unique_ptr<ReadyPiece>> ready = empty_.Take();
    if (!ready || !LoadInto(ready->get()) || !ready_.Put(std::move(*ready))) break;
  }
  ready_.Close();
  load_cpu_ns_ = base::ThreadCpuNs();
}

bool PieceFlow::Write(PackedPiece* packed) {
  if (packed->ready != nullptr) device_status_ = packed->ready();
  const uint64_t start_ns = base::NowNs();
  if (device_status_.ok()) write_status_ = assembler_.Add(*packed, &crew_);
  // Of what it should have written by itself.
  if (write_status_.code() == Code::kDeviceLost) device_status_ = std::exchange(write_status_, {});
  write_ns_ += base::NowNs() - start_ns;
  packed->Clear();
  return device_status_.ok() && write_status_.ok();
}

// After an error it takes no more, and gives no more room.
void PieceFlow::WriteAll() {
  while (std::optional<std::unique_ptr<PackedPiece>> packed = packed_.Take()) {
    if (!Write(packed->get())) break;
    rooms_.Put(std::move(*packed));
  }
  rooms_.Close();
  packed_.Close();
  write_cpu_ns_ = base::ThreadCpuNs();
}

std::unique_ptr<ReadyPiece> PieceFlow::NextPieceIfLoaded() {
  return loader_.joinable() ? ready_.TryTake().value_or(nullptr) : nullptr;
}

std::unique_ptr<ReadyPiece> PieceFlow::NextPiece() {
  if (loader_.joinable()) return ready_.Take().value_or(nullptr);
  if (pieces_left_ == 0 || !load_status_.ok()) return nullptr;
  std::unique_ptr<ReadyPiece> ready = std::move(*empty_.Take());
  return LoadInto(ready.get()) ? std::move(ready) : nullptr;
}

std::unique_ptr<PackedPiece> PieceFlow::NextRoom() {
  // A room that is there may be older than the error.
  std::optional<std::unique_ptr<PackedPiece>> room = rooms_.Take();
  return room ? std::move(*room) : nullptr;
}

void PieceFlow::Pass(std::unique_ptr<ReadyPiece> ready, std::unique_ptr<PackedPiece> packed) {
  empty_.Put(std::move(ready));
  if (writer_.joinable()) {
    packed_.Put(std::move(packed));
    return;
  }
  // After an error nothing more is written, as in WriteAll.
  if (device_status_.ok() && write_status_.ok() && Write(packed.get())) {
    rooms_.Put(std::move(packed));
  } else {
    rooms_.Close();
  }
}

void PieceFlow::Finish() {
  empty_.Close();
  ready_.Close();
  packed_.Close();
  if (loader_.joinable()) loader_.join();
  if (writer_.joinable()) writer_.join();
}

}  // namespace weft::compaction::device
