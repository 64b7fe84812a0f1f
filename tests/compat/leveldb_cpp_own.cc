// Orders, filters and caches that a program brings, and those it asks for.
#include <atomic>
#include <cctype>
#include <map>
#include <mutex>
#include <vector>

#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/filter_policy.h"
#include "leveldb_cpp.h"

namespace program {

// --- What a program gives ---

// Case does not count: "a" and "A" are one key.
class CaseBlind final : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    return Folded(a).compare(Folded(b));
  }
  const char* Name() const override { return "program.CaseBlind"; }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    if (Folded(*start).compare(Folded(limit)) < 0 && start->size() > 1) separators++;
  }
  void FindShortSuccessor(std::string*) const override { successors++; }

  mutable std::atomic<int> separators{0};
  mutable std::atomic<int> successors{0};

 private:
  static std::string Folded(const Slice& key) {
    std::string text = key.ToString();
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
  }
};

// One bit a first letter, case-blind as the order is.
class FirstLetter final : public leveldb::FilterPolicy {
 public:
  const char* Name() const override { return "program.FirstLetter"; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    char bits[4] = {};
    for (int i = 0; i < n; i++) bits[Bit(keys[i]) / 8] |= static_cast<char>(1 << Bit(keys[i]) % 8);
    dst->append(bits, sizeof bits);
    made++;
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    asked++;
    return filter.size() < 4 || (filter[Bit(key) / 8] >> Bit(key) % 8 & 1) != 0;
  }
  mutable std::atomic<int> made{0};
  mutable std::atomic<int> asked{0};

 private:
  static int Bit(const Slice& key) { return key.empty() ? 0 : (key[0] | 0x20) & 31; }
};

void OwnOrderAndFilter(const std::string& name) {
  std::printf("-- own order and filter\n");
  CaseBlind order;
  FirstLetter filter;
  Options options = Create();
  options.comparator = &order;
  options.filter_policy = &filter;
  options.write_buffer_size = 64 << 10;
  {
    const std::unique_ptr<DB> db = OpenOrDie(options, name);
    Random random(13);
    for (int i = 0; i < 5000; i++) {
      std::string key = NumberedKey(random.Below(2000));
      if (random.OneIn(2)) key[0] = 'K';
      if (random.OneIn(4)) key[1] = 'E';
      db->Put(WriteOptions(), key, random.Bytes(50));
    }
    db->CompactRange(nullptr, nullptr);
    PrintContents("contents", db.get(), ReadOptions());
  }
  const std::unique_ptr<DB> db = OpenOrDie(options, name);
  PrintContents("contents, reopened", db.get(), ReadOptions());
  int found = 0;
  std::string value;
  for (uint64_t i = 0; i < 2000; i++) {
    found += db->Get(ReadOptions(), "KeY" + NumberedKey(i).substr(3), &value).ok();
    found += 10000 * db->Get(ReadOptions(), "x" + NumberedKey(i), &value).ok();
  }
  Print("found", static_cast<uint64_t>(found));
  std::printf("called %d %d %d %d\n", order.separators > 0, order.successors > 0, filter.made > 0,
              filter.asked > 0);

  const leveldb::FilterPolicy* bloom = leveldb::NewBloomFilterPolicy(10);
  std::string bits = "kept";
  std::vector<Slice> keys = {"hello", "world", "\xff\x80", ""};
  bloom->CreateFilter(keys.data(), static_cast<int>(keys.size()), &bits);
  Print("bloom", std::string(bloom->Name()) + " " + Shown(bits));
  bits.erase(0, 4);
  std::printf("bloom %d %d %d %d\n", bloom->KeyMayMatch("hello", bits),
              bloom->KeyMayMatch("\xff\x80", bits), bloom->KeyMayMatch("x", bits),
              bloom->KeyMayMatch("x", ""));
  delete bloom;
}

std::map<int, int> deleted_values;
void DeleteValue(const Slice& key, void* value) {
  deleted_values[static_cast<int>(key.size())] +=
      static_cast<int>(reinterpret_cast<intptr_t>(value));
}
void* ValueOf(int number) { return reinterpret_cast<void*>(static_cast<intptr_t>(number)); }

