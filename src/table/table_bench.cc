// The table reader on a store's worth of tables in a memory file system: nine tables of 64 MiB,
// keys of 16 bytes, values of 256, blocks of 4 KiB, Bloom filters of 10 bits a key. Beside it,
// where it is installed, LevelDB's reader on the same files.
#include <benchmark/benchmark.h>

#ifdef WEFT_TEST_LEVELDB
#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "table/merging_iterator.h"
#include "table/run_iterator.h"
#include "table/table.h"
#include "table/table_builder.h"
#include "table/table_iterator.h"
#include "weft/file_system.h"

namespace weft::table {
namespace {

constexpr uint64_t kTables = 9;
constexpr uint64_t kEntriesOfTable = 236'000;
constexpr uint64_t kEntries = kTables * kEntriesOfTable;
constexpr size_t kValueBytes = 256;

std::string UserKeyOf(uint64_t i) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llu", static_cast<unsigned long long>(i));
  return text;
}

// Tables of every second number, so that the odd ones are misses.
class Tables {
 public:
  static Tables& Get(Compression compression) {
    static Tables uncompressed(Compression::kNone);
    if (compression == Compression::kNone) return uncompressed;
    static Tables snappy(Compression::kSnappy);
    return snappy;
  }

  const Table& TableOf(uint64_t i) const { return *tables_[i / kEntriesOfTable]; }
  std::shared_ptr<const Table> table(size_t t) const { return tables_[t]; }
  const InternalComparator& comparator() const { return comparator_; }
  const std::string& path(size_t t) const { return paths_[t]; }

 private:
  explicit Tables(Compression compression)
      : comparator_(BytewiseComparator()), filter_(NewBloomFilterPolicy(10)) {
    const char* folder = std::getenv("WEFT_BENCH_DIR");
    for (uint64_t t = 0; t < kTables; ++t) {
      paths_.push_back(std::string(folder != nullptr ? folder : "/dev/shm") + "/weft_table_bench_" +
                       std::to_string(static_cast<int>(compression)) + "_" + std::to_string(t));
      Build(compression, t);
      Open(t);
    }
  }
  ~Tables() {
    for (const std::string& path : paths_) (void)PosixFileSystem()->RemoveFile(path);
  }

  void Build(Compression compression, uint64_t t) {
    auto file = PosixFileSystem()->NewWritableFile(paths_[t], FileUse::kTable);
    WEFT_CHECK(file);
    TableFormat format;
    format.comparator = &comparator_;
    format.filter = &filter_;
    format.compression = compression;
    TableBuilder builder(format, file->get());
    std::mt19937_64 random(t);
    std::string value(kValueBytes, '\0');
    for (uint64_t i = t * kEntriesOfTable; i < (t + 1) * kEntriesOfTable; ++i) {
      // Half of it compresses.
      for (size_t at = 0; at < kValueBytes / 2; ++at) value[at] = static_cast<char>(random());
      builder.Add(MakeInternalKey(UserKeyOf(2 * i), i + 1, ValueType::kValue), value);
    }
    WEFT_CHECK(builder.Finish().ok() && (*file)->Close().ok());
  }

  void Open(uint64_t t) {
    auto file = PosixFileSystem()->NewRandomAccessFile(paths_[t]);
    auto bytes = PosixFileSystem()->GetFileSize(paths_[t]);
    WEFT_CHECK(file && bytes);
    auto table = Table::Open({.order = &comparator_, .filter = &filter_, .cache = cache_.get()},
                             std::move(*file), *bytes, paths_[t]);
    WEFT_CHECK(table);
    tables_.push_back(std::move(*table));
  }

  const InternalComparator comparator_;
  const InternalFilterPolicy filter_;
  const std::shared_ptr<BlockCache> cache_ = NewLruBlockCache(8u << 20);
  std::vector<std::string> paths_;
  std::vector<std::shared_ptr<const Table>> tables_;
};

std::vector<uint64_t> RandomNumbers(size_t count) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> numbers(count);
  for (uint64_t& number : numbers) number = random() % kEntries;
  return numbers;
}

// Args: compression, 1: absent keys.
void BM_Get(benchmark::State& state) {
  const Tables& tables = Tables::Get(static_cast<Compression>(state.range(0)));
  const std::vector<uint64_t> numbers = RandomNumbers(1 << 20);
  size_t at = 0;
  std::string key;
  std::string value;
  uint64_t hits = 0;
  for (auto _ : state) {
    const uint64_t i = numbers[at++ & (numbers.size() - 1)];
    key.clear();
    AppendInternalKey(&key, UserKeyOf(2 * i + static_cast<uint64_t>(state.range(1))), kSequenceMax,
                      kTypeForSeek);
    TableLookup lookup{.key = key};
    tables.TableOf(i).Get({}, &lookup);
    if (lookup.found == TableLookup::Found::kValue) {
      value.assign(lookup.value);
      ++hits;
    }
  }
  state.counters["hits"] = static_cast<double>(hits) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_Get)->Args({0, 0})->Args({0, 1})->Args({1, 0});

