// A memory file and its FILE.meta with any bytes changed: a start never fails in any way but by an
// error, what it brings back can be read, changed and evicted, and where the sums are not made
// right again, no key has another value than before.
//
// Input: a byte of options, then changes of six bytes: what is changed, where (4), and by what.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "cache/restart_meta.h"
#include "cache/restart_test_kit.h"
#include "cache/saved_log.h"
#include "cache/walk.h"

namespace weft::cache {
namespace {

constexpr uint64_t kLogAt = kHugePageBytes;
constexpr size_t kChangeBytes = 6;
constexpr uint8_t kSumsAreRight = 1;  // in the byte of options

CacheOptions Options() {
  CacheOptions options = SmallRestartOptions();
  options.memory_bytes = 1 << 20;
  options.object_bytes_max = 40 << 10;
  options.hash_seed = 17;
  return options;
}

// What a clean stop has left, and what it stands for.
struct Saved {
  std::map<std::string, std::string, std::less<>> values;
  std::string head;     // of FILE, up to the log
  std::string objects;  // from the log's beginning to the end of the last segment in use
  std::vector<SegmentRecord> records;
  RestartMeta meta;
};

class Files {
 public:
  Files() {
    WEFT_CHECK(stores_.Start(Options()));
    {
      Client client(stores_.store());
      for (uint64_t i = 0; i < 400; i++) {
        std::string value(i % 40 == 0 ? 9000 + 60 * i : i, static_cast<char>('a' + i % 26));
        const uint32_t end_s = i % 3 == 0 ? base::NowSeconds() + 100000 : kNeverExpires;
        if (client.Set(Key(i), value, end_s) == Outcome::kStored) saved_.values[Key(i)] = value;
        if (i % 5 == 0) (void)client.Gets(Key(i));
      }
      for (uint64_t i = 0; i < 400; i += 7) {
        client.Delete(Key(i));
        saved_.values.erase(Key(i));
      }
    }
    WEFT_CHECK(stores_.Stop());
    Remember();
  }

  // Puts the files back as they were, with changes.
  void Write(bool sums_are_right, std::string_view changes) {
    Saved now = saved_;
    std::string text = EncodeRestartMeta(now.meta);
    const auto table = [&] {
      return std::pair(reinterpret_cast<char*>(now.records.data()),
                       now.records.size() * sizeof(SegmentRecord));
    };
    for (; changes.size() >= kChangeBytes; changes.remove_prefix(kChangeBytes)) {
      const uint32_t at = base::DecodeFixed32(changes.data() + 1);
      const char by = changes[5];
      switch (changes[0] & 3) {
        case 0: text[at % text.size()] ^= by; break;
        case 1: now.head[at % now.head.size()] ^= by; break;
        case 2: table().first[at % table().second] ^= by; break;
        default: now.objects[at % now.objects.size()] ^= by; break;
      }
    }
    if (sums_are_right) MakeSumsRight(&now, &text);
    PutFile(now, {table().first, table().second});
    PutFileBytes(stores_.meta_path(), text);
  }

  RestartedStore& stores() { return stores_; }
  const Saved& saved() const { return saved_; }

 private:
  void Remember() {
    auto meta = ParseRestartMeta(FileBytes(stores_.meta_path()));
    WEFT_CHECK(meta);
    saved_.meta = *meta;
    const std::string file = FileBytes(stores_.path());
    log_bytes_ = saved_.meta.segment_bytes * saved_.meta.segment_count;
    saved_.head = file.substr(0, 32);
    saved_.records.resize(saved_.meta.record_count);
    std::memcpy(saved_.records.data(), file.data() + kLogAt + log_bytes_,
                file.size() - kLogAt - log_bytes_);
    uint64_t end = 0;
    for (const SegmentRecord& r : saved_.records)
      end = std::max<uint64_t>(end, (r.segment + 1) * saved_.meta.segment_bytes);
    saved_.objects = file.substr(kLogAt, end);
  }

  // The table's sums are those of what the changed records name, as far as there is something.
  void MakeSumsRight(Saved* now, std::string* text) const {
    for (SegmentRecord& r : now->records) {
      const uint64_t at = r.segment * now->meta.segment_bytes;
      if (at + SavedLog::BytesOf(r) <= now->objects.size())
        r.crc = base::Crc32c(now->objects.data() + at, SavedLog::BytesOf(r));
    }
    auto meta = ParseRestartMeta(*text);
    now->meta = meta ? *meta : saved_.meta;
    now->meta.table_crc = base::Crc32c(reinterpret_cast<const char*>(now->records.data()),
                                       now->records.size() * sizeof(SegmentRecord));
    *text = EncodeRestartMeta(now->meta);
  }

  void PutFile(const Saved& now, std::string_view table) const {
    const int fd = open(stores_.path().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    WEFT_CHECK(fd >= 0);
    const auto put = [fd](std::string_view bytes, uint64_t at) {
      WEFT_CHECK(pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
                 static_cast<ssize_t>(bytes.size()));
    };
    put(now.head, 0);
    put(now.objects, kLogAt);
    put(table, kLogAt + log_bytes_);
    close(fd);
  }

  RestartedStore stores_;
  Saved saved_;
  uint64_t log_bytes_ = 0;
};

// Reads all that the store says it has.
void ReadAll(Store* store) {
  const auto session = store->NewSession();
  Walk walk;
  Walk::Step step;
  uint64_t sum = 0;
  while (!walk.is_over()) {
    const InBatch batch(*session);
    walk.Next(*session, &step);
    for (uint32_t i = 0; i < step.count; i++) {
      for (const char c : KeyView(step.seen[i].object)) sum += static_cast<uint8_t>(c);
      for (const char c : ValueView(step.seen[i].object)) sum += static_cast<uint8_t>(c);
    }
  }
  asm volatile("" : : "r"(sum));
}

void Use(Files* files, bool sums_are_right) {
  Store* const store = files->stores().store();
  ReadAll(store);
  {
    Client client(store);
    for (const auto& [key, value] : files->saved().values) {
      const std::string found = client.Value(key);
      WEFT_CHECK(sums_are_right || found == "(none)" || found == value);
    }
    // More than there is room for, so that every segment is emptied.
    for (uint64_t i = 0; i < 1200; i++) client.Set("new" + Key(i), std::string(2000, 'n'));
    const std::string last = client.Value("new" + Key(1199));
    WEFT_CHECK(sums_are_right || last == std::string(2000, 'n'));
  }
  WEFT_CHECK(files->stores().Stop());
}

void Try(std::string_view bytes) {
  static Files* const files = new Files();  // lives as long as the fuzzer
  const bool sums_are_right = (bytes[0] & kSumsAreRight) != 0;
  (void)ParseRestartMeta(bytes);
  files->Write(sums_are_right, bytes.substr(1));
  auto restored = files->stores().Start(Options());
  if (restored) Use(files, sums_are_right);
  files->stores().Kill();
}

}  // namespace
}  // namespace weft::cache

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  constexpr size_t kInputBytesMax = 400;
  if (bytes == 0 || bytes > kInputBytesMax) return 0;
  weft::cache::Try({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
