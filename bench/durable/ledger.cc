#include "bench/durable/ledger.h"

#include <algorithm>

#include <fmt/format.h>

namespace weft::bench {
namespace {

Status Wrong(std::string_view key, const char* what) {
  return Status(Code::kCorruption, fmt::format("key {}: {}", key, what));
}

Status CheckScan(Cursor* cursor, const ValueMaker& values, const std::vector<uint32_t>& last) {
  uint64_t next = 0;  // the first id not seen yet
  const auto skip_absent = [&] {
    while (next < last.size() && last[next] == 0) ++next;
  };
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    skip_absent();
    const std::string_view key = cursor->Key();
    const uint64_t id = IdOfDurableKey(key);
    if (id != next) return Wrong(key, "comes where another key should");
    if (!values.Matches(static_cast<uint32_t>(id), last[id] - 1, cursor->Value()))
      return Wrong(key, "does not have the value that was written last");
    ++next;
  }
  if (const Status status = cursor->status(); !status.ok()) return status;
  skip_absent();
  if (next != last.size()) return Wrong(DurableKey(next), "is missing in a scan");
  return Status::Ok();
}

Status CheckSample(Reader* reader, const ValueMaker& values, const std::vector<uint32_t>& last) {
  base::Random random(last.size());
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<uint32_t>(random.Below(last.size()));
    const Answer answer = reader->Get(DurableKey(id));
    if (!reader->status().ok()) return reader->status();
    if (answer.found != (last[id] != 0))
      return Wrong(DurableKey(id), "is found although it was never written, or not found");
    if (answer.found && !values.Matches(id, last[id] - 1, answer.value))
      return Wrong(DurableKey(id), "does not have the value that was written last");
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

Status Ledger::Check(Store* store, const ValueMaker& values) const {
  const std::vector<uint32_t> last = LastVersions();
  const Status scan = CheckScan(store->NewCursor().get(), values, last);
  return scan.ok() ? CheckSample(store->NewReader().get(), values, last) : scan;
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