// Args: compression, keys in a group. Time is of one key.
void BM_MultiGet(benchmark::State& state) {
  const Tables& tables = Tables::Get(static_cast<Compression>(state.range(0)));
  const std::vector<uint64_t> numbers = RandomNumbers(1 << 20);
  const auto group = static_cast<size_t>(state.range(1));
  std::vector<std::string> keys(group);
  std::vector<TableLookup> lookups(group);
  std::vector<TableLookup*> pointers;
  for (TableLookup& lookup : lookups) pointers.push_back(&lookup);
  std::vector<std::string> values(group);
  size_t at = 0;
  while (state.KeepRunningBatch(static_cast<int64_t>(group))) {
    for (size_t k = 0; k < group; ++k) {
      const uint64_t i = numbers[at++ & (numbers.size() - 1)];
      keys[k].clear();
      AppendInternalKey(&keys[k], UserKeyOf(2 * i), kSequenceMax, kTypeForSeek);
      lookups[k].table = &tables.TableOf(i);
      lookups[k].key = keys[k];
    }
    Table::MultiGet({}, pointers);
    for (size_t k = 0; k < group; ++k) values[k].assign(lookups[k].value);
  }
}
BENCHMARK(BM_MultiGet)->Args({0, 1})->Args({0, 8})->Args({0, 32})->Args({0, 128})->Args({1, 32});

class BenchRun final : public TableRun {
 public:
  explicit BenchRun(const Tables& tables) : tables_(tables) {
    for (uint64_t t = 0; t < kTables; ++t) {
      largest_.push_back(MakeInternalKey(UserKeyOf(2 * ((t + 1) * kEntriesOfTable - 1)),
                                         (t + 1) * kEntriesOfTable, ValueType::kValue));
    }
  }
  size_t size() const override { return kTables; }
  std::string_view LargestKey(size_t t) const override { return largest_[t]; }
  Result<std::shared_ptr<const Table>> Open(size_t t) override { return tables_.table(t); }

 private:
  const Tables& tables_;
  std::vector<std::string> largest_;
};

std::unique_ptr<Iterator> RunOf(const Tables& tables) {
  return NewRunIterator(&tables.comparator(), {}, std::make_unique<BenchRun>(tables));
}

