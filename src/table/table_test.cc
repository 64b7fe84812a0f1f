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

}  // namespace
}  // namespace weft::table
