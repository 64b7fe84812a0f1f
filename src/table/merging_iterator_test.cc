#include "table/merging_iterator.h"

#include <gtest/gtest.h>

#include "table/reader_test_kit.h"
#include "table/run_iterator.h"

namespace weft::table {
namespace {

Model EmptyModel() { return Model(ByComparator{BytewiseComparator()}); }

// Over a map; may fail at a key, either way it is come upon.
class MapIterator final : public Iterator {
 public:
  explicit MapIterator(const Model& model, std::string fails_at = "no such key")
      : model_(model), fails_at_(std::move(fails_at)), at_(model_.end()) {}

  bool Valid() const override { return at_ != model_.end() && status().ok(); }
  void SeekToFirst() override { at_ = model_.begin(); }
  void SeekToLast() override { at_ = model_.empty() ? model_.end() : std::prev(model_.end()); }
  void Seek(std::string_view target) override { at_ = model_.lower_bound(std::string(target)); }
  void Next() override { ++at_; }
  void Prev() override { at_ = at_ == model_.begin() ? model_.end() : std::prev(at_); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  Status status() const override {
    if (at_ != model_.end() && at_->first == fails_at_) return {Code::kCorruption, "test"};
    return {};
  }

 private:
  const Model model_;
  const std::string fails_at_;
  Model::const_iterator at_;
};

TEST(MergingIterator, OfNothingIsEmptyAndOfOneIsThatOne) {
  const auto none = NewMergingIterator(BytewiseComparator(), {});
  none->SeekToFirst();
  EXPECT_FALSE(none->Valid());
  EXPECT_TRUE(none->status().ok());
  EXPECT_EQ(NewEmptyIterator({Code::kIoError, "test"})->status().code(), Code::kIoError);

  std::vector<std::unique_ptr<Iterator>> children;
  children.push_back(std::make_unique<MapIterator>(EmptyModel()));
  const Iterator* child = children[0].get();
  EXPECT_EQ(NewMergingIterator(BytewiseComparator(), std::move(children)).get(), child);
}

TEST(MergingIterator, MergesAsOneMapWouldWhicheverWayItTurns) {
  Strings random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const uint64_t parts = 1 + random.Below(9);
    std::vector<Model> models(parts, EmptyModel());
    Model all = EmptyModel();
    for (uint64_t i = random.Below(200); i > 0; --i) {
      const std::string key = random.Key();
      if (all.contains(key)) continue;
      all[key] = random.Bytes(4);
      models[random.Below(parts)][key] = all[key];
    }
    std::vector<std::unique_ptr<Iterator>> children;
    for (const Model& model : models) children.push_back(std::make_unique<MapIterator>(model));
    const auto it = NewMergingIterator(BytewiseComparator(), std::move(children));
    ASSERT_NO_FATAL_FAILURE(ExpectForward(all, it.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectBackward(all, it.get()));
    ASSERT_NO_FATAL_FAILURE(
        ExpectRandomWalk(all, it.get(), &random, 500, [&] { return random.Key(); }));
  }
}

TEST(MergingIterator, EqualKeysComeInTheOrderOfTheChildrenBothWays) {
  Strings random(TestSeed());
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    // Each child says of all its keys who it is.
    std::vector<std::pair<std::string, std::string>> all;
    std::vector<std::unique_ptr<Iterator>> children;
    for (int c = 0; c < 4; ++c) {
      Model model = EmptyModel();
      for (int i = 0; i < 6; ++i) model[std::to_string(random.Below(8))] = std::to_string(c);
      for (const auto& entry : model) all.push_back(entry);
      children.push_back(std::make_unique<MapIterator>(model));
    }
    std::sort(all.begin(), all.end());
    const auto it = NewMergingIterator(BytewiseComparator(), std::move(children));
    it->SeekToFirst();
    size_t at = 0;
    for (int step = 0; step < 200 && at < all.size(); ++step) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->key(), all[at].first) << step;
      ASSERT_EQ(it->value(), all[at].second) << step;
      if (at > 0 && random.Below(2) == 0) {
        it->Prev();
        --at;
      } else {
        it->Next();
        ++at;
      }
    }
    EXPECT_EQ(it->Valid(), at < all.size());
  }
}

