// How much of an object each kind of size unit asks for, and when.

#include "sim/prefetch/pscu.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/prefetch/dynamic_pscu.h"
#include "sim/prefetch/exact_pscu.h"
#include "sim/prefetch/prefetch_test_kit.h"
#include "sim/prefetch/static_pscu.h"

namespace weft::sim {
namespace {

using testing::ElementsAre;

// Line by byte, the slow way.
uint64_t TouchedLines(uint64_t addr, uint64_t bytes) {
  std::set<uint64_t> lines;
  for (uint64_t byte = addr; byte < addr + bytes; ++byte) lines.insert(byte / 64);
  return lines.size();
}

TEST(Pscu, LinesAreThoseThatBytesTouch) {
  std::mt19937_64 random(TestSeed());
  StoreShape shape = SmallShape();
  for (int i = 0; i < 3000; ++i) {
    const TableSlot object{.addr = random() % 100'000,
                           .bytes = static_cast<uint32_t>(1 + random() % 1200)};
    const uint64_t bytes = 1 + random() % 1100;
    shape.object_overhead_bytes = static_cast<int>(random() % 80);
    shape.long_object_bytes = static_cast<int>(random() % 2 * 256);
    const uint64_t whole = bytes + static_cast<uint64_t>(shape.object_overhead_bytes);
    const uint64_t length_byte = shape.long_object_bytes > 0 && whole >= 256 ? 1 : 0;
    ASSERT_EQ(ExactPscu().LinesAtOnce(object), TouchedLines(object.addr, object.bytes));
    ASSERT_EQ(StaticPscu(bytes, SizeMode::kRaw, shape).LinesAtOnce(object),
              TouchedLines(object.addr, bytes));
    ASSERT_EQ(StaticPscu(bytes, SizeMode::kValue, shape).LinesAtOnce(object),
              TouchedLines(object.addr, whole + length_byte));
    ASSERT_EQ(shape.ValueBytes(shape.ObjectBytes(bytes)), bytes);
  }
}

TEST(Pscu, AStaticSizeThatIsTheValuesCoversTheObject) {
  const StoreShape shape = SmallShape();
  // RAMCloud's objects with 23-byte keys.
  EXPECT_EQ(shape.ObjectBytes(128), 180u);
  EXPECT_EQ(shape.ObjectBytes(256), 309u);
  EXPECT_EQ(shape.ObjectBytes(512), 565u);
  double lines = 0;
  for (const uint64_t value : {128u, 256u, 512u}) {
    const auto bytes = static_cast<uint32_t>(shape.ObjectBytes(value));
    for (uint64_t addr = 0; addr < 64; ++addr) {
      const TableSlot object{.addr = addr, .bytes = bytes};
      ASSERT_EQ(StaticPscu(value, SizeMode::kValue, shape).LinesAtOnce(object),
                ExactPscu().LinesAtOnce(object));
      if (value == 128) lines += static_cast<double>(ExactPscu().LinesAtOnce(object)) / 64;
    }
  }
  EXPECT_NEAR(lines, 3.80, 0.005);
}

TEST(Pscu, ARawSizeMissesTheEnd) {
  UnitDriver driver(
      {.pacu = "exhausted", .pscu = "static:128", .exhausted_max = 1, .size_mode = "raw"});
  driver.ReadBucket(0, 0);
  EXPECT_EQ(driver.TakeAsked().size(), 3u);  // from 20 to 148
  EXPECT_EQ(driver.counts().lines_missing, 1);
  EXPECT_EQ(driver.counts().lines_excess, 0);
  EXPECT_EQ(driver.counts().lines_asked, 3);
}

TEST(Pscu, ALargerStaticSizeAsksBeyondTheEnd) {
  UnitDriver driver({.pacu = "exhausted", .pscu = "static:512", .exhausted_max = 1});
  driver.ReadBucket(0, 0);
  EXPECT_EQ(driver.TakeAsked().size(), 10u);  // from 20 to 585
  EXPECT_EQ(driver.counts().lines_missing, 0);
  EXPECT_EQ(driver.counts().lines_excess, 6);
}

class RuntimePscuTest : public testing::Test {
 protected:
  static constexpr Time kRead = 100 * kNs;

