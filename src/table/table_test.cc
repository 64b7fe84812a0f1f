// Threads   one.
#include "table/table.h"

#include <gtest/gtest.h>

#include <array>

#include "table/reader_test_kit.h"

namespace weft::table {
namespace {

// Bytes from the largest to the smallest.
class ReverseComparator final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
  const char* Name() const override { return "test.ReverseComparator"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

constexpr Compression kCompressions[] = {Compression::kNone, Compression::kSnappy,
                                         Compression::kZstd};

Model PlainModel(const Comparator* comparator, Strings* random, int entries) {
  Model model(ByComparator{comparator});
  for (int i = 0; i < entries; ++i) {
    model[random->Key()] = random->Below(4) == 0 ? random->Bytes(random->Below(200))
                                                 : random->Compressible(random->Below(400));
  }
  return model;
}

// Several versions a user key, some of them deletions.
Model StoreModel(const InternalComparator* comparator, Strings* random, int entries) {
  Model model(ByComparator{comparator});
  uint64_t sequence = 1;
  while (model.size() < static_cast<size_t>(entries)) {
    const std::string key = random->Key();
    for (uint64_t versions = 1 + random->Below(3); versions > 0; --versions, sequence += 2) {
      const bool deletion = random->Below(5) == 0;
      model[MakeInternalKey(key, sequence, deletion ? ValueType::kDeletion : ValueType::kValue)] =
          deletion ? "" : random->Compressible(random->Below(300));
    }
  }
  return model;
}

struct Shape {
  Compression compression;
  bool mapped;
  bool cached;
  int restart_interval;
  size_t block_size;
};

Shape RandomShape(Strings* random) {
  constexpr std::array<int, 4> kIntervals = {1, 2, 16, 1000};
  constexpr std::array<size_t, 4> kSizes = {1, 256, 4096, 1 << 20};
  return {kCompressions[random->Below(3)], random->Below(2) == 0, random->Below(2) == 0,
          kIntervals[random->Below(4)], kSizes[random->Below(4)]};
}

TableFormat FormatOf(const Shape& shape, const Comparator* comparator, const FilterPolicy* filter) {
  return {.comparator = comparator,
          .filter = filter,
          .block_size = shape.block_size,
          .block_restart_interval = shape.restart_interval,
          .compression = shape.compression};
}

template <typename Order>
void ExpectTableIsModel(const Shape& shape, const Order* order, const FilterPolicy* filter,
                        const Model& model, Strings* random, int steps = 300) {
  const auto cache = NewLruBlockCache(64 << 10);
  auto table = OpenTable({.order = order,
                          .filter = filter,
                          .cache = shape.cached ? cache.get() : nullptr,
                          .verify = true},
                         BuildTable(FormatOf(shape, order, filter), model), shape.mapped);
  ASSERT_TRUE(table) << table.error().ToString();
  ReadOptions options;
  options.verify_checksums = random->Below(2) == 0;
  options.fill_cache = random->Below(2) == 0;
  const auto it = (*table)->NewIterator(options);
  ASSERT_FALSE(it->Valid());
  ASSERT_NO_FATAL_FAILURE(ExpectForward(model, it.get()));
  ASSERT_NO_FATAL_FAILURE(ExpectBackward(model, it.get()));
  const auto target = [&] {
    if (model.empty() || random->Below(2) == 0) {
      const std::string key = random->Key();
      return KeyOrder(order).is_internal() ? MakeInternalKey(key, random->Below(1000), kTypeForSeek)
                                           : key;
    }
    auto at = model.begin();
    std::advance(at, static_cast<ptrdiff_t>(random->Below(model.size())));
    return at->first;
  };
  ASSERT_NO_FATAL_FAILURE(ExpectRandomWalk(model, it.get(), random, steps, target));
  uint64_t entries = 0;
  const Status status = (*table)->Verify(&entries);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(entries, model.size());
}

// What a lookup of `key` should find among internal keys.
void ExpectLookup(const Model& model, const InternalComparator& order, const TableLookup& lookup,
                  bool may_be_filtered) {
  ASSERT_TRUE(lookup.status.ok()) << lookup.status.ToString();
  const auto at = model.lower_bound(std::string(lookup.key));
  if (at == model.end() || order.CompareUser(UserKey(at->first), UserKey(lookup.key)) != 0) {
    ASSERT_TRUE(lookup.found == TableLookup::Found::kNothing ||
                (may_be_filtered && lookup.found == TableLookup::Found::kFiltered));
    return;
  }
  ParsedKey parsed;
  ASSERT_TRUE(ParseInternalKey(at->first, &parsed));
  ASSERT_EQ(lookup.sequence, parsed.sequence);
  if (parsed.type == ValueType::kDeletion) {
    ASSERT_EQ(lookup.found, TableLookup::Found::kDeletion);
  } else {
    ASSERT_EQ(lookup.found, TableLookup::Found::kValue);
    ASSERT_EQ(lookup.value, at->second);
  }
}

void ExpectLookups(const Shape& shape, const InternalComparator* order, const FilterPolicy* filter,
                   const Model& model, Strings* random) {
  const auto cache = NewLruBlockCache(64 << 10);
  auto table =
      OpenTable({.order = order, .filter = filter, .cache = shape.cached ? cache.get() : nullptr},
                BuildTable(FormatOf(shape, order, filter), model), shape.mapped);
  ASSERT_TRUE(table) << table.error().ToString();
  std::vector<std::string> keys;
  for (const auto& [key, value] : model) {
    keys.push_back(key);
    keys.push_back(MakeInternalKey(UserKey(key), random->Below(2000), kTypeForSeek));
    keys.push_back(MakeInternalKey(random->Key(), kSequenceMax, kTypeForSeek));
  }
  std::vector<TableLookup> lookups(keys.size());
  std::vector<TableLookup*> all;
  for (size_t i = 0; i < keys.size(); ++i) {
    TableLookup one{.table = table->get(), .key = keys[i]};
    (*table)->Get({}, &one);
    ASSERT_NO_FATAL_FAILURE(ExpectLookup(model, *order, one, filter != nullptr));
    lookups[i].table = table->get();
    lookups[i].key = keys[i];
    all.push_back(&lookups[i]);
  }
  for (size_t at = 0; at < all.size();) {
    const size_t taken = std::min<size_t>(all.size() - at, random->Below(100));
    Table::MultiGet({}, std::span(all).subspan(at, taken));
    at += taken;
  }
  for (const TableLookup& lookup : lookups) {
    ASSERT_NO_FATAL_FAILURE(ExpectLookup(model, *order, lookup, filter != nullptr));
  }
}

TEST(Table, IteratesAsAMapInBothDirections) {
  Strings random(TestSeed());
  const ReverseComparator reverse;
  const InternalComparator store(BytewiseComparator());
  const InternalComparator store_reverse(&reverse);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    const Shape shape = RandomShape(&random);
    const int entries = round < 4 ? round : static_cast<int>(random.Below(600));
    const Comparator* plain = round % 2 == 0 ? BytewiseComparator() : &reverse;
    ASSERT_NO_FATAL_FAILURE(
        ExpectTableIsModel(shape, plain, nullptr, PlainModel(plain, &random, entries), &random));
    const InternalComparator* internal = round % 3 == 0 ? &store_reverse : &store;
    ASSERT_NO_FATAL_FAILURE(ExpectTableIsModel(shape, internal, nullptr,
                                               StoreModel(internal, &random, entries), &random));
  }
}

TEST(Table, FindsTheNewestEntryNotAboveASequence) {
  Strings random(TestSeed());
  const ReverseComparator reverse;
  const InternalComparator store(BytewiseComparator());
  const InternalComparator store_reverse(&reverse);
  const InternalFilterPolicy bloom(NewBloomFilterPolicy(10));
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    const InternalComparator* internal = round % 3 == 0 ? &store_reverse : &store;
    const Model model = StoreModel(internal, &random, static_cast<int>(random.Below(400)));
    ASSERT_NO_FATAL_FAILURE(ExpectLookups(RandomShape(&random), internal,
                                          round % 2 == 0 ? &bloom : nullptr, model, &random));
  }
}

TEST(Table, KeepsMegabytesAndEmptiness) {
  Strings random(TestSeed());
  const InternalComparator store(BytewiseComparator());
  Model model(ByComparator{&store});
  model[MakeInternalKey("", 1, ValueType::kValue)] = "";
  model[MakeInternalKey("", 2, ValueType::kValue)] = random.Compressible(5 << 20);
  model[MakeInternalKey(random.Bytes(3 << 20), 3, ValueType::kValue)] = "x";
  model[MakeInternalKey(std::string(2 << 20, '\xff'), 4, ValueType::kValue)] =
      random.Bytes(2 << 20);
  model[MakeInternalKey(std::string(2 << 20, '\xff') + "y", 5, ValueType::kValue)] = "";
  for (Compression compression : kCompressions) {
    const Shape shape{compression, true, true, 16, 4096};
    ASSERT_NO_FATAL_FAILURE(ExpectTableIsModel(shape, &store, nullptr, model, &random, 20));
    ASSERT_NO_FATAL_FAILURE(ExpectLookups(shape, &store, nullptr, model, &random));
  }
}

// Reads all that can be read. True where nothing failed and everything is as in the model.
bool ReadsAs(const Model& model, const InternalComparator& order, const FilterPolicy* filter,
             std::string contents, bool mapped) {
  auto table =
      OpenTable({.order = &order, .filter = filter, .verify = true}, std::move(contents), mapped);
  if (!table) return false;
  const ReadOptions options{.verify_checksums = true};
  const auto it = (*table)->NewIterator(options);
  auto at = model.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++at) {
    EXPECT_NE(at, model.end());
    EXPECT_EQ(it->key(), at->first);
    EXPECT_EQ(it->value(), at->second);
  }
  if (!it->status().ok()) return false;
  EXPECT_EQ(at, model.end());
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
  }
  if (!it->status().ok()) return false;
  for (const auto& [key, value] : model) {
    TableLookup lookup{.key = key};
    (*table)->Get(options, &lookup);
    if (lookup.found == TableLookup::Found::kError) return false;
    ExpectLookup(model, order, lookup, false);
  }
  uint64_t entries = 0;
  if (!(*table)->Verify(&entries).ok()) return false;
  EXPECT_EQ(entries, model.size());
  return true;
}

