// Tables, dumps, repair, threads, a store over a store.
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "leveldb/dumpfile.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/table.h"
#include "leveldb/table_builder.h"
#include "leveldb_cpp.h"

namespace program {

// --- Tables ---

void BuildTable(const std::string& file, const Options& options, uint64_t seed) {
  leveldb::Env* env = leveldb::Env::Default();
  leveldb::WritableFile* writable;
  env->NewWritableFile(file, &writable);
  leveldb::TableBuilder builder(options, writable);
  Random random(seed);
  for (uint64_t i = 0; i < 3000; i++) {
    builder.Add(NumberedKey(i * 3), random.Bytes(random.Below(120)));
    if (i == 1234) builder.Flush();
  }
  Options other = options;
  other.comparator = nullptr;
  PrintKind("change of order", builder.ChangeOptions(other));
  Print("change of nothing", builder.ChangeOptions(options));
  Print("entries", builder.NumEntries());
  Print("status", builder.status());
  Print("finish", builder.Finish());
  Print("bytes", builder.FileSize());
  writable->Close();
  delete writable;
  std::string contents;
  leveldb::ReadFileToString(env, file, &contents);
  Sum sum;
  sum.Add(contents);
  Print("file", sum.Text());
}

void Tables(const std::string& file) {
  std::printf("-- tables\n");
  leveldb::Env* env = leveldb::Env::Default();
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(12));
  for (int kind = 0; kind < 4; kind++) {
    Options options;
    options.compression = kind % 2 == 0 ? leveldb::kNoCompression : leveldb::kSnappyCompression;
    options.filter_policy = kind < 2 ? nullptr : bloom.get();
    options.block_size = kind == 3 ? 300 : 4096;
    options.block_restart_interval = kind == 2 ? 1 : 16;
    BuildTable(file, options, 29);
    uint64_t bytes = 0;
    env->GetFileSize(file, &bytes);
    leveldb::RandomAccessFile* random;
    env->NewRandomAccessFile(file, &random);
    leveldb::Table* table;
    Print("open", leveldb::Table::Open(options, random, bytes, &table));
    std::unique_ptr<Iterator> it(table->NewIterator(ReadOptions()));
    Print("forward", Scan(it.get()));
    Print("backward", ScanBack(it.get()));
    it->Seek("key00000100");
    Print("seek", Shown(it->key()));
    it->Seek("z");
    Print("seek past the end", it->Valid());
    for (const char* key : {"", "key00000000", "key00004500", "key00008997", "z"}) {
      Print("offset", table->ApproximateOffsetOf(key));
    }
    it.reset();
    delete table;
    PrintKind("cut", leveldb::Table::Open(options, random, bytes - 1, &table));
    std::printf("null %d\n", table == nullptr);
    PrintKind("too short", leveldb::Table::Open(options, random, 10, &table));
    delete random;
  }
  leveldb::WritableFile* writable;
  env->NewWritableFile(file, &writable);
  {
    leveldb::TableBuilder given_up((Options()), writable);
    given_up.Add("a", "b");
    given_up.Abandon();
    Print("given up", given_up.NumEntries());
  }
  delete writable;
  env->RemoveFile(file);
}

// --- Dump, repair, destroy, threads ---

struct Collect final : leveldb::WritableFile {
  Status Append(const Slice& data) override {
    text.append(data.data(), data.size());
    return Status::OK();
  }
  Status Close() override { return Status::OK(); }
  Status Flush() override { return Status::OK(); }
  Status Sync() override { return Status::OK(); }
  std::string text;
};

void Dumps(const std::string& name) {
  std::printf("-- dumps\n");
  leveldb::Env* env = leveldb::Env::Default();
  {
    const std::unique_ptr<DB> db = OpenOrDie(Create(), name);
    db->Put(WriteOptions(), "in a \x80table", "with '\\\t\n\x7f");
    db->Delete(WriteOptions(), "deleted");
    db->CompactRange(nullptr, nullptr);
    db->Put(WriteOptions(), "in a log", std::string(40000, 'z'));
    WriteBatch batch;
    batch.Put("b", "1");
    batch.Delete("in a log");
    db->Write(WriteOptions(), &batch);
  }
  std::vector<std::string> names;
  env->GetChildren(name, &names);
  std::sort(names.begin(), names.end());
  for (const std::string& file : names) {
    const std::string ending = file.substr(file.find('.') + 1);
    if (ending != "log" && ending != "ldb" && file != "CURRENT") continue;
    Collect dump;
    Print("dump", leveldb::DumpFile(env, name + "/" + file, &dump));
    std::printf("%s", dump.text.c_str());
  }
  Collect dump;
  Print("no store's file", leveldb::DumpFile(env, name + "/file.txt", &dump));
  PrintKind("missing", leveldb::DumpFile(env, name + "/999999.log", &dump));
  leveldb::DestroyDB(name, Options());
}

