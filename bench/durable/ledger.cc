#include "bench/durable/ledger.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::bench {
namespace {

Status Wrong(std::string_view key, const char* what) {
  return Status(Code::kCorruption, fmt::format("key {}: {}", key, what));
}

// Of those that are there.
uint64_t CountOf(const std::vector<uint32_t>& last) {
  return last.size() - static_cast<uint64_t>(std::count(last.begin(), last.end(), 0));
}

Status CheckScan(Cursor* cursor, const RecordFormat& records, const std::vector<uint32_t>& last) {
  uint64_t found = 0;
  std::string before;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++found) {
    const std::string_view key = cursor->Key();
    const auto record = records.RecordOf(key);
    if (!record || *record >= last.size() || last[*record] == 0)
      return Wrong(key, "was never written");
    if (found > 0 && key <= before) return Wrong(key, "is out of order");
    if (records.Verify(*record, cursor->Value()) != last[*record] - 1)
      return Wrong(key, "does not have the value that was written last");
    before = key;
  }
  if (const Status status = cursor->status(); !status.ok()) return status;
  if (const uint64_t expected = CountOf(last); found != expected)
    return Status(Code::kCorruption, fmt::format("a scan finds {} of {} keys", found, expected));
  return Status::Ok();
}

Status CheckSample(Reader* reader, const RecordFormat& records, const std::vector<uint32_t>& last) {
  base::Random random(last.size());
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<uint32_t>(random.Below(last.size()));
    const RecordKey key(records, id);
    const Answer answer = reader->Get(key);
    if (!reader->status().ok()) return reader->status();
    if (answer.found != (last[id] != 0))
      return Wrong(key, "is found although it was never written, or not found");
    if (answer.found && records.Verify(id, answer.value) != last[id] - 1)
      return Wrong(key, "does not have the value that was written last");
  }
  return Status::Ok();
}

}  // namespace

Status CheckRecords(Store* store, const RecordFormat& records, const std::vector<uint32_t>& last) {
  const Status scan = CheckScan(store->NewCursor().get(), records, last);
  return scan.ok() ? CheckSample(store->NewReader().get(), records, last) : scan;
}

void Ledger::End(const WritePass& pass) {
  passes_.push_back(pass);
  next_version_ = pass.first_version + static_cast<uint32_t>(pass.writes * pass.writers);
}

uint64_t Ledger::DistinctKeys() const { return CountOf(LastVersions()); }

std::vector<uint32_t> Ledger::LastVersions() const {
  std::vector<uint32_t> last(keys_, 0);
  for (const WritePass& pass : passes_) {
    for (uint32_t writer = 0; writer < pass.writers; ++writer) {
      IdStream ids(pass, writer);
      uint32_t version = pass.first_version + writer;
      for (uint64_t i = 0; i < pass.writes; ++i, version += pass.writers)
        last[ids.Next()] = version + 1;
    }
  }
  return last;
}

}  // namespace weft::bench
