// incr, decr, ma.
#include <algorithm>
#include <cstring>

#include "cache/entry.h"
#include "cache/number.h"

namespace weft::cache {
namespace {

// Ends the value of a version that nobody else sees yet with so many blanks.
void EndWithBlanks(Session& session, uint64_t location, size_t count) {
  task::Object* const object = session.ObjectAt(location);
  const std::string_view value = ValueView(object);
  const auto offset = value.data() + value.size() - count - reinterpret_cast<const char*>(object);
  std::memset(reinterpret_cast<char*>(object) + offset, ' ', count);
}

// It was refused after so many bytes of the value were read.
Reply InVain(Reply reply, size_t read_bytes) {
  reply.worked_bytes = static_cast<uint32_t>(read_bytes);
  return reply;
}

// kNumber; kStored where the number was made by this command.
Reply Number(Session& session, const Command& command, const Entry& entry, uint64_t location,
             uint64_t number) {
  Reply reply = Plain(entry.present ? Outcome::kNumber : Outcome::kStored);
  reply.published = location;
  reply.miss = entry.miss;
  Describe(session, location, &reply);
  if (entry.present) {
    reply.ttl_before_s = SecondsLeft(session, task::ExpiryOf(entry.object));
    reply.lengthened = reply.value.size() > ValueView(entry.object).size();
  } else if (command.update_expiry) {
    reply.ttl_before_s =
        SecondsLeft(session, command.vivify_last ? command.expiry : command.vivify_expiry);
  }
  reply.number = number;
  return reply;
}

}  // namespace

Reply ArithmeticEntry(Session& session, const Command& command, Hint* hint) {
  char buffer[kDigitsMax];
  for (;;) {  // Ends: each round more means that another thread changed the key.
    const Entry entry = Locate(session, command, hint);
    if (MustAskBelow(entry, *hint)) return Below();
    if (!entry.present && !command.vivify) return Missed(entry);
    uint64_t number = command.initial;
    size_t read_bytes = 0;
    ObjectSpec spec;
    if (entry.present) {
      const std::string_view old = ValueView(entry.object);
      // An empty value is found before a wrong version, a wrong digit after it.
      if (old.empty()) return Plain(Outcome::kNotNumeric);
      if (command.compare_cas &&
          task::CasOf(session.log(), entry.location()) != command.cas_expected)
        return Plain(Outcome::kExists);
      if (!ParseNumber(old, &number, &read_bytes))
        return InVain(Plain(Outcome::kNotNumeric), read_bytes);
      number = CountFrom(command, number);
      spec = SpecOf(entry.object);
      spec.access &= ~uint32_t{kAccessCasSeen};
      spec.head = FormatNumber(number, buffer);
      // As long as it was, whatever its length, as memcached leaves it when it writes in place: a
      // client sees the length it knows. The old bytes hold the place of the blanks.
      spec.tail = old.substr(std::min(old.size(), spec.head.size()));
      // Like memcached, which writes a longer number into a new item: not read yet, not stale.
      if (spec.head.size() > old.size()) spec.access &= kAccessBinary;
      if (command.update_expiry) spec.expiry = command.expiry;
    } else {
      spec.key = command.key;
      spec.head = FormatNumber(number, buffer);
      const bool touched = command.update_expiry && !command.vivify_last;
      spec.expiry = touched ? command.expiry : command.vivify_expiry;
      if (command.binary_key) spec.access |= kAccessBinary;
    }
    spec.has_cas = command.explicit_cas;
    spec.cas = command.cas_new;
    if (command.want_cas) spec.access |= kAccessCasSeen;
    const Room room = RoomFor(entry, spec);
    const uint64_t location = AppendVersion(session, &spec, entry, command.hash, room);
    if (location == 0)
      return InVain(NeedsRoom(SpecBytes(spec), room, entry.present ? entry.location() : 0),
                    read_bytes);
    if (!spec.tail.empty()) EndWithBlanks(session, location, spec.tail.size());
    const Published published = Publish(session, command, entry, location);
    if (published == Published::kDone) return Number(session, command, entry, location, number);
    session.store().Abandon(session, location);
    if (published == Published::kFull) return NeedsRoom(SpecBytes(spec));
  }
}

}  // namespace weft::cache