TEST(Table, EveryByteChangedIsAnErrorOrChangesNothing) {
  Strings random(TestSeed());
  const InternalComparator order(BytewiseComparator());
  const InternalFilterPolicy bloom(NewBloomFilterPolicy(10));
  const Model model = StoreModel(&order, &random, 24);
  for (Compression compression : kCompressions) {
    const std::string whole = BuildTable(
        {.comparator = &order, .filter = &bloom, .block_size = 512, .compression = compression},
        model);
    ASSERT_TRUE(ReadsAs(model, order, &bloom, whole, true));
    size_t unnoticed = 0;
    for (size_t at = 0; at < whole.size(); ++at) {
      SCOPED_TRACE(at);
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ (1 << random.Below(8)));
      unnoticed += ReadsAs(model, order, &bloom, changed, at % 2 == 0) ? 1 : 0;
      ASSERT_FALSE(testing::Test::HasFailure());
    }
    // The footer's bytes that fill it up are no one's.
    EXPECT_LE(unnoticed, 2 * kHandleBytesMax);
  }
}

TEST(Table, EveryLengthButTheWholeIsAnError) {
  Strings random(TestSeed());
  const InternalComparator order(BytewiseComparator());
  const Model model = StoreModel(&order, &random, 10);
  const std::string whole = BuildTable({.comparator = &order, .block_size = 256}, model);
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    ASSERT_FALSE(ReadsAs(model, order, nullptr, whole.substr(0, bytes), bytes % 2 == 0)) << bytes;
  }
}

