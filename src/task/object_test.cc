// Objects of the log: their fields, versions and ends.
//
// Threads   one.
#include "task/object.h"

#include <gtest/gtest.h>

#include "task/compare.h"
#include "task/table_test_kit.h"

namespace weft::task {
namespace {

TEST(Compare, EveryLengthAndEveryPlaceOfADifference) {
  std::mt19937_64 random(TestSeed());
  // On the heap and of just the size, so that the address sanitizer sees a read past the end.
  for (u32 bytes = 0; bytes <= 250; bytes++) {
    std::vector<u8> a(bytes), b;
    for (u8& byte : a) byte = static_cast<u8>(random());
    b = a;
    ASSERT_TRUE(SameBytes(a.data(), b.data(), bytes)) << bytes;
    for (u32 i = 0; i < bytes; i++) {
      const u8 flip = static_cast<u8>(1u << (random() % 8));
      b[i] ^= flip;
      ASSERT_FALSE(SameBytes(a.data(), b.data(), bytes)) << bytes << " at " << i;
      b[i] ^= flip;
    }
  }
}

TEST(Compare, TwoDifferencesDoNotCancel) {
  std::vector<u8> a(40, 0), b(40, 0);
  for (u32 i = 0; i < 40; i++) {
    for (u32 j = i + 1; j < 40; j++) {
      b[i] = b[j] = 0xff;
      ASSERT_FALSE(SameBytes(a.data(), b.data(), 40)) << i << " " << j;
      b[i] = b[j] = 0;
    }
  }
}

TEST(Compare, PrefixIsAnotherKey) {
  TestLog log;
  const Object* object = ObjectAt(log.ref(), log.Add("abcdefghij", "klm"));
  EXPECT_TRUE(HasKey(object, Bytes("abcdefghij"), 10));
  EXPECT_FALSE(HasKey(object, Bytes("abcdefghi"), 9));
  EXPECT_FALSE(HasKey(object, Bytes("abcdefghijk"), 11));  // the value follows the key
  EXPECT_FALSE(HasKey(object, Bytes("abcdefghix"), 10));
}

// Lays an object out byte by byte, from the drawing in object.h alone.
struct Drawn {
  explicit Drawn(u32 extensions, u32 key_bytes, u32 value_bytes) : bytes(8, 0) {
    const bool is_long = (extensions & kShapeLongValue) != 0;
    shape = extensions | key_bytes << 20 | (is_long ? 0 : value_bytes);
    std::memcpy(bytes.data(), &shape, 4);
    if ((extensions & kShapeHasCas) != 0) Put(0x1122334455667788, 8);
    if ((extensions & kShapeHasFlags) != 0) Put(0xaabbccdd, 4);
    if ((extensions & kShapeHasExpiry) != 0) Put(0x01020304, 4);
    if (is_long) Put(value_bytes, 4);
    key_offset = static_cast<u32>(bytes.size());
    bytes.resize(bytes.size() + key_bytes, 'k');
    bytes.resize(bytes.size() + value_bytes, 'v');
    while (bytes.size() % 8 != 0) bytes.push_back(0);
    // An object lies at a multiple of 8, which new gives.
    at.reset(new u64[bytes.size() / 8]);
    std::memcpy(at.get(), bytes.data(), bytes.size());
  }
  void Put(u64 field, size_t size) {
    for (size_t i = 0; i < size; i++) bytes.push_back(static_cast<u8>(field >> (8 * i)));
  }
  const Object* object() const { return reinterpret_cast<const Object*>(at.get()); }

