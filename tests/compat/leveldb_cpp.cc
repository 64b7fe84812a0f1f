// A program for LevelDB's C++ interface: leveldb_cpp FOLDER. Uses all of it and prints what it
// sees.
#include <unistd.h>

#include <vector>

#include "leveldb/comparator.h"
#include "leveldb_cpp.h"

namespace program {

namespace {

// --- Values of the interface ---

void Values() {
  std::printf("-- values\n");
  Print("version",
        std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion));
  const Options o;
  std::printf("defaults %d %d %d %zu %d %zu %d %zu %d %d %d %d %d %s\n", o.create_if_missing,
              o.error_if_exists, o.paranoid_checks, o.write_buffer_size, o.max_open_files,
              o.block_size, o.block_restart_interval, o.max_file_size, o.compression, o.reuse_logs,
              o.block_cache == nullptr, o.filter_policy == nullptr, o.info_log == nullptr,
              o.comparator->Name());
  const ReadOptions r;
  const WriteOptions w;
  std::printf("defaults %d %d %d %d\n", r.verify_checksums, r.fill_cache, r.snapshot == nullptr,
              w.sync);

  Print("status ok", Status());
  Print("status not found", Status::NotFound("a", "b"));
  Print("status not found, empty", Status::NotFound(Slice()));
  Print("status corruption", Status::Corruption("a"));
  Print("status not supported", Status::NotSupported("a", ""));
  Print("status invalid argument", Status::InvalidArgument("a", "b: c"));
  Print("status i/o error", Status::IOError("", "b"));
  Status a = Status::IOError("first");
  Status b = a;
  a = Status::OK();
  PrintKind("status copied", b);
  Status c = std::move(b);
  c = c;
  Print("status moved", c);

  const Slice s("prefix and more");
  std::printf("slice %d %d %d %d %d\n", s.starts_with("prefix"), s.starts_with("x"),
              Slice("a").compare("b") < 0, Slice("ab").compare("a") > 0,
              Slice("\xff").compare("\x01") > 0);
  std::printf("slice %d %d %d\n", Slice("") == Slice(), Slice("a") != Slice("a"),
              Slice("x\0y", 3) == Slice("x\0z", 3));
  Slice cut = s;
  cut.remove_prefix(7);
  Print("slice cut", cut.ToString() + " " + std::string(1, cut[4]));
  cut.clear();
  Print("slice clear", cut.size());