TEST(Table, ErrorsNameFileAndOffset) {
  Strings random(TestSeed());
  const Model model = PlainModel(BytewiseComparator(), &random, 100);
  std::string contents = BuildTable({.block_size = 256, .compression = Compression::kNone}, model);
  contents[10] = static_cast<char>(contents[10] ^ 1);
  auto table = OpenTable({}, contents);
  ASSERT_TRUE(table);
  const auto it = (*table)->NewIterator({.verify_checksums = true});
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ(it->status().ToString(), "corruption: test.ldb: block at 0: checksum mismatch");
  it->SeekToLast();
  EXPECT_TRUE(it->Valid()) << "the other blocks are whole";
  EXPECT_TRUE(it->status().ok());
}

TEST(Table, ADamagedFilterIsPassedOverUnlessAllIsVerified) {
  Strings random(TestSeed());
  const auto bloom = NewBloomFilterPolicy(10);
  const Model model = PlainModel(BytewiseComparator(), &random, 200);
  std::string contents =
      BuildTable({.filter = bloom.get(), .compression = Compression::kNone}, model);
  uint64_t data_end = 0;
  {
    auto table = OpenTable({.filter = bloom.get()}, contents);
    ASSERT_TRUE(table);
    EXPECT_TRUE((*table)->has_filter());
    (*table)->ForEachDataBlock([&](const Table::DataBlock& block) {
      data_end = block.handle.offset + block.handle.bytes + kBlockTrailerBytes;
      return true;
    });
  }
  contents[data_end + 3] = static_cast<char>(contents[data_end + 3] ^ 1);
  EXPECT_FALSE(OpenTable({.filter = bloom.get(), .verify = true}, contents));
  auto table = OpenTable({.filter = bloom.get()}, contents);
  ASSERT_TRUE(table);
  EXPECT_FALSE((*table)->has_filter());
  EXPECT_EQ((*table)->filter_status().code(), Code::kCorruption);
  for (const auto& [key, value] : model) {
    TableLookup lookup{.key = key};
    (*table)->Get({}, &lookup);
    ASSERT_EQ(lookup.found, TableLookup::Found::kValue);
    ASSERT_EQ(lookup.value, value);
  }
}