void Repair(const std::string& name) {
  std::printf("-- repair\n");
  leveldb::Env* env = leveldb::Env::Default();
  Options options = Create();
  options.write_buffer_size = 64 << 10;
  {
    const std::unique_ptr<DB> db = OpenOrDie(options, name);
    Fill(db.get(), 5000, 100, 31);
    for (uint64_t i = 0; i < 5000; i += 2) db->Delete(WriteOptions(), NumberedKey(i));
    PrintContents("before", db.get(), ReadOptions());
  }
  std::vector<std::string> names;
  env->GetChildren(name, &names);
  for (const std::string& file : names) {
    if (file == "CURRENT" || file.compare(0, 9, "MANIFEST-") == 0)
      env->RemoveFile(name + "/" + file);
  }
  DB* db;
  PrintKind("without manifest", DB::Open(Options(), name, &db));
  Print("repair", leveldb::RepairDB(name, options));
  PrintContents("repaired", OpenOrDie(options, name).get(), ReadOptions());
  Print("repair again", leveldb::RepairDB(name, options));
  {
    const std::unique_ptr<DB> repaired = OpenOrDie(options, name);
    PrintContents("repaired again", repaired.get(), ReadOptions());
    Print("write", repaired->Put(WriteOptions(), "new", "1"));
  }
  leveldb::WriteStringToFile(env, "not the store's", name + "/notes.txt");
  leveldb::DestroyDB(name, options);
  names.clear();
  env->GetChildren(name, &names);
  std::printf("kept %d\n", env->FileExists(name + "/notes.txt"));
  env->RemoveFile(name + "/notes.txt");
  Print("destroyed", leveldb::DestroyDB(name, options));
}

void Threads(const std::string& name) {
  std::printf("-- threads\n");
  Options options = Create();
  options.write_buffer_size = 128 << 10;
  const std::unique_ptr<DB> db = OpenOrDie(options, name);
  std::atomic<int> errors{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; t++) {
    threads.emplace_back([&db, &errors, t] {
      Random random(t + 41);
      for (uint64_t i = 0; i < 3000; i++) {
        const std::string key = std::to_string(t) + NumberedKey(i), value = random.Bytes(100);
        std::string read;
        if (!db->Put(WriteOptions(), key, value).ok() || !db->Get(ReadOptions(), key, &read).ok() ||
            read != value) {
          errors++;
        }
        if (i % 500 == 0) delete db->NewIterator(ReadOptions());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Print("errors", static_cast<uint64_t>(errors.load()));
  PrintContents("contents", db.get(), ReadOptions());
}

// A store over a store, which uses the bodies that DB gives Put and Delete.
class Passing final : public DB {
 public:
  explicit Passing(DB* to) : to_(to) {}
  Status Put(const WriteOptions& o, const Slice& k, const Slice& v) override {
    return DB::Put(o, k, v);
  }
  Status Delete(const WriteOptions& o, const Slice& k) override { return DB::Delete(o, k); }
  Status Write(const WriteOptions& o, WriteBatch* updates) override {
    writes++;
    return to_->Write(o, updates);
  }
  Status Get(const ReadOptions& o, const Slice& k, std::string* v) override {
    return to_->Get(o, k, v);
  }
  Iterator* NewIterator(const ReadOptions& o) override { return to_->NewIterator(o); }
  const leveldb::Snapshot* GetSnapshot() override { return to_->GetSnapshot(); }
  void ReleaseSnapshot(const leveldb::Snapshot* s) override { to_->ReleaseSnapshot(s); }
  bool GetProperty(const Slice& p, std::string* v) override { return to_->GetProperty(p, v); }
  void GetApproximateSizes(const leveldb::Range* r, int n, uint64_t* s) override {
    to_->GetApproximateSizes(r, n, s);
  }
  void CompactRange(const Slice* b, const Slice* e) override { to_->CompactRange(b, e); }

  int writes = 0;

 private:
  DB* const to_;
};

void StoreOverStore(const std::string& name) {
  std::printf("-- a store over a store\n");
  const std::unique_ptr<DB> below = OpenOrDie(Create(), name);
  Passing db(below.get());
  db.Put(WriteOptions(), "a", "1");
  db.Put(WriteOptions(), "b", "2");
  db.Delete(WriteOptions(), "a");
  const Slice from("a"), to("b");
  db.CompactRange(&from, &to);
  Print("writes", static_cast<uint64_t>(db.writes));
  PrintContents("contents", below.get(), ReadOptions());
}

}  // namespace program
