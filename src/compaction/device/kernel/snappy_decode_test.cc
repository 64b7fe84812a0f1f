#include "compaction/device/kernel/snappy_decode.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <cstdint>
#include <string>
#include <vector>

#include "table/file_test_kit.h"

namespace weft::compaction::device {
namespace {

// Whether it opens, and to what; guarded by bytes around it.
bool Open(const std::string& stored, size_t opened_bytes, std::string* opened) {
  constexpr size_t kGuard = 64;
  std::vector<uint8_t> room(opened_bytes + 2 * kGuard, 0xa5);
  const std::vector<uint8_t> from(stored.begin(), stored.end());  // of its own: sanitizers see more
  SnappyDecoder decoder(from.data(), static_cast<uint32_t>(from.size()), room.data() + kGuard,
                        static_cast<uint32_t>(opened_bytes));
  const bool opens = decoder.Run();
  for (size_t i = 0; i < kGuard; i++) {
    EXPECT_EQ(0xa5, room[i]);
    EXPECT_EQ(0xa5, room[room.size() - 1 - i]);
  }
  opened->assign(reinterpret_cast<const char*>(room.data()) + kGuard, opened_bytes);
  return opens;
}

void ExpectAsTheLibrary(const std::string& stored) {
  size_t bytes = 0;
  if (!snappy::GetUncompressedLength(stored.data(), stored.size(), &bytes) || bytes > 1u << 20)
    return;
  std::string theirs, ours;
  const bool theirs_opens = snappy::Uncompress(stored.data(), stored.size(), &theirs);
  ASSERT_EQ(theirs_opens, Open(stored, bytes, &ours));
  ASSERT_TRUE(!theirs_opens || theirs == ours);
}

// Of every kind of element: runs, repeats near and far, and what does not repeat.
std::string AnyBlock(table::Strings* strings, size_t parts_max, size_t most) {
  std::string block;
  const size_t parts = strings->Below(parts_max + 1);
  for (size_t i = 0; i < parts; i++) {
    switch (strings->Below(4)) {
      case 0: block += strings->Bytes(strings->Below(300)); break;
      case 1:
        block += std::string(strings->Below(200), static_cast<char>(strings->Below(256)));
        break;
      case 2: block += block.substr(strings->Below(block.size() + 1), strings->Below(100)); break;
      default: block += strings->Bytes(strings->Below(most)); break;
    }
  }
  return block;
}

TEST(SnappyDecode, OpensWhatTheLibraryMakes) {
  table::Strings strings(table::TestSeed());
  for (int i = 0; i < 500; i++) {
    const std::string block = AnyBlock(&strings, 30, 70'000);
    std::string stored;
    snappy::Compress(block.data(), block.size(), &stored);
    std::string opened;
    ASSERT_TRUE(Open(stored, block.size(), &opened)) << i;
    ASSERT_TRUE(opened == block) << i;
    EXPECT_FALSE(Open(stored, block.size() + 1, &opened)) << "of another length";
    EXPECT_TRUE(block.empty() || !Open(stored, block.size() - 1, &opened));
  }
}

TEST(SnappyDecode, OpensWhatTheLibraryOpensAndNothingElse) {
  table::Strings strings(table::TestSeed() + 1);
  for (int i = 0; i < 5000 && !HasFatalFailure(); i++) {
    const std::string block = AnyBlock(&strings, 8, 300);
    std::string stored;
    snappy::Compress(block.data(), block.size(), &stored);
    for (size_t flips = 1 + strings.Below(3); flips > 0; flips--)
      stored[strings.Below(stored.size())] = static_cast<char>(strings.Below(256));
    if (strings.Below(4) == 0) stored.resize(strings.Below(stored.size() + 1));
    ExpectAsTheLibrary(stored);
  }
}

// Literals with lengths of one to four bytes, and copies of all three kinds, by hand.
TEST(SnappyDecode, KnowsAllElements) {
  const std::string abcd = "abcd";
  for (int bytes = 1; bytes <= 4; bytes++) {
    std::string stored = {4, static_cast<char>((59 + bytes) << 2), 3};
    stored += std::string(static_cast<size_t>(bytes - 1), '\0') + abcd;
    std::string opened;
    EXPECT_TRUE(Open(stored, 4, &opened)) << bytes;
    EXPECT_EQ(abcd, opened);
  }
  std::string stored = {4 + 5 + 7 + 9, 3 << 2};
  stored += abcd;
  stored += {(5 - 4) << 2 | 1, 2};           // cdcdc
  stored += {(7 - 1) << 2 | 2, 9, 0};        // abcdcdc
  stored += {(9 - 1) << 2 | 3, 1, 0, 0, 0};  // c, nine times
  std::string opened;
  EXPECT_TRUE(Open(stored, 25, &opened));
  EXPECT_EQ("abcdcdcdcabcdcdcccccccccc", opened);
  ExpectAsTheLibrary(stored);
  for (const std::string& bad :
       {std::string({4, 1, 0}), std::string({4, 3 << 2, 'a', 1 << 2 | 1, 0}),
        std::string({'\x80', '\x80', '\x80', '\x80', '\x80', 0})})
    EXPECT_FALSE(Open(bad, 4, &opened));
}

}  // namespace
}  // namespace weft::compaction::device