void Caches() {
  std::printf("-- caches\n");
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1600));
  for (int i = 1; i <= 5; i++) {
    cache->Release(
        cache->Insert(std::string(static_cast<size_t>(i), 'k'), ValueOf(i), 10, &DeleteValue));
  }
  Print("charge", cache->TotalCharge());
  leveldb::Cache::Handle* held = cache->Lookup("kk");
  Print("held", static_cast<uint64_t>(reinterpret_cast<intptr_t>(cache->Value(held))));
  cache->Erase("kk");
  cache->Erase("none");
  Print("erased", cache->Lookup("kk") == nullptr);
  Print("not deleted yet", static_cast<uint64_t>(deleted_values[2]));
  cache->Release(held);
  Print("deleted", static_cast<uint64_t>(deleted_values[2]));
  cache->Release(cache->Insert("k", ValueOf(100), 10, &DeleteValue));
  Print("replaced", static_cast<uint64_t>(deleted_values[1]));
  held = cache->Lookup("kkk");
  cache->Prune();
  Print("pruned", static_cast<uint64_t>(deleted_values[1]));
  Print("held, charge", cache->TotalCharge());
  cache->Release(held);
  for (int i = 0; i < 1000; i++) {
    cache->Release(
        cache->Insert(NumberedKey(static_cast<uint64_t>(i)), ValueOf(1), 10, &DeleteValue));
  }
  std::printf("bounded %d\n", cache->TotalCharge() <= 1600 + 16 * 10);
  const uint64_t id = cache->NewId();
  std::printf("another id %d\n", cache->NewId() != id);
  cache.reset();
  Print("all deleted", static_cast<uint64_t>(deleted_values[11]));
}

// Keeps all: counts what is asked of it.
class KeepAll final : public leveldb::Cache {
 public:
  ~KeepAll() override {
    for (auto& entry : entries_) entry.second->deleter(entry.first, entry.second->value);
  }
  Handle* Insert(const Slice& key, void* value, size_t charge,
                 void (*deleter)(const Slice& key, void* value)) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    inserts++;
    charge_ += charge;
    std::unique_ptr<Entry>& entry = entries_[key.ToString()];
    if (entry != nullptr) old_.push_back(std::move(entry));
    entry.reset(new Entry{value, deleter});  // freed by the map
    return reinterpret_cast<Handle*>(entry.get());
  }
  Handle* Lookup(const Slice& key) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    lookups++;
    const auto found = entries_.find(key.ToString());
    if (found == entries_.end()) return nullptr;
    hits++;
    return reinterpret_cast<Handle*>(found->second.get());
  }
  void Release(Handle*) override { releases++; }
  void* Value(Handle* handle) override { return reinterpret_cast<Entry*>(handle)->value; }
  void Erase(const Slice&) override {}
  uint64_t NewId() override { return ++ids_; }
  size_t TotalCharge() const override { return charge_; }

  std::atomic<int> inserts{0}, lookups{0}, hits{0}, releases{0};

 private:
  struct Entry {
    void* value;
    void (*deleter)(const Slice& key, void* value);
  };
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Entry>> old_;
  size_t charge_ = 0;
  std::atomic<uint64_t> ids_{0};
};

void StoresWithCaches(const std::string& name) {
  const std::unique_ptr<leveldb::Cache> lru(leveldb::NewLRUCache(4 << 20));
  const std::unique_ptr<KeepAll> own(new KeepAll);
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  for (leveldb::Cache* cache : {lru.get(), static_cast<leveldb::Cache*>(own.get())}) {
    Options options = Create();
    options.block_cache = cache;
    options.filter_policy = bloom.get();
    const std::unique_ptr<DB> db = OpenOrDie(options, name);
    Fill(db.get(), 3000, 100, 17);
    db->CompactRange(nullptr, nullptr);
    int found = 0;
    std::string value;
    for (int round = 0; round < 2; round++) {
      for (uint64_t i = 0; i < 4000; i++)
        found += db->Get(ReadOptions(), NumberedKey(i), &value).ok();
    }
    Print("found with cache", static_cast<uint64_t>(found));
    std::printf("in the cache %d\n", cache->TotalCharge() > 100000);
    PrintContents("contents", db.get(), ReadOptions());
  }
  std::printf("own cache %d %d %d %d\n", own->inserts > 10, own->lookups > 1000, own->hits > 1000,
              own->releases == own->inserts + own->hits);
}

}  // namespace program
