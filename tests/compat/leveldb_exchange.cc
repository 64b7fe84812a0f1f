// One side of an exchange of stores: leveldb_exchange write|read FOLDER SEED TURN.
// `write` makes or changes the store as seed and turn say; `read` prints what is in it. The options
// come from the seed alone, the same for both.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "leveldb/comparator.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
#include "program.h"

namespace program {

namespace {

// The other way round, and so the other way in every file.
class Backwards final : public leveldb::Comparator {
 public:
  int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
    return b.compare(a);
  }
  const char* Name() const override { return "program.Backwards"; }
  void FindShortestSeparator(std::string*, const leveldb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

struct Setting {
  explicit Setting(uint64_t seed) {
    options.create_if_missing = true;
    options.paranoid_checks = true;
    options.compression = seed % 2 == 0 ? leveldb::kSnappyCompression : leveldb::kNoCompression;
    if (seed % 3 != 0) filter.reset(leveldb::NewBloomFilterPolicy(seed % 3 == 1 ? 10 : 3));
    options.filter_policy = filter.get();
    if (seed % 5 == 0) options.comparator = &backwards;
    options.write_buffer_size = seed % 7 < 4 ? 64 << 10 : 4 << 20;
    options.block_size = seed % 4 == 0 ? 1024 : 4096;
    options.block_restart_interval = seed % 4 == 1 ? 1 : 16;
    options.max_file_size = 1 << 20;
    options.reuse_logs = seed % 11 < 3;
  }
  Backwards backwards;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  leveldb::Options options;
};

std::string RandomKey(Random* random) {
  const uint64_t kind = random->Below(50);
  if (kind == 0) return "";
  if (kind == 1) return std::string(random->Below(3000), '\xff');
  std::string key = std::to_string(random->Below(3000));
  if (kind < 10) key.push_back(static_cast<char>(random->Below(256)));
  if (kind < 15) key.insert(0, "\x80\xfe");
  return key;
}

std::string RandomValue(Random* random) {
  if (random->OneIn(400)) return random->Bytes(random->Below(300000));
  return random->Bytes(random->Below(200));
}

// Snapshots are held over changes and compactions, so that files keep older versions too.
void Change(leveldb::DB* db, Random* random) {
  std::vector<const leveldb::Snapshot*> snapshots;
  for (int i = 0; i < 6000; i++) {
    leveldb::WriteBatch batch;
    const uint64_t changes = random->OneIn(20) ? random->Below(50) : 1;
    for (uint64_t c = 0; c < changes; c++) {
      if (random->OneIn(4)) {
        batch.Delete(RandomKey(random));
      } else {
        batch.Put(RandomKey(random), RandomValue(random));
      }
    }
    leveldb::WriteOptions options;
    options.sync = random->OneIn(500);
    const leveldb::Status status = db->Write(options, &batch);
    if (!status.ok()) Print("write", status);
    if (random->OneIn(1000)) snapshots.push_back(db->GetSnapshot());
    if (random->OneIn(3000)) {
      const std::string from = RandomKey(random), to = RandomKey(random);
      const leveldb::Slice begin(from), end(to);
      db->CompactRange(&begin, random->OneIn(2) ? nullptr : &end);
    }
  }
  if (random->OneIn(3)) db->CompactRange(nullptr, nullptr);
  for (const leveldb::Snapshot* snapshot : snapshots) db->ReleaseSnapshot(snapshot);
}

void Read(leveldb::DB* db, Random* random) {
  leveldb::ReadOptions options;
  options.verify_checksums = true;
  PrintContents("contents", db, options);
  Sum found;
  std::string value;
  for (int i = 0; i < 5000; i++) {
    const leveldb::Status status = db->Get(options, RandomKey(random), &value);
    found.Add(status.ToString());
    if (status.ok()) found.Add(value);
  }
  Print("gets", found.Text());
  const std::unique_ptr<leveldb::Iterator> it(db->NewIterator(options));
  Sum seeks;
  for (int i = 0; i < 1000; i++) {
    it->Seek(RandomKey(random));
    for (int step = 0; it->Valid() && step < 4; step++) {
      seeks.Add(it->key());
      seeks.Add(it->value());
      if (random->OneIn(3)) {
        it->Prev();
      } else {
        it->Next();
      }
    }
  }
  Print("seeks", seeks.Text() + " " + it->status().ToString());
}

int Run(const std::string& what, const std::string& folder, uint64_t seed, uint64_t turn) {
  const Setting setting(seed);
  leveldb::DB* opened;
  const leveldb::Status status = leveldb::DB::Open(setting.options, folder, &opened);
  if (!status.ok()) {
    Print("open", status);
    return 1;
  }
  const std::unique_ptr<leveldb::DB> db(opened);
  Random random(seed * 1000 + turn);
  if (what == "write") {
    Change(db.get(), &random);
  } else {
    Read(db.get(), &random);
  }
  return 0;
}

}  // namespace

}  // namespace program

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  return program::Run(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10),
                      std::strtoull(argv[4], nullptr, 10));
}