template <typename Step>
void Scan(benchmark::State& state, Iterator* it, bool forward, const Step& step) {
  uint64_t bytes = 0;
  for (auto _ : state) {
    if (!it->Valid()) {
      if (forward) {
        it->SeekToFirst();
      } else {
        it->SeekToLast();
      }
    }
    benchmark::DoNotOptimize(it->key().data());
    benchmark::DoNotOptimize(it->value().data());
    bytes += it->key().size() + it->value().size();
    step(it);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}

// Arg: compression.
void BM_ScanForward(benchmark::State& state) {
  const auto it = RunOf(Tables::Get(static_cast<Compression>(state.range(0))));
  Scan(state, it.get(), true, [](Iterator* moved) { moved->Next(); });
}
BENCHMARK(BM_ScanForward)->Arg(0)->Arg(1);

void BM_ScanBackward(benchmark::State& state) {
  const auto it = RunOf(Tables::Get(Compression::kNone));
  Scan(state, it.get(), false, [](Iterator* moved) { moved->Prev(); });
}
BENCHMARK(BM_ScanBackward);

// Arg: children, one after the other in the keys' order.
void BM_MergeInTurn(benchmark::State& state) {
  const Tables& tables = Tables::Get(Compression::kNone);
  std::vector<std::unique_ptr<Iterator>> children;
  for (int64_t t = 0; t < state.range(0); ++t) {
    children.push_back(tables.table(static_cast<size_t>(t))->NewIterator({}));
  }
  const auto it = NewMergingIterator(&tables.comparator(), std::move(children));
  Scan(state, it.get(), true, [](Iterator* moved) { moved->Next(); });
}
BENCHMARK(BM_MergeInTurn)->Arg(2)->Arg(9);

// Arg: copies of one run, so that the front changes with every step.
void BM_MergeMixed(benchmark::State& state) {
  const Tables& tables = Tables::Get(Compression::kNone);
  std::vector<std::unique_ptr<Iterator>> children;
  for (int64_t t = 0; t < state.range(0); ++t) children.push_back(RunOf(tables));
  const auto it = NewMergingIterator(&tables.comparator(), std::move(children));
  Scan(state, it.get(), true, [](Iterator* moved) { moved->Next(); });
}
BENCHMARK(BM_MergeMixed)->Arg(2)->Arg(8);

// Iterators that seek: a new one for each key.
void BM_Seek(benchmark::State& state) {
  const Tables& tables = Tables::Get(Compression::kNone);
  const std::vector<uint64_t> numbers = RandomNumbers(1 << 20);
  size_t at = 0;
  std::string key;
  for (auto _ : state) {
    const uint64_t i = numbers[at++ & (numbers.size() - 1)];
    key.clear();
    AppendInternalKey(&key, UserKeyOf(2 * i), kSequenceMax, kTypeForSeek);
    const auto it = tables.TableOf(i).NewIterator({});
    it->Seek(key);
    benchmark::DoNotOptimize(it->Valid());
  }
}
BENCHMARK(BM_Seek);

void BM_Open(benchmark::State& state) {
  const Tables& tables = Tables::Get(Compression::kNone);
  const InternalFilterPolicy filter(NewBloomFilterPolicy(10));
  for (auto _ : state) {
    auto file = PosixFileSystem()->NewRandomAccessFile(tables.path(0));
    auto bytes = PosixFileSystem()->GetFileSize(tables.path(0));
    auto table = Table::Open({.order = &tables.comparator(), .filter = &filter}, std::move(*file),
                             *bytes, tables.path(0));
    benchmark::DoNotOptimize(table.has_value());
  }
}
BENCHMARK(BM_Open)->Unit(benchmark::kMicrosecond);

#ifdef WEFT_TEST_LEVELDB

// LevelDB's reader of our files: the same order of keys, written on its bytewise one.
class LevelDbOrder final : public leveldb::Comparator {
 public:
  const char* Name() const override { return "leveldb.InternalKeyComparator"; }
  int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override {
    const int order = User(a).compare(User(b));
    if (order != 0) return order;
    const uint64_t newer = base::DecodeFixed64(a.data() + a.size() - kTrailerBytes);
    const uint64_t older = base::DecodeFixed64(b.data() + b.size() - kTrailerBytes);
    return newer > older ? -1 : newer < older ? 1 : 0;
  }
  void FindShortestSeparator(std::string*, const leveldb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static leveldb::Slice User(const leveldb::Slice& key) {
    return {key.data(), key.size() - kTrailerBytes};
  }
};

class LevelDbTables {
 public:
  explicit LevelDbTables(const Tables& tables) {
    options_.comparator = &order_;
    for (uint64_t t = 0; t < kTables; ++t) {
      leveldb::RandomAccessFile* file = nullptr;
      uint64_t bytes = 0;
      WEFT_CHECK(leveldb::Env::Default()->NewRandomAccessFile(tables.path(t), &file).ok());
      WEFT_CHECK(leveldb::Env::Default()->GetFileSize(tables.path(t), &bytes).ok());
      files_.emplace_back(file);
      leveldb::Table* table = nullptr;
      WEFT_CHECK(leveldb::Table::Open(options_, file, bytes, &table).ok());
      tables_.emplace_back(table);
    }
  }
  leveldb::Table* TableOf(uint64_t i) const { return tables_[i / kEntriesOfTable].get(); }

 private:
  const LevelDbOrder order_;
  leveldb::Options options_;
  std::vector<std::unique_ptr<leveldb::RandomAccessFile>> files_;
  std::vector<std::unique_ptr<leveldb::Table>> tables_;
};

void BM_LevelDbSeek(benchmark::State& state) {
  const LevelDbTables tables(Tables::Get(Compression::kNone));
  const std::vector<uint64_t> numbers = RandomNumbers(1 << 20);
  size_t at = 0;
  std::string key;
  std::string value;
  for (auto _ : state) {
    const uint64_t i = numbers[at++ & (numbers.size() - 1)];
    key.clear();
    AppendInternalKey(&key, UserKeyOf(2 * i), kSequenceMax, kTypeForSeek);
    const std::unique_ptr<leveldb::Iterator> it(tables.TableOf(i)->NewIterator({}));
    it->Seek(key);
    value.assign(it->value().data(), it->value().size());
  }
}
BENCHMARK(BM_LevelDbSeek);

void BM_LevelDbScan(benchmark::State& state) {
  const LevelDbTables tables(Tables::Get(Compression::kNone));
  std::unique_ptr<leveldb::Iterator> it(tables.TableOf(0)->NewIterator({}));
  const bool forward = state.range(0) == 0;
  for (auto _ : state) {
    if (!it->Valid()) {
      if (forward) {
        it->SeekToFirst();
      } else {
        it->SeekToLast();
      }
    }
    benchmark::DoNotOptimize(it->key().data());
    benchmark::DoNotOptimize(it->value().data());
    if (forward) {
      it->Next();
    } else {
      it->Prev();
    }
  }
}
BENCHMARK(BM_LevelDbScan)->Arg(0)->Arg(1);

#endif  // WEFT_TEST_LEVELDB

}  // namespace
}  // namespace weft::table

BENCHMARK_MAIN();
