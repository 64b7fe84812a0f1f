#include "cache/object_writer.h"

#include <cstring>

namespace weft::cache {

void WriteObject(task::Object* at, const ObjectSpec& spec) {
  const uint32_t shape = ShapeOf(spec);
  at->shape = shape;
  at->access = spec.access;
  uint8_t* out = reinterpret_cast<uint8_t*>(at) + sizeof(task::Object);
  const auto put = [&out](const void* data, size_t bytes) {
    if (bytes == 0) return;  // an empty view may point nowhere, which memcpy does not allow
    std::memcpy(out, data, bytes);
    out += bytes;
  };
  if ((shape & kShapeHasCas) != 0) put(&spec.cas, 8);
  if ((shape & kShapeHasFlags) != 0) put(&spec.client_flags, 4);
  if ((shape & kShapeHasExpiry) != 0) put(&spec.expiry, 4);
  if ((shape & kShapeLongValue) != 0) {
    const uint32_t value_bytes = spec.value_bytes();
    put(&value_bytes, 4);
  }
  put(spec.key.data(), spec.key.size());
  put(spec.head.data(), spec.head.size());
  put(spec.tail.data(), spec.tail.size());
}

void CopyObject(task::Object* to, const task::Object* from, uint64_t bytes) {
  to->shape = from->shape;
  to->access = task::LoadRelaxed32(&from->access) & ~(kAccessUnseen | kAccessDead);
  std::memcpy(to + 1, from + 1, bytes - sizeof(task::Object));
}

ObjectSpec SpecOf(const task::Object* object) {
  ObjectSpec spec;
  spec.key = KeyView(object);
  spec.head = ValueView(object);
  spec.client_flags = task::ClientFlags(object);
  spec.expiry = task::ExpiryOf(object);
  spec.has_cas = (object->shape & kShapeHasCas) != 0;
  if (spec.has_cas) spec.cas = task::StoredCas(object);
  constexpr uint32_t kAllFields = kShapeHasCas | kShapeHasFlags | kShapeHasExpiry;
  spec.has_all_fields = (object->shape & kAllFields) == kAllFields;
  spec.access = task::LoadRelaxed32(&object->access) & ~(kAccessUnseen | kAccessDead);
  return spec;
}

}  // namespace weft::cache
