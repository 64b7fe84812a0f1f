#include "cache/object_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

TEST(ObjectWriter, AgreesWithTheTasksOnEveryCombinationOfExtensions) {
  for (uint32_t combination = 0; combination < 8; combination++) {
    for (const size_t key_bytes : {1, 8, 250}) {
      for (const size_t value_bytes : {0, 1, 100, (1 << 20) - 1, 1 << 20, 3 << 20}) {
        ObjectSpec spec;
        const std::string key(key_bytes, 'k'), value(value_bytes, 'v');
        spec.key = key;
        spec.head = std::string_view(value).substr(0, value_bytes / 3);
        spec.tail = std::string_view(value).substr(value_bytes / 3);
        spec.has_cas = (combination & 1) != 0;
        spec.cas = spec.has_cas ? 0x1122334455667788 : 0;
        spec.client_flags = (combination & 2) != 0 ? 0xffffffff : 0;
        spec.expiry = (combination & 4) != 0 ? 1'800'000'000 : 0;
        spec.access = kAccessBinary | kAccessStale;
        const uint64_t bytes = SpecBytes(spec);
        ASSERT_EQ(bytes % 8, 0u);
        const auto words = std::make_unique<uint64_t[]>(bytes / 8);
        task::Object* object = reinterpret_cast<task::Object*>(words.get());
        WriteObject(object, spec);

        ASSERT_EQ(task::StoredBytes(object), bytes);
        ASSERT_EQ((object->shape & kShapeLongValue) != 0, value_bytes > kShapeValueMask);
        ASSERT_EQ(object->access, spec.access);
        ASSERT_EQ(task::ClientFlags(object), spec.client_flags);
        ASSERT_EQ(task::ExpiryOf(object), spec.expiry);
        ASSERT_EQ(KeyView(object), key);
        ASSERT_EQ(ValueView(object), value);
        const ObjectSpec read = SpecOf(object);
        ASSERT_EQ(read.has_cas, spec.has_cas);
        ASSERT_EQ(read.cas, spec.cas);
        ASSERT_EQ(read.key, key);
        ASSERT_EQ(SpecBytes(read), bytes);
      }
    }
  }
}

TEST(ObjectWriter, ACopyHasEverythingExceptThePlaceInABatchAndTheDeath) {
  for (const uint32_t access : {0u, 0x7ffff7u, kAccessUnseen, kAccessDead, 0xffffffu}) {
    ObjectSpec spec;
    spec.key = "a key";
    spec.head = "a value of more than one word";
    spec.has_cas = true;
    spec.cas = 77;
    spec.access = access;
    const uint64_t bytes = SpecBytes(spec);
    std::vector<uint64_t> from(bytes / 8), to(bytes / 8 + 1, 5);
    WriteObject(reinterpret_cast<task::Object*>(from.data()), spec);
    auto* const copy = reinterpret_cast<task::Object*>(to.data());
    CopyObject(copy, reinterpret_cast<const task::Object*>(from.data()), bytes);
    EXPECT_EQ(copy->access, access & ~(kAccessUnseen | kAccessDead));
    copy->access = access;
    EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
    EXPECT_EQ(to.back(), 5u) << "nothing behind it";
  }
}

TEST(ObjectWriter, CommonObjectHasEightBytesOfHeader) {
  ObjectSpec spec;
  spec.key = "12345678";
  spec.head = "12345678";
  EXPECT_EQ(SpecBytes(spec), 8u + 16u);
}

}  // namespace
}  // namespace weft::cache
