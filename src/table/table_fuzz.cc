// Any bytes as a table file, but for its checksums: the first byte picks how it is read, and those
// of index, metaindex and filter are put right, so that damage gets past them.
//
// Asserted: scans in either direction end within the entries that the file can hold, give the same
// entries in reverse order where neither fails, answers point to bytes that are there, lookups
// alone and in a group agree, and a table that verifies is in order and finds what it holds.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "base/crc32c.h"
#include "table/table.h"
#include "table/table_iterator.h"

namespace weft::table {
namespace {

class FuzzFile final : public RandomAccessFile {
 public:
  FuzzFile(std::string_view contents, bool mapped) : contents_(contents), mapped_(mapped) {}
  Status Read(uint64_t offset, size_t bytes, std::string_view* result,
              char* scratch) const override {
    WEFT_CHECK(offset <= contents_.size() && bytes <= contents_.size() - offset);
    std::copy_n(contents_.data() + offset, bytes, scratch);
    *result = {scratch, bytes};
    return {};
  }
  std::string_view Mapped() const override { return mapped_ ? contents_ : std::string_view(); }

 private:
  const std::string_view contents_;
  const bool mapped_;
};

// Entries that a scan may give: each takes three bytes of a block at least, and each block that the
// index names may be the same one. Beyond this nothing is scanned.
constexpr size_t kScanMax = 1u << 16;

void FixChecksum(const BlockHandle& handle, std::string* file) {
  if (file->size() < kBlockTrailerBytes || handle.bytes > file->size() - kBlockTrailerBytes ||
      handle.offset > file->size() - kBlockTrailerBytes - handle.bytes) {
    return;
  }
  char* block = file->data() + handle.offset;
  const uint32_t crc = base::MaskCrc32c(base::Crc32c(block, handle.bytes + 1));
  base::EncodeFixed32(block + handle.bytes + 1, crc);
}

// The footer's two blocks, and what the metaindex seems to name. Putting one right may spoil
// another that overlaps it: then that one fails its check.
void FixChecksums(std::string* file) {
  if (file->size() < kFooterBytes) return;
  char* magic = file->data() + file->size() - 8;
  base::EncodeFixed64(magic, kTableMagic);
  Footer footer;
  const std::string_view bytes(*file);
  if (!footer.DecodeFrom(bytes.substr(bytes.size() - kFooterBytes)).ok()) return;
  constexpr std::string_view kName = "leveldb.BuiltinBloomFilter2";
  const size_t name = file->rfind(kName);
  if (name != std::string::npos) {
    std::string_view after = std::string_view(*file).substr(name + kName.size());
    BlockHandle filter;
    if (filter.TakeFrom(&after)) FixChecksum(filter, file);
  }
  FixChecksum(footer.metaindex, file);
  FixChecksum(footer.index, file);
}

// Reads every byte of what is pointed to, for the sanitizer to look.
uint64_t Touch(std::string_view bytes) {
  uint64_t sum = bytes.size();
  for (const char c : bytes) sum += static_cast<uint8_t>(c);
  return sum;
}

struct Scanned {
  std::vector<std::string> keys;
  std::vector<uint64_t> values;
  bool whole = false;
};

Scanned Scan(Iterator* it, bool forward) {
  Scanned scanned;
  if (forward) {
    it->SeekToFirst();
  } else {
    it->SeekToLast();
  }
  while (it->Valid() && scanned.keys.size() < kScanMax) {
    scanned.keys.emplace_back(it->key());
    scanned.values.push_back(Touch(it->value()));
    if (forward) {
      it->Next();
    } else {
      it->Prev();
    }
  }
  scanned.whole = !it->Valid() && it->status().ok();
  WEFT_CHECK(it->Valid() || it->status().ok() || it->status().code() == Code::kCorruption ||
             it->status().code() == Code::kUnsupported || it->status().code() == Code::kNoMemory);
  return scanned;
}

void LookUp(const Table& table, const ReadOptions& options, const std::vector<std::string>& keys,
            bool sound) {
  std::vector<TableLookup> lookups(keys.size());
  std::vector<TableLookup*> all;
  for (size_t i = 0; i < keys.size(); ++i) {
    lookups[i].table = &table;
    lookups[i].key = keys[i];
    all.push_back(&lookups[i]);
  }
  Table::MultiGet(options, all);
  for (size_t i = 0; i < keys.size(); ++i) {
    TableLookup one{.key = keys[i]};
    table.Get(options, &one);
    WEFT_CHECK(one.found == lookups[i].found && one.value == lookups[i].value &&
               one.sequence == lookups[i].sequence);
    WEFT_CHECK((one.found == TableLookup::Found::kError) == !one.status.ok());
    Touch(one.value);
    if (sound) WEFT_CHECK(one.found != TableLookup::Found::kNothing || table.order().is_internal());
  }
}

void ReadAll(const Table& table, const ReadOptions& options) {
  const auto it = table.NewIterator(options);
  const Scanned forward = Scan(it.get(), true);
  const Scanned backward = Scan(it.get(), false);
  if (forward.whole && backward.whole) {
    WEFT_CHECK(std::equal(forward.keys.begin(), forward.keys.end(), backward.keys.rbegin(),
                          backward.keys.rend()));
    WEFT_CHECK(std::equal(forward.values.begin(), forward.values.end(), backward.values.rbegin(),
                          backward.values.rend()));
  }
  uint64_t entries = 0;
  const bool sound = table.Verify(&entries).ok();
  if (sound && forward.whole) WEFT_CHECK(entries == forward.keys.size());
  std::vector<std::string> keys;
  for (size_t i = 0; i < forward.keys.size(); i += 1 + forward.keys.size() / 64) {
    const std::string& key = forward.keys[i];
    if (table.order().is_internal() && key.size() < kTrailerBytes) continue;
    keys.push_back(key);
    it->Seek(key);
    if (sound) WEFT_CHECK(it->Valid() && it->key() == key);
    if (it->Valid()) it->Prev();
    it->Seek(key + "x");
    if (it->Valid()) it->Next();
    WEFT_CHECK(table.ApproximateOffsetOf(key) <= table.file_bytes());
  }
  LookUp(table, options, keys, sound && !table.has_filter());
}

void Fuzz(uint8_t how, std::string_view input) {
  std::string contents(input);
  FixChecksums(&contents);
  const InternalComparator store(BytewiseComparator());
  const auto bloom = NewBloomFilterPolicy(10);
  const InternalFilterPolicy store_bloom(bloom);
  const auto cache = NewLruBlockCache(64 << 10);
  TableReadOptions options;
  if ((how & 1) != 0) {
    options.order = &store;
    options.filter = &store_bloom;
  } else {
    options.filter = bloom.get();
  }
  if ((how & 2) != 0) options.cache = cache.get();
  options.verify = (how & 4) != 0;
  auto table = Table::Open(options, std::make_unique<FuzzFile>(contents, (how & 8) != 0),
                           contents.size(), "fuzz.ldb");
  if (!table) {
    WEFT_CHECK(table.error().message().starts_with("fuzz.ldb: "));
    return;
  }
  ReadOptions read;
  read.verify_checksums = (how & 16) != 0;
  ReadAll(**table, read);
}

}  // namespace
}  // namespace weft::table

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  weft::table::Fuzz(data[0], {reinterpret_cast<const char*>(data) + 1, bytes - 1});
  return 0;
}