TEST(MergingIterator, AChildThatFailsEndsTheWhole) {
  Model model = EmptyModel();
  model["a"] = model["c"] = model["e"] = "1";
  Model other = EmptyModel();
  other["b"] = other["d"] = other["f"] = "2";
  const auto make = [&] {
    std::vector<std::unique_ptr<Iterator>> children;
    children.push_back(std::make_unique<MapIterator>(model, "c"));
    children.push_back(std::make_unique<MapIterator>(other));
    return NewMergingIterator(BytewiseComparator(), std::move(children));
  };
  const auto it = make();
  it->SeekToFirst();
  EXPECT_EQ(it->key(), "a");
  it->Next();
  EXPECT_FALSE(it->Valid()) << "c may hide what others have";
  EXPECT_EQ(it->status().code(), Code::kCorruption);
  it->Seek("d");
  EXPECT_EQ(it->key(), "d");
  EXPECT_TRUE(it->status().ok()) << "a seek starts anew";
  it->Next();
  EXPECT_EQ(it->key(), "e");
  it->Prev();
  EXPECT_FALSE(it->Valid()) << "c may come after d";
  EXPECT_EQ(it->status().code(), Code::kCorruption);
}

// Tables of a model, cut anywhere; table `fails` does not open.
class TestRun final : public TableRun {
 public:
  static constexpr size_t kNone = ~size_t{0};

  TestRun(const Model& model, Strings* random, size_t fails) : fails_(fails) {
    Model part = EmptyModel();
    for (const auto& entry : model) {
      part.insert(entry);
      if (random->Below(20) == 0) Add(&part);
    }
    if (!part.empty()) Add(&part);
  }
  size_t size() const override { return tables_.size(); }
  std::string_view LargestKey(size_t i) const override { return largest_[i]; }
  Result<std::shared_ptr<const Table>> Open(size_t i) override {
    if (i == fails_) return Status(Code::kIoError, "test");
    return tables_[i];
  }

 private:
  void Add(Model* part) {
    auto table = OpenTable({}, BuildTable({.block_size = 200}, *part));
    ASSERT_TRUE(table);
    tables_.push_back(std::move(*table));
    largest_.push_back(part->rbegin()->first);
    part->clear();
  }

  const size_t fails_;
  std::vector<std::shared_ptr<const Table>> tables_;
  std::vector<std::string> largest_;
};

TEST(RunIterator, WalksItsTablesAsOneMap) {
  Strings random(TestSeed());
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(round);
    Model model = EmptyModel();
    for (uint64_t i = round == 0 ? 0 : random.Below(400); i > 0; --i) {
      model[random.Key()] = random.Bytes(random.Below(40));
    }
    const auto it = NewRunIterator(BytewiseComparator(), {},
                                   std::make_unique<TestRun>(model, &random, TestRun::kNone));
    ASSERT_NO_FATAL_FAILURE(ExpectForward(model, it.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectBackward(model, it.get()));
    ASSERT_NO_FATAL_FAILURE(
        ExpectRandomWalk(model, it.get(), &random, 500, [&] { return random.Key(); }));
  }
}

TEST(RunIterator, ATableThatDoesNotOpenEndsIt) {
  Strings random(TestSeed());
  Model model = EmptyModel();
  for (int i = 0; i < 200; ++i) model[random.Key()] = "v";
  const auto it =
      NewRunIterator(BytewiseComparator(), {}, std::make_unique<TestRun>(model, &random, 1));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
  }
  EXPECT_EQ(it->status().code(), Code::kIoError);
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
  EXPECT_TRUE(it->status().ok());
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
  }
  EXPECT_EQ(it->status().code(), Code::kIoError);
}

}  // namespace
}  // namespace weft::table
