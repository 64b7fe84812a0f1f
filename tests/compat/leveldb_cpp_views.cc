// Iterators, snapshots, sizes and properties.
#include <algorithm>
#include <vector>

#include "leveldb_cpp.h"

namespace program {

// --- Iterators and snapshots ---

void NoteCleanup(void* order, void* number) {
  *static_cast<std::string*>(order) += *static_cast<char*>(number);
}

void Iterators(DB* db) {
  std::printf("-- iterators\n");
  Fill(db, 3000, 60, 1);
  for (uint64_t i = 0; i < 3000; i += 3) db->Delete(WriteOptions(), NumberedKey(i));
  db->CompactRange(nullptr, nullptr);
  for (uint64_t i = 0; i < 3000; i += 5) db->Put(WriteOptions(), NumberedKey(i), "newer");
  std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
  Print("before a seek", it->Valid());
  db->Put(WriteOptions(), "zz, too late", "not seen");
  Print("forward", Scan(it.get()));
  Print("backward", ScanBack(it.get()));

  Sum walk;
  Random random(7);
  for (int step = 0; step < 20000; step++) {
    const uint64_t what = random.Below(100);
    if (!it->Valid() || what < 5) {
      const uint64_t how = random.Below(10);
      if (how == 0) {
        it->SeekToFirst();
      } else if (how == 1) {
        it->SeekToLast();
      } else {
        it->Seek(NumberedKey(random.Below(3100)) + (random.OneIn(2) ? "" : "\xff"));
      }
    } else if (what < 55) {
      it->Next();
    } else {
      it->Prev();
    }
    if (it->Valid()) {
      walk.Add(it->key());
      walk.Add(it->value());
    } else {
      walk.Add("-");
    }
  }
  Print("random walk", walk.Text());
  for (const char* target : {"", "\x01", "key", "key00000003", "zzz", "\xff\xff\xff"}) {
    it->Seek(target);
    Print("seek", Shown(target) + " -> " +
                      (it->Valid() ? Shown(it->key()) + " = " + Shown(it->value()) : "end"));
  }

  std::string order;
  char names[] = "abcd";
  for (char& name : names) {
    if (name != '\0') it->RegisterCleanup(&NoteCleanup, &order, &name);
  }
  it.reset();
  std::sort(order.begin(), order.end());
  Print("cleanups", order);
  it.reset(leveldb::NewEmptyIterator());
  it->SeekToFirst();
  Print("empty", it->status().ToString() + std::to_string(it->Valid()));
  it.reset(leveldb::NewErrorIterator(Status::Corruption("made")));
  it->Seek("x");
  Print("error", it->status().ToString() + std::to_string(it->Valid()));
}

void Snapshots(DB* db) {
  std::printf("-- snapshots\n");
  std::vector<const leveldb::Snapshot*> snapshots;
  Random random(11);
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 400; i++) {
      const std::string key = NumberedKey(random.Below(500));
      if (random.OneIn(3)) {
        db->Delete(WriteOptions(), key);
      } else {
        db->Put(WriteOptions(), key, "round " + std::to_string(round) + random.Bytes(30));
      }
    }
    snapshots.push_back(db->GetSnapshot());
    if (round == 2) db->CompactRange(nullptr, nullptr);
    if (round == 4) {
      db->ReleaseSnapshot(snapshots[1]);
      snapshots[1] = nullptr;
    }
  }
  db->CompactRange(nullptr, nullptr);
  for (const leveldb::Snapshot* snapshot : snapshots) {
    ReadOptions options;
    options.snapshot = snapshot;
    PrintContents("at snapshot", db, options);
    for (uint64_t i = 0; i < 500; i += 97) {
      std::string value = "-";
      const Status status = db->Get(options, NumberedKey(i), &value);
      Print("get", status.ToString() + " " + Shown(value));
    }
  }
  for (const leveldb::Snapshot* snapshot : snapshots) {
    if (snapshot != nullptr) db->ReleaseSnapshot(snapshot);
  }
  PrintContents("now", db, ReadOptions());
}

// --- Sizes and properties ---

void Sizes(DB* db) {
  std::printf("-- sizes\n");
  Fill(db, 20000, 200, 3);
  db->CompactRange(nullptr, nullptr);
  std::vector<leveldb::Range> ranges;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i <= 20; i++) keys.push_back(NumberedKey(i * 1000));
  for (uint64_t i = 0; i < 20; i++) ranges.emplace_back(keys[i], keys[i + 1]);
  ranges.emplace_back("", "\xff");
  ranges.emplace_back("x", "y");
  ranges.emplace_back(keys[5], keys[5]);
  std::vector<uint64_t> sizes(ranges.size());
  db->GetApproximateSizes(ranges.data(), static_cast<int>(ranges.size()), sizes.data());
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 20; i++) sum += sizes[i];
  std::printf("even parts %d\n", std::all_of(sizes.begin(), sizes.begin() + 20, [&](uint64_t part) {
                return part > sum / 40 && part < sum / 10;
              }));
  std::printf("whole %d, nothing %d %d\n", sizes[20] >= sum, sizes[21] == 0, sizes[22] == 0);
  db->GetApproximateSizes(ranges.data(), 0, nullptr);

  std::string text;
  for (const char* name : {"leveldb.nothing", "leveldb.", "", "leveldb.num-files-at-level7",
                           "leveldb.num-files-at-level", "leveldb.num-files-at-levelx"}) {
    Print("unknown property", db->GetProperty(name, &text));
  }
  uint64_t files = 0;
  for (int level = 0; level < 7; level++) {
    text = "not a number";
    if (!db->GetProperty("leveldb.num-files-at-level" + std::to_string(level), &text)) {
      std::printf("level %d is unknown\n", level);
    }
    files += std::stoull(text);
  }
  std::printf("tables %d\n", files >= 1);
  db->GetProperty("leveldb.num-files-at-level0", &text);
  Print("tables in level 0", text);
  for (const char* name :
       {"leveldb.stats", "leveldb.sstables", "leveldb.approximate-memory-usage"}) {
    const bool known = db->GetProperty(name, &text);
    std::printf("%s %d %d\n", name, known, !text.empty());
  }
}

}  // namespace program