  const leveldb::Comparator* order = leveldb::BytewiseComparator();
  for (const char* text : {"abc", "\xff\xff", "", "a\xff"}) {
    std::string start = text;
    order->FindShortestSeparator(&start, "b\x80zz");
    std::string successor = text;
    order->FindShortSuccessor(&successor);
    Print("separator, successor", Shown(start) + " " + Shown(successor));
  }
  std::printf("compare %d %d %d\n", order->Compare("a", "b") < 0, order->Compare("\x80", "a") > 0,
              order->Compare("", ""));
}

// --- Opening ---

void Opening(const std::string& name) {
  std::printf("-- opening\n");
  DB* db = reinterpret_cast<DB*>(1);
  Print("missing", DB::Open(Options(), name, &db));
  Print("missing, pointer", db == nullptr);
  {
    const std::unique_ptr<DB> made = OpenOrDie(Create(), name);
    made->Put(WriteOptions(), "k", "v");
    Print("held", DB::Open(Create(), name, &db));
    Print("held, destroy", leveldb::DestroyDB(name, Options()));
  }
  Options no_other = Create();
  no_other.error_if_exists = true;
  Print("exists", DB::Open(no_other, name, &db));

  struct Other final : leveldb::Comparator {
    int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
    const char* Name() const override { return "another"; }
    void FindShortestSeparator(std::string*, const Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
  } other;
  Options ordered;
  ordered.comparator = &other;
  PrintKind("another order", DB::Open(ordered, name, &db));
  PrintContents("still there", OpenOrDie(Options(), name).get(), ReadOptions());
  Print("destroyed", leveldb::DestroyDB(name, Options()));
  Print("destroyed twice", leveldb::DestroyDB(name, Options()));
  Print("missing again", DB::Open(Options(), name, &db));
  leveldb::DestroyDB(name, Options());
}

// --- Reads and writes ---

void ReadsAndWrites(DB* db) {
  std::printf("-- reads and writes\n");
  std::string value = "as it was";
  Print("absent", db->Get(ReadOptions(), "absent", &value));
  Print("absent, value", value);
  const std::string all_bytes = [] {
    std::string bytes;
    for (int i = 0; i < 256; i++) bytes.push_back(static_cast<char>(i));
    return bytes;
  }();
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"", "value of the empty key"},
      {"empty", ""},
      {std::string("nul\0nul", 7), "nul"},
      {"\xff\xff", "high"},
      {"\x80", "first high"},
      {all_bytes, all_bytes},
      {"again", "1"},
      {"again", "2"},
      {std::string(100000, 'k'), "a long key"}};
  for (const auto& pair : pairs) db->Put(WriteOptions(), pair.first, pair.second);
  WriteOptions sync;
  sync.sync = true;
  Print("sync", db->Put(sync, "sync", "1"));
  for (const auto& pair : pairs) {
    const Status status = db->Get(ReadOptions(), pair.first, &value);
    Print("get", status.ToString() + " " + Shown(pair.first) + " = " + Shown(value));
  }
  Print("delete", db->Delete(WriteOptions(), "again"));
  Print("delete absent", db->Delete(sync, "never there"));
  Print("deleted", db->Get(ReadOptions(), "again", &value));
  Random random(5);
  for (int i = 0; i < 4; i++) {
    db->Put(WriteOptions(), "big" + std::to_string(i), random.Bytes(1500000));
  }
  PrintContents("contents", db, ReadOptions());
  db->CompactRange(nullptr, nullptr);
  ReadOptions careful;
  careful.verify_checksums = true;
  careful.fill_cache = false;
  PrintContents("contents, compacted", db, careful);
  for (const auto& pair : pairs) {
    const Status status = db->Get(careful, pair.first, &value);
    Print("get", status.ToString() + " " + Shown(pair.first) + " = " + Shown(value));
  }
}

struct PrintingHandler final : WriteBatch::Handler {
  void Put(const Slice& key, const Slice& value) override {
    Print("  put", Shown(key) + " = " + Shown(value));
  }
  void Delete(const Slice& key) override { Print("  delete", Shown(key)); }
};

void Batches(DB* db) {
  std::printf("-- batches\n");
  PrintingHandler handler;
  WriteBatch batch;
  Print("empty, bytes", batch.ApproximateSize());
  Print("empty", batch.Iterate(&handler));
  Print("write empty", db->Write(WriteOptions(), &batch));
  batch.Put("b1", "one");
  batch.Delete("b1");
  batch.Put("b1", std::string(300, 'x'));
  batch.Put("", Slice("\0", 1));
  Print("bytes", batch.ApproximateSize());
  WriteBatch copy(batch);
  WriteBatch other;
  other.Put("b2", "two");
  other.Delete("absent");
  copy.Append(other);
  copy.Append(copy);
  Print("appended, bytes", copy.ApproximateSize());
  Print("appended", copy.Iterate(&handler));
  other = batch;
  batch.Clear();
  Print("cleared, bytes", batch.ApproximateSize());
  Print("assigned, bytes", other.ApproximateSize());
  Print("write", db->Write(WriteOptions(), &copy));
  Print("write again", db->Write(WriteOptions(), &copy));
  Print("bytes after writing", copy.ApproximateSize());
  PrintContents("contents", db, ReadOptions());
}

void All() {
  Values();
  Opening("store");
  {
    const std::unique_ptr<DB> db = OpenOrDie(Create(), "store");
    ReadsAndWrites(db.get());
    Batches(db.get());
    Iterators(db.get());
    Snapshots(db.get());
    Sizes(db.get());
  }
  PrintContents("reopened", OpenOrDie(Options(), "store").get(), ReadOptions());
  Print("destroyed", leveldb::DestroyDB("store", Options()));
  OwnOrderAndFilter("ordered");
  Caches();
  StoresWithCaches("cached");
  OwnEnv("own");
  InMemory();
  SystemEnv("env");
  Tables("table.ldb");
  Dumps("dumped");
  Repair("repaired");
  Threads("threads");
  StoreOverStore("below");
}

}  // namespace

}  // namespace program

int main(int argc, char** argv) {
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  program::All();
}