  static PrefetchOptions Options(int first) {
    return {.pacu = "exhausted", .pscu = "runtime", .exhausted_max = 1, .spec_first = first};
  }
  static std::vector<UnitDriver::When> LinesOf(const UnitDriver& driver, uint64_t from, uint64_t to,
                                               Time at) {
    std::vector<UnitDriver::When> lines;
    for (; from < to; ++from) lines.push_back({FirstLineOf(driver.shape, 0, 0) + from, at});
    return lines;
  }
};

TEST_F(RuntimePscuTest, AsksForTheRestWhenTheFirstLineHasCome) {
  UnitDriver driver(Options(1));
  driver.ReadBucket(0, kRead);
  driver.RunTo(kRead);
  ASSERT_EQ(driver.asked.size(), 1u);
  const uint64_t id = driver.asked[0].id;
  EXPECT_EQ(driver.TakeAsked(), LinesOf(driver, 0, 1, kRead));
  EXPECT_EQ(driver.unit().NextEvent(), kNever);
  driver.Arrive(id, 170 * kNs);
  EXPECT_EQ(driver.unit().NextEvent(), 172 * kNs);
  EXPECT_EQ(driver.TakeAsked(), LinesOf(driver, 1, 4, 172 * kNs));
  EXPECT_EQ(driver.counts().lines_asked, 4);
  EXPECT_EQ(driver.counts().lines_missing, 0);
  EXPECT_EQ(driver.counts().lines_excess, 0);
}

TEST_F(RuntimePscuTest, TheRestsLinesBringNothingMore) {
  UnitDriver driver(Options(1));
  driver.ReadBucket(0, kRead);
  driver.RunTo(kRead);
  driver.Arrive(driver.asked[0].id, 170 * kNs);
  driver.RunTo(172 * kNs);
  ASSERT_EQ(driver.asked.size(), 4u);
  for (size_t i = 0; i < 4; ++i) driver.Arrive(driver.asked[i].id, 200 * kNs);
  EXPECT_EQ(driver.unit().NextEvent(), kNever);
}

TEST_F(RuntimePscuTest, ADroppedFirstLineEndsTheObject) {
  UnitDriver driver(Options(1));
  driver.ReadBucket(0, kRead);
  driver.RunTo(kRead);
  driver.Arrive(driver.asked[0].id, 110 * kNs, true);
  EXPECT_EQ(driver.TakeAsked().size(), 1u);
  EXPECT_EQ(driver.counts().first_lines_lost, 1);
  EXPECT_EQ(driver.counts().lines_missing, 3);
}

TEST_F(RuntimePscuTest, MayAskForSomeLinesBeforeItKnows) {
  UnitDriver driver(Options(3));
  driver.ReadBucket(0, kRead);
  driver.RunTo(kRead);
  ASSERT_EQ(driver.asked.size(), 3u);
  driver.Arrive(driver.asked[1].id, 150 * kNs);  // has no size
  driver.Arrive(driver.asked[0].id, 170 * kNs);
  auto expected = LinesOf(driver, 0, 3, kRead);
  for (const auto& each : LinesOf(driver, 3, 4, 172 * kNs)) expected.push_back(each);
  EXPECT_EQ(driver.TakeAsked(), expected);

  UnitDriver more(Options(6));
  more.ReadBucket(0, kRead);
  more.RunTo(kRead);
  more.Arrive(more.asked[0].id, 170 * kNs);
  EXPECT_EQ(more.TakeAsked(), LinesOf(more, 0, 6, kRead));
  EXPECT_EQ(more.counts().lines_excess, 2);
}

TEST_F(RuntimePscuTest, OfManyObjectsEachWaitsForItsOwn) {
  UnitDriver driver({.pacu = "exhausted", .pscu = "runtime", .exhausted_max = 2, .size_ns = 7});
  driver.ReadBucket(0, kRead);
  driver.RunTo(kRead);
  ASSERT_EQ(driver.asked.size(), 2u);
  driver.Arrive(driver.asked[1].id, 150 * kNs);
  driver.ReadBucket(1, 155 * kNs);  // in between
  driver.Arrive(driver.asked[0].id, 160 * kNs);
  std::vector<Time> times;
  for (const auto& each : driver.TakeAsked()) times.push_back(each.at / kNs);
  EXPECT_THAT(times, ElementsAre(100, 100, 155, 155, 157, 157, 157, 167, 167, 167));
}

TEST(SizeRegister, HasTheMeanOfEachWindow) {
  SizeRegister size(4);
  const auto learn = [&](std::vector<uint64_t> values) {
    int writes = 0;
    for (const uint64_t value : values) writes += size.Learn(value);
    return writes;
  };
  EXPECT_EQ(size.bytes(), 64u);
  EXPECT_EQ(learn({512, 512, 512}), 0);
  EXPECT_EQ(size.bytes(), 64u);
  EXPECT_EQ(learn({512}), 1);
  EXPECT_EQ(size.bytes(), 512u);
  EXPECT_EQ(learn({128, 128, 256, 512}), 1);
  EXPECT_EQ(size.bytes(), 256u);
  learn({128, 128, 256, 513});  // 256.25
  EXPECT_EQ(size.bytes(), 320u);
  learn({0, 0, 0, 0});
  EXPECT_EQ(size.bytes(), 64u);
}

TEST(DynamicPscu, LearnsFromHitsOfAllControllers) {
  UnitDriver driver({.pacu = "exhausted", .pscu = "dynamic", .exhausted_max = 1, .prof_window = 3},
                    SmallShape(), 8, 1, 2);
  const auto lines = [&] {
    driver.ReadBucket(0, 0);
    return driver.TakeAsked().size();
  };
  EXPECT_EQ(lines(), 3u);  // 64 + 52 bytes, from 20 to 136
  driver.table.At(5, 2).bytes = 565;
  driver.table.At(5, 3).is_chain = true;
  driver.Hit(5, 2, 1);
  driver.Hit(5, kNoSlot, 1);
  driver.Hit(5, 3, 1);
  driver.made.units.at(1)->OnMark(HitMark(4, 0), 0, 2);  // 128
  EXPECT_EQ(lines(), 3u);
  driver.Hit(4, 0, 3);
  // (512 + 128 + 128) / 3 = 256: 309 bytes, from 20 to 329.
  EXPECT_EQ(lines(), 6u);
  EXPECT_EQ(driver.counts().size_registrations, 1);
  EXPECT_EQ(driver.made.counts.at(1)->size_registrations, 0);
  EXPECT_EQ(driver.made.Total().size_registrations, 1);
}

TEST(DynamicPscu, ARawSizeIsTakenAsItIs) {
  UnitDriver driver({.pacu = "exhausted",
                     .pscu = "dynamic",
                     .exhausted_max = 1,
                     .size_mode = "raw",
                     .prof_window = 1});
  driver.Hit(0, 0, 0);
  driver.ReadBucket(0, 1);
  EXPECT_EQ(driver.TakeAsked().size(), 3u);  // 128 bytes, from 20 to 148
}

}  // namespace
}  // namespace weft::sim
