#include "cache/overwrite.h"

#include "base/copy_short.h"
#include "cache/entry.h"

namespace weft::cache {
namespace {

constexpr uint32_t kShown = kAccessCasSeen | kAccessCasOnce;

void WritePlain(const Command& command, uint32_t access, task::Object* at) {
  const auto key_bytes = static_cast<uint32_t>(command.key.size());
  at->shape = key_bytes << kShapeKeyShift | static_cast<uint32_t>(command.value.size());
  at->access = access;
  char* const out = reinterpret_cast<char*>(at + 1);
  base::CopyShort(out, command.key.data(), command.key.size());
  base::CopyShort(out + key_bytes, command.value.data(), command.value.size());
}

// Of its object.
uint64_t UnitsOf(const Command& command) {
  const uint64_t bytes = sizeof(task::Object) + command.key.size() + command.value.size();
  return (bytes + kLocationUnitBytes - 1) / kLocationUnitBytes;
}

}  // namespace

uint64_t Overwrite(Session& session, const Command& command, uint64_t* slot, uint64_t word) {
  Store& store = session.store();
  const ObjectLog& log = store.log();
  const uint64_t old = task::SlotLocation(word);
  task::Object* const object = session.ObjectAt(old);
  const uint64_t units = UnitsOf(command);
  // Whoever follows the index is told of each change (task::MarkSlot): that is StoreEntry's.
  if (units > Holes::kUnitsMax || session.index().marks != nullptr ||
      (task::LoadRelaxed32(&object->access) & kShown) != 0)
    return 0;
  Hole left;
  left.location = old;
  left.version = log.VersionOfHole(old, &left.generation);
  left.units = static_cast<uint32_t>(task::StoredBytes(object) / kLocationUnitBytes);
  if (left.version == 0 || left.units > Holes::kUnitsMax) return 0;
  const uint64_t location = session.TakeHole(static_cast<uint32_t>(units), left.generation);
  if (location == 0) return 0;
  const uint32_t access =
      task::WithAccessTime(command.binary_key ? kAccessBinary : 0, session.now_s());
  WritePlain(command, access, session.ObjectAt(location));
  task::TouchWrite(session.ObjectAt(location), units * kLocationUnitBytes);
  session.PrefetchNextHole(static_cast<uint32_t>(units), left.generation);
  task::NoteSeen(object);
  // A flush since the session took its views is StoreEntry's, too.
  const bool is_flushed = (log.flush_floor() | session.log().flush_floor) != 0;
  if (is_flushed || !task::ReplaceEntry(slot, word, task::WithLocation(word, location))) {
    if (!is_flushed) session.counters().retries.Add(1);
    store.Abandon(session, location);
    return 0;
  }
  session.counters().overwritten.Add(1);
  // Asked again: see ReplaceObject.
  if (WEFT_UNLIKELY((task::LoadRelaxed32(&object->access) & kShown) != 0)) {
    Entry entry;
    entry.found = {slot, word};
    entry.object = object;
    entry.present = true;
    KeepShownMarkOfNext(session, command, entry, location);
    session.ReplaceObject(old);
    return location;
  }
  session.KeepHole(left);
  return location;
}

}  // namespace weft::cache
