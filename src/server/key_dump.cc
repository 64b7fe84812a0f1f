#include "server/key_dump.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "base/base64.h"
#include "cache/object_writer.h"
#include "server/uri.h"

namespace weft::server {
namespace {

constexpr uint64_t kSizesSampleMin = 16384;  // a millisecond or two

// A report is made within one turn, and one epoch: it looks at so much, however little it finds.
class Effort {
 public:
  // False: that was enough.
  bool Spend(const cache::Walk::Step& step) {
    spent_ += kStep + step.looked;
    return spent_ < kMax;
  }

 private:
  static constexpr uint64_t kStep = 4;  // an object, to the buckets of a step
  static constexpr uint64_t kMax = 100'000;
  uint64_t spent_ = 0;
};

constexpr size_t kCachedumpBytesMax = size_t{2} << 20;

std::string_view KeyView(const task::Object* object) {
  return {reinterpret_cast<const char*>(task::KeyOf(object)), task::KeyBytes(object->shape)};
}

char* Append(std::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* AppendNumber(uint64_t number, char* out) { return std::to_chars(out, out + 20, number).ptr; }

bool IsBinary(const task::Object* object) {
  return (task::LoadRelaxed32(&object->access) & kAccessBinary) != 0;
}

char* WriteMetaLine(const cache::Session& session, const cache::Walk::Seen& seen, char* out) {
  const task::Object* const object = seen.object;
  const uint32_t access = task::LoadRelaxed32(&object->access);
  const uint32_t expiry = task::ExpiryOf(object);
  const uint32_t now_s = session.now_s();
  out = AppendUri(KeyView(object), Append("key=", out));
  out = Append(" exp=", out);
  out = expiry == cache::kNeverExpires ? Append("-1", out) : AppendNumber(expiry, out);
  const uint32_t idle_s = std::min(now_s, task::SecondsSinceAccess(access, now_s));
  out = AppendNumber(now_s - idle_s, Append(" la=", out));
  out = AppendNumber(task::CasOf(session.log(), seen.location), Append(" cas=", out));
  out = Append((access & kAccessFetched) != 0 ? " fetch=yes" : " fetch=no", out);
  out = AppendNumber(task::StoredBytes(object), Append(" cls=1 size=", out));
  return Append("\n", out);
}

char* WriteMgLine(const cache::Walk::Seen& seen, char* out) {
  const std::string_view key = KeyView(seen.object);
  out = Append("mg ", out);
  if (protocol::IsTextKey(key) && !IsBinary(seen.object)) return Append("\r\n", Append(key, out));
  return Append(" b\r\n", base::Base64Encode(key, out));
}

}  // namespace

char* KeyDump::WriteStep(const cache::Session& session, char* out) {
  cache::Walk::Step step;
  const bool lists = form_ == protocol::DumpForm::kMeta || form_ == protocol::DumpForm::kMg;
  if (!lists || !walk_.Next(session, &step)) {
    over_ = true;
    return Append(protocol::IsMg(form_) ? "EN\r\n" : "END\r\n", out);
  }
  for (uint32_t i = 0; i < step.count; ++i) {
    out = form_ == protocol::DumpForm::kMg ? WriteMgLine(step.seen[i], out)
                                           : WriteMetaLine(session, step.seen[i], out);
  }
  return out;
}

std::string CachedumpText(const cache::Session& session, uint32_t limit) {
  std::string text;
  cache::Walk walk;
  cache::Walk::Step step;
  char line[KeyDump::kLineBytesMax];
  Effort effort;
  for (uint32_t lines = 0; walk.Next(session, &step) && effort.Spend(step);) {
    for (uint32_t i = 0; i < step.count; ++i) {
      const task::Object* const object = step.seen[i].object;
      const std::string_view key = KeyView(object);
      if (!protocol::IsTextKey(key) || IsBinary(object)) continue;
      char* end = Append(key, Append("ITEM ", line));
      end = AppendNumber(task::ValueBytes(object), Append(" [", end));
      end = AppendNumber(task::ExpiryOf(object), Append(" b; ", end));
      end = Append(" s]\r\n", end);
      const auto bytes = static_cast<size_t>(end - line);
      if (text.size() + bytes + 5 > kCachedumpBytesMax) return text.append("END\r\n");
      text.append(line, bytes);
      if (++lines == limit) return text.append("END\r\n");
    }
  }
  return text.append("END\r\n");
}

std::string SizesText(const cache::Session& session, uint64_t items) {
  std::map<uint32_t, uint64_t> counts;
  uint64_t seen = 0;
  cache::Walk walk;
  cache::Walk::Step step;
  Effort effort;
  while (seen < kSizesSampleMin && walk.Next(session, &step) && effort.Spend(step)) {
    for (uint32_t i = 0; i < step.count; ++i)
      counts[(static_cast<uint32_t>(task::StoredBytes(step.seen[i].object)) + 31) / 32 * 32]++;
    seen += step.count;
  }
  const double scale = walk.is_over() ? 1.0
                                      : static_cast<double>(items) /
                                            static_cast<double>(std::max(seen, uint64_t{1}));
  std::string text;
  for (const auto& [bytes, count] : counts)
    text +=
        fmt::format("STAT {} {:.0f}\r\n", bytes, std::max(1.0, static_cast<double>(count) * scale));
  return text + "END\r\n";
}

}  // namespace weft::server
