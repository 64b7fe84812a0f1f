// bench/device/session.h: one table on the device and its batches; it times and checks each
// operation. Keys, queries and values are made on the device, outside the timed part.
//
// Rates are operations a second of the kernels alone, by the device's clock; every reply of every
// batch is checked.
// Threads   one.
#pragma once

#include <functional>
#include <memory>

#include <nlohmann/json.hpp>

#include "bench/device/ceilings.h"
#include "bench/device/load.h"
#include "bench/device/options.h"
#include "processor/cuda/device_table.h"

namespace weft::bench {

inline constexpr uint32_t kFinds = kRunSearch | kRunCompare;
inline constexpr processor::CudaStream kStream = nullptr;  // the device's own

struct DeviceShape {
  const char* name;
  uint32_t key_words, value_words;  // 8 bytes each
  uint32_t align_bytes;             // of objects
};

class DeviceSession {
 public:
  // Takes the device's memory; holds fewer objects than asked for if that is too small.
  static Result<std::unique_ptr<DeviceSession>> Open(const DeviceShape& shape,
                                                     const DeviceOptions& options,
                                                     const processor::DeviceFacts& facts);

  uint64_t objects() const { return objects_; }
  uint32_t object_bytes() const { return object_bytes_; }
  uint64_t refused() const { return refused_; }  // stores of the last fill without room
  Region index() const;
  Region log() const;
  uint64_t* sink() const { return sink_.as<uint64_t>(); }
  nlohmann::json Details() const;

  // Seconds of what `launch` enqueues.
  Result<double> Time(const std::function<Status()>& launch);

  // Fills the table from empty to full, batch by batch, in an order that `turn` changes. `any`: the
  // kernel must expect keys to repeat.
  Result<double> Fill(uint64_t turn, bool any, LoadCounts* counts);
  // A batch of random queries. `tasks`: kRunSearch and what follows it.
  Result<double> Read(uint32_t tasks, uint64_t seed, LoadCounts* counts);
  Result<double> ReadPlain(uint64_t seed, LoadCounts* counts);
  // A batch of different keys, some of which are stored anew; then a check that they were.
  Result<double> Mix(uint32_t write_permille, uint64_t seed, LoadCounts* counts);
  // Deletes the turn-th part of a permutation; then a check that its keys are gone.
  Result<double> Delete(uint32_t turn, LoadCounts* counts);

 private:
  DeviceSession(const DeviceShape& shape, const DeviceOptions& options,
                const processor::DeviceFacts& facts)
      : shape_(shape), options_(options), facts_(facts) {}

  Status Allot();
  uint64_t BufferBytes() const;
  // Whole sectors of 32 bytes, except for the smallest: parts of a sector are written twice over.
  uint32_t RecordUnits() const {
    return shape_.value_words == 1 ? 2 : (4 + shape_.value_words) / 4 * 4;
  }
  uint32_t MixedBatch() const { return options_.batch / 4; }
  LoadSpec Spec(uint32_t count, Draw draw, uint64_t seed) const;
  LoadArrays Arrays(bool wanted, bool values) const;
  processor::TableJob Job(uint32_t count, uint32_t tasks) const;
  LoadAnswers Answers(uint32_t tasks) const;
  // Makes the batch, clears the memory of the replies, times `launch`, checks the replies.
  Result<double> Run(const LoadSpec& spec, const LoadArrays& arrays,
                     const std::function<Status()>& launch, const LoadAnswers& answers,
                     LoadCounts* counts);
  Status Check(const LoadSpec& spec, const LoadAnswers& answers, LoadCounts* counts);

  const DeviceShape shape_;
  const DeviceOptions options_;
  const processor::DeviceFacts facts_;
  uint64_t objects_ = 0;
  uint32_t object_bytes_ = 0;
  uint64_t refused_ = 0;
  uint8_t version_ = 0;
  std::unique_ptr<processor::DeviceTable> table_;
  processor::DeviceBuffer hash_, keys_, wanted_, store_, result_, word_, position_, placed_;
  processor::DeviceBuffer pending_, pending_count_, records_, key_at_, key_bytes_, value_at_;
  processor::DeviceBuffer used_, counts_, sink_;
  DeviceTimer timer_;
};

}  // namespace weft::bench
