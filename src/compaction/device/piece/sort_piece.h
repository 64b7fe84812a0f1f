// compaction/device/piece/sort_piece.h: the second phase of a piece: its entries in one order,
// without what nobody can see any more, behind what was carried over.
//
// Threads   one thread at a time.
// Errors    as compaction/device/piece/unpack_piece.h says.
#pragma once

#include <vector>

#include "compaction/device/piece/grandparent_walk.h"
#include "compaction/device/piece/unpack_piece.h"

namespace weft::compaction::device {

// live[i] = i, of what was carried over.
struct LiveCarried {
  uint32_t* live;
  WEFT_HOST_DEVICE void operator()(uint64_t i) const { live[i] = static_cast<uint32_t>(i); }
};

template <typename Device>
class SortPiece {
 public:
  SortPiece(Device* device, typename Device::Memory* memory, const Job& job,
            const JobInDevice<Device>& in_device)
      : device_(*device), memory_(*memory), job_(job), in_device_(in_device) {}

  Status Run(const UnpackPiece<Device>& unpacked, const Carry<Device>& carry,
             GrandparentWalk* grandparents);

  uint32_t* live = nullptr;  // entries that stay
  uint32_t count = 0;
  std::vector<uint32_t> cuts;  // ascending places in `live`, of which one may be `count`
  uint64_t kept = 0;           // of the piece's own
  Findings found;

 private:
  Status Decide(const UnpackPiece<Device>& unpacked);
  void FindGrandparentEnds(const UnpackPiece<Device>& unpacked, std::vector<uint32_t>* behind);
  Status FindCuts(const UnpackPiece<Device>& unpacked, const Carry<Device>& carry,
                  const std::vector<uint32_t>& ends_behind, GrandparentWalk* grandparents);

  Device& device_;
  typename Device::Memory& memory_;
  const Job& job_;
  const JobInDevice<Device>& in_device_;
  uint32_t* order_ = nullptr;
  uint32_t* is_kept_ = nullptr;
  uint64_t* kept_before_ = nullptr;
};

template <typename Device>
Status SortPiece<Device>::Run(const UnpackPiece<Device>& unpacked, const Carry<Device>& carry,
                              GrandparentWalk* grandparents) {
  const uint32_t places = unpacked.entry_count;
  order_ = memory_.template Take<uint32_t>(places);
  is_kept_ = memory_.template Take<uint32_t>(places);
  kept_before_ = memory_.template Take<uint64_t>(uint64_t{places} + 1);
  const RunRange* const ranges = CopyToDevice(&device_, &memory_, unpacked.ranges);
  device_.Run(places, PlaceEntries{unpacked.entries, ranges,
                                   static_cast<uint32_t>(unpacked.ranges.size()), order_});
  std::vector<uint32_t> ends_behind;
  FindGrandparentEnds(unpacked, &ends_behind);
  Status status = Decide(unpacked);
  if (status.ok()) status = FindCuts(unpacked, carry, ends_behind, grandparents);
  if (!status.ok()) return status;
  // Only now: fates and cuts are those of the keys as they came.
  if (in_device_.lifetime.is_set != 0) {
    device_.Run(places, EndValues{unpacked.entries, order_, is_kept_, in_device_.lifetime});
  }
  count = carry.count + static_cast<uint32_t>(kept);
  live = memory_.template Take<uint32_t>(count);
  device_.Run(carry.count, LiveCarried{live});
  device_.Run(places, GatherLive{order_, is_kept_, kept_before_, carry.count, live});
  return device_.status();
}

template <typename Device>
Status SortPiece<Device>::Decide(const UnpackPiece<Device>& unpacked) {
  const uint32_t places = unpacked.entry_count;
  device_.Run(places,
              DecideFates{unpacked.entries, order_, job_.oldest_snapshot, in_device_.lifetime,
                          in_device_.deeper, is_kept_, unpacked.findings});
  device_.RunSums(is_kept_, places, kept_before_);
  FetchSum(&device_, kept_before_, places, &kept);
  if (!device_.CopyOut(&found, unpacked.findings, sizeof found).ok()) return device_.status();
  if (kept > places) return CountedWrongly();
  if (!found.any_wrong()) return Status::Ok();
  return {Code::kUnsupported, "the job has versions that only the CPU can judge"};
}

// *behind: by grandparent the first place behind it, once the device has been waited for.
template <typename Device>
void SortPiece<Device>::FindGrandparentEnds(const UnpackPiece<Device>& unpacked,
                                            std::vector<uint32_t>* behind) {
  const uint32_t ends = in_device_.grandparents.count;
  auto* const behind_there = memory_.template Take<uint32_t>(ends);
  device_.Run(ends, FindGrandparents{unpacked.entries, order_, unpacked.entry_count,
                                     in_device_.grandparents, behind_there});
  behind->resize(ends);
  device_.Fetch(behind->data(), behind_there, ends * sizeof(uint32_t));
}

template <typename Device>
Status SortPiece<Device>::FindCuts(const UnpackPiece<Device>& unpacked, const Carry<Device>& carry,
                                   const std::vector<uint32_t>& ends_behind,
                                   GrandparentWalk* grandparents) {
  cuts = carry.cuts;
  const std::vector<uint32_t> places = grandparents->CutsOfPiece(ends_behind, unpacked.entry_count);
  if (places.empty()) return device_.status();
  std::vector<uint64_t> kept_before(places.size());
  for (size_t i = 0; i < places.size(); i++)
    FetchSum(&device_, kept_before_, places[i], &kept_before[i]);
  if (!device_.Await().ok()) return device_.status();
  for (const uint64_t kept_there : kept_before) {
    const uint32_t cut = carry.count + static_cast<uint32_t>(kept_there);
    if (cut != 0 && (cuts.empty() || cuts.back() < cut)) cuts.push_back(cut);
  }
  return device_.status();
}

}  // namespace weft::compaction::device
