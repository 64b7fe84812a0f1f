// What LevelDB's tests ask of the inside of an open store, given by the public interface. The class
// is declared by LevelDB's own header. No test makes an object of it: they take a DB for one.
#include "db/db_impl.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace leveldb {

namespace {

// The newest entry of each key, in the form that LevelDB's inside has: older entries and deletions
// cannot be seen from outside.
class NewestEntries final : public Iterator {
 public:
  explicit NewestEntries(Iterator* keys) : keys_(keys) {}

  bool Valid() const override { return keys_->Valid(); }
  void SeekToFirst() override {
    keys_->SeekToFirst();
    Moved();
  }
  void SeekToLast() override {
    keys_->SeekToLast();
    Moved();
  }
  void Seek(const Slice& target) override {
    keys_->Seek(ExtractUserKey(target));
    Moved();
  }
  void Next() override {
    keys_->Next();
    Moved();
  }
  void Prev() override {
    keys_->Prev();
    Moved();
  }
  Slice key() const override { return key_; }
  Slice value() const override { return keys_->value(); }
  Status status() const override { return keys_->status(); }

 private:
  void Moved() {
    key_.clear();
    if (!keys_->Valid()) return;
    AppendInternalKey(&key_, ParsedInternalKey(keys_->key(), kMaxSequenceNumber, kTypeValue));
  }

  const std::unique_ptr<Iterator> keys_;
  std::string key_;
};

struct File {
  int level;
  int64_t bytes;
  std::string smallest;
  std::string largest;
};

// Reads a line such as " 6:137['A' @ 1 : 1 .. 'B' @ 2 : 1]".
bool ReadFile(const std::string& line, File* file) {
  long long bytes;
  int keys_at = 0;
  const char* const text = line.c_str();
  if (std::sscanf(text, " %*u:%lld['%n", &bytes, &keys_at) != 1) return false;
  const size_t between = line.find(" .. '");
  if (keys_at == 0 || between == std::string::npos) return false;
  const size_t smallest_end = line.rfind("' @ ", between);
  const size_t largest_at = between + std::string_view(" .. '").size();
  const size_t largest_end = line.rfind("' @ ");
  if (smallest_end == std::string::npos || largest_end < largest_at) return false;
  file->bytes = bytes;
  file->smallest = line.substr(keys_at, smallest_end - keys_at);
  file->largest = line.substr(largest_at, largest_end - largest_at);
  return true;
}

// The tables of a store, by the property that lists them. False where a line of it is not known.
bool ReadFiles(const std::string& property, std::vector<File>* files) {
  std::istringstream lines(property);
  int level = -1;
  for (std::string line; std::getline(lines, line);) {
    if (std::sscanf(line.c_str(), "--- level %d", &level) == 1) continue;
    File file;
    if (!ReadFile(line, &file)) return false;
    file.level = level;
    files->push_back(file);
  }
  return level >= 0;
}

}  // namespace

// Writes the table in memory out, because a compaction begins with that, and compacts nothing:
// no test has keys in this range.
Status DBImpl::TEST_CompactMemTable() {
  const std::string first(64, '\xff'), last(65, '\xff');
  const Slice begin(first), end(last);
  CompactRange(&begin, &end);
  return Status::OK();
}

// Compacts the range on all levels.
void DBImpl::TEST_CompactRange(int, const Slice* begin, const Slice* end) {
  CompactRange(begin, end);
}

Iterator* DBImpl::TEST_NewInternalIterator() {
  return new NewestEntries(NewIterator(ReadOptions()));  // freed by the caller
}

int64_t DBImpl::TEST_MaxNextLevelOverlappingBytes() {
  std::string property;
  std::vector<File> files;
  if (!GetProperty("leveldb.sstables", &property) || !ReadFiles(property, &files)) {
    return std::numeric_limits<int64_t>::max();
  }
  int64_t most = 0;
  for (const File& upper : files) {
    if (upper.level == 0) continue;
    int64_t overlap = 0;
    for (const File& lower : files) {
      if (lower.level == upper.level + 1 && lower.smallest <= upper.largest &&
          upper.smallest <= lower.largest) {
        overlap += lower.bytes;
      }
    }
    most = std::max(most, overlap);
  }
  return most;
}

}  // namespace leveldb
