#include "bench/durable/ledger.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::bench {
namespace {

Status Wrong(std::string_view key, const char* what) {
  return Status(Code::kCorruption, fmt::format("key {}: {}", key, what));
}

Status CheckScan(Cursor* cursor, const RecordFormat& records, const std::vector<uint32_t>& last) {
  uint64_t next = 0;  // the first id not seen yet
  const auto skip_absent = [&] {
    while (next < last.size() && last[next] == 0) ++next;
  };
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    skip_absent();
    const std::string_view key = cursor->Key();
    if (next == last.size() || records.RecordOf(key) != next)
      return Wrong(key, "comes where another key should");
    if (records.Verify(next, cursor->Value()) != last[next] - 1)
      return Wrong(key, "does not have the value that was written last");
    ++next;
  }
  if (const Status status = cursor->status(); !status.ok()) return status;
  skip_absent();
  if (next != last.size()) return Wrong(RecordKey(records, next), "is missing in a scan");
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

void Ledger::End(const WritePass& pass) {
  passes_.push_back(pass);
  next_version_ = pass.first_version + static_cast<uint32_t>(pass.writes * pass.writers);
}

uint64_t Ledger::DistinctKeys() const {
  const std::vector<uint32_t> last = LastVersions();
  return last.size() - static_cast<uint64_t>(std::count(last.begin(), last.end(), 0));
}

Status Ledger::Check(Store* store, const RecordFormat& records) const {
  const std::vector<uint32_t> last = LastVersions();
  const Status scan = CheckScan(store->NewCursor().get(), records, last);
  return scan.ok() ? CheckSample(store->NewReader().get(), records, last) : scan;
}

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