TEST(Table, TellsWhereKeysLieAboutAndWhatItsBlocksAre) {
  Model model(ByComparator{BytewiseComparator()});
  for (int i = 1000; i < 2000; ++i) model[std::to_string(i)] = std::string(100, 'v');
  const std::string contents = BuildTable({.compression = Compression::kNone}, model);
  auto table = OpenTable({}, contents);
  ASSERT_TRUE(table);
  uint64_t before = 0;
  for (const auto& [key, value] : model) {
    const uint64_t offset = (*table)->ApproximateOffsetOf(key);
    ASSERT_GE(offset, before);
    before = offset;
  }
  EXPECT_EQ((*table)->ApproximateOffsetOf(""), 0u);
  EXPECT_NEAR(static_cast<double>((*table)->ApproximateOffsetOf("1500")), 52'000, 4'500);
  const uint64_t end = (*table)->ApproximateOffsetOf("3");
  EXPECT_GT(end, 104'000u);
  EXPECT_LT(end, contents.size());

  uint64_t blocks = 0;
  uint64_t at = 0;
  (*table)->ForEachDataBlock([&](const Table::DataBlock& block) {
    EXPECT_EQ(block.handle.offset, at);
    at += block.handle.bytes + kBlockTrailerBytes;
    ++blocks;
    return true;
  });
  EXPECT_EQ(blocks, (*table)->data_blocks());
  EXPECT_EQ(at, end);
  (*table)->ForEachDataBlock([&](const Table::DataBlock&) {
    --blocks;
    return false;
  });
  EXPECT_EQ(blocks + 1, (*table)->data_blocks());
}

TEST(Table, BlocksInMemoryOfTheirOwnStayInTheCache) {
  Strings random(TestSeed());
  const Model model = PlainModel(BytewiseComparator(), &random, 500);
  const auto cache = NewLruBlockCache(1 << 20);
  auto table = OpenTable({.cache = cache.get()}, BuildTable({}, model), false);
  ASSERT_TRUE(table);
  const auto it = (*table)->NewIterator({.fill_cache = false});
  ASSERT_NO_FATAL_FAILURE(ExpectForward(model, it.get()));
  EXPECT_EQ(cache->TotalCharge(), 0u);
  TableLookup lookup{.key = model.begin()->first};
  (*table)->Get({}, &lookup);
  const size_t charge = cache->TotalCharge();
  EXPECT_GT(charge, 0u);
  cache->Prune();
  EXPECT_EQ(cache->TotalCharge(), charge) << "the answer holds its block";
  EXPECT_EQ(lookup.value, model.begin()->second);
  (*table)->Get({}, &lookup);
  EXPECT_EQ(cache->TotalCharge(), charge) << "found again, not read again";
  lookup.Begin();
  cache->Prune();
  EXPECT_EQ(cache->TotalCharge(), 0u);
}

TEST(Table, LongScansAskTheFileAhead) {
  Strings random(TestSeed());
  Model model(ByComparator{BytewiseComparator()});
  for (int i = 0; i < 4000; ++i) model[random.Bytes(16)] = random.Bytes(1000);
  auto file = std::make_unique<MemoryFile>(BuildTable({}, model), true);
  const MemoryFile* looked_at = file.get();
  const uint64_t bytes = file->Mapped().size();
  auto table = Table::Open({}, std::move(file), bytes, "test.ldb");
  ASSERT_TRUE(table);
  const auto it = (*table)->NewIterator({});
  it->SeekToFirst();
  EXPECT_EQ(looked_at->asked_ahead(), 0);
  ASSERT_NO_FATAL_FAILURE(ExpectForward(model, it.get()));
  EXPECT_GT(looked_at->asked_ahead(), 4);
  EXPECT_LT(looked_at->asked_ahead(), 40);
}

TEST(FetchPace, TellsSlowFromFastAndBack) {
  FetchPace pace;
  for (int i = 0; i < 100; ++i) pace.Note(500);
  EXPECT_FALSE(pace.slow());
  for (int i = 0; i < 10; ++i) pace.Note(100'000);
  EXPECT_TRUE(pace.slow());
  for (int i = 0; i < 10; ++i) pace.Note(5'000);
  EXPECT_TRUE(pace.slow());
  for (int i = 0; i < 30; ++i) pace.Note(500);
  EXPECT_FALSE(pace.slow());
}

}  // namespace
}  // namespace weft::table
