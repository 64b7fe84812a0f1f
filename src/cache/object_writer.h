// cache/object_writer.h: lays an object out in space reserved in the log (task/object.h).
//
// Threads   the space belongs to the caller until the object is published in the index.
#pragma once

#include <cstdint>
#include <string_view>

#include "task/object.h"

namespace weft::cache {

// Everything an object is made of. The value is head followed by tail, so that append and prepend
// need no copy of their own.
struct ObjectSpec {
  std::string_view key;
  std::string_view head;
  std::string_view tail;
  uint32_t client_flags = 0;
  uint32_t expiry = 0;
  bool has_cas = false;
  uint64_t cas = 0;
  bool has_all_fields = false;  // flags and expiry as well, though they be 0: no change needs more
  uint32_t access = 0;          // kAccess bits to start with

  uint32_t value_bytes() const { return static_cast<uint32_t>(head.size() + tail.size()); }
};

// The shape word of such an object.
inline uint32_t ShapeOf(const ObjectSpec& spec) {
  uint32_t shape = static_cast<uint32_t>(spec.key.size()) << kShapeKeyShift;
  if (spec.client_flags != 0 || spec.has_all_fields) shape |= kShapeHasFlags;
  if (spec.expiry != 0 || spec.has_all_fields) shape |= kShapeHasExpiry;
  if (spec.has_cas) shape |= kShapeHasCas;
  return spec.value_bytes() > kShapeValueMask ? shape | kShapeLongValue
                                              : shape | spec.value_bytes();
}

// Bytes that it takes in the log, filler included.
inline uint64_t SpecBytes(const ObjectSpec& spec) {
  const uint64_t bytes =
      uint64_t{task::KeyOffset(ShapeOf(spec))} + spec.key.size() + spec.value_bytes();
  return (bytes + 7) & ~uint64_t{7};
}

// Writes it. REQUIRES: SpecBytes(spec) bytes at `at`.
void WriteObject(task::Object* at, const ObjectSpec& spec);

// Copies an object of `bytes` as it lies, except for kAccessUnseen and kAccessDead. Others may read
// it meanwhile, and note that.
void CopyObject(task::Object* to, const task::Object* from, uint64_t bytes);

// The object as a spec, to be changed and written elsewhere; points into the object. Its place in a
// batch is not copied (kAccessUnseen).
ObjectSpec SpecOf(const task::Object* object);

inline std::string_view KeyView(const task::Object* object) {
  return {reinterpret_cast<const char*>(task::KeyOf(object)), task::KeyBytes(object->shape)};
}
inline std::string_view ValueView(const task::Object* object) {
  return {reinterpret_cast<const char*>(task::ValueOf(object)), task::ValueBytes(object)};
}

}  // namespace weft::cache