  u32 shape, key_offset;
  std::vector<u8> bytes;
  std::unique_ptr<u64[]> at;
};

TEST(Object, LayoutOfEveryCombinationOfExtensions) {
  for (u32 combination = 0; combination < 16; combination++) {
    const u32 extensions = combination << 28;
    for (const u32 key_bytes : {1u, 7u, 8u, 250u}) {
      for (const u32 value_bytes : {0u, 1u, 63u, 1000u, (1u << 20) - 1}) {
        const Drawn drawn(extensions, key_bytes, value_bytes);
        const Object* object = drawn.object();
        ASSERT_EQ(KeyBytes(object->shape), key_bytes);
        ASSERT_EQ(KeyOffset(object->shape), drawn.key_offset);
        ASSERT_EQ(ValueBytes(object), value_bytes);
        ASSERT_EQ(StoredBytes(object), drawn.bytes.size());
        ASSERT_EQ(ClientFlags(object), (extensions & kShapeHasFlags) != 0 ? 0xaabbccdd : 0);
        ASSERT_EQ(ExpiryOf(object), (extensions & kShapeHasExpiry) != 0 ? 0x01020304u : 0);
        if ((extensions & kShapeHasCas) != 0) {
          ASSERT_EQ(StoredCas(object), 0x1122334455667788u);
        }
        ASSERT_EQ(*KeyOf(object), 'k');
        ASSERT_EQ(KeyOf(object)[key_bytes - 1], 'k');
        ASSERT_EQ(ValueOf(object), KeyOf(object) + key_bytes);
        if (value_bytes != 0) {
          ASSERT_EQ(*ValueOf(object), 'v');
          ASSERT_EQ(ValueOf(object)[value_bytes - 1], 'v');
        }
      }
    }
  }
}

TEST(Object, AccessTimeWrapsAfterThirtySixHours) {
  const u32 access = WithAccessTime(kAccessStale | 0xfe000000u, 1'800'000'000);
  EXPECT_EQ(access & ~kAccessTimeMask, kAccessStale | 0xfe000000u);
  EXPECT_EQ(SecondsSinceAccess(access, 1'800'000'000), 0u);
  EXPECT_EQ(SecondsSinceAccess(access, 1'800'000'059), 59u);
  EXPECT_EQ(SecondsSinceAccess(access, 1'800'000'000 + (1u << 17) - 1), (1u << 17) - 1);
  EXPECT_EQ(SecondsSinceAccess(access, 1'800'000'000 + (1u << 17)), 0u);
}

void Note(Object* object, uint32_t now_s) {
  if (WantsReadNote(object->access, now_s)) NoteRead(object, now_s);
}

TEST(Object, ReadIsNotedAtFirstAndThenOnceAMinute) {
  Object object = {0, WithAccessTime(kAccessCasSeen, 1000)};
  Note(&object, 1010);
  EXPECT_EQ(object.access, WithAccessTime(kAccessCasSeen | kAccessFetched, 1010));
  Note(&object, 1069);
  EXPECT_EQ(AccessTime(object.access), 1010u);
  Note(&object, 1070);
  EXPECT_EQ(AccessTime(object.access), 1070u);
  NoteRead(&object, 1071);
  EXPECT_EQ(AccessTime(object.access), 1071u);
}

// A log of four segments of 16 units, with a version base each.
struct Versions {
  Versions() : words(64, 0) {}
  LogRef ref(u64 flush_floor) const {
    auto* const base = reinterpret_cast<u8*>(const_cast<u64*>(words.data()));
    return {base, bases, flush_floor, 4, 0, nullptr, nullptr};
  }
  Object* At(u64 location) { return reinterpret_cast<Object*>(&words[location]); }
  // Copied in, as the writer of objects does: a word of one type may not be read as another.
  void PutExpiry(u64 location, u32 expiry) { std::memcpy(&words[location + 1], &expiry, 4); }
  std::vector<u64> words;
  u64 bases[4] = {0, 1000, 500, 2000};
};

TEST(Log, VersionIsTheSegmentsBaseAndTheUnitWithin) {
  Versions log;
  EXPECT_EQ(CasOf(log.ref(0), 16), 1000u);
  EXPECT_EQ(CasOf(log.ref(0), 31), 1015u);
  EXPECT_EQ(CasOf(log.ref(0), 32), 500u);
  EXPECT_EQ(CasOf(log.ref(0), 50), 2002u);
}

TEST(Log, OwnVersionGoesBeforeTheSegments) {
  Versions log;
  log.At(20)->shape = kShapeHasCas | 1 << kShapeKeyShift;
  log.words[21] = 77;
  EXPECT_EQ(CasOf(log.ref(0), 20), 77u);
}

TEST(Log, FlushEndsWhatLiesBelowTheFloor) {
  Versions log;
  EXPECT_FALSE(IsFlushed(log.ref(0), 32));
  EXPECT_TRUE(IsFlushed(log.ref(501), 32));
  EXPECT_FALSE(IsFlushed(log.ref(500), 32));
  EXPECT_TRUE(IsEnded(log.ref(501), 32, log.At(32), 0));
  EXPECT_FALSE(IsEnded(log.ref(500), 32, log.At(32), 0));
}

TEST(Log, ObjectEndsAtItsSecond) {
  Versions log;
  Object* object = log.At(16);
  object->shape = kShapeHasExpiry | 1 << kShapeKeyShift;
  log.PutExpiry(16, 100);
  EXPECT_FALSE(IsEnded(log.ref(0), 16, object, 99));
  EXPECT_TRUE(IsEnded(log.ref(0), 16, object, 100));
  EXPECT_TRUE(IsEnded(log.ref(0), 16, object, 101));
  log.PutExpiry(16, 0);
  EXPECT_FALSE(IsEnded(log.ref(0), 16, object, 0xffffffff));
}

}  // namespace
}  // namespace weft::task
