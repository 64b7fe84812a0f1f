#include "bench/trace/byte_source.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "base/seed_test_kit.h"
#include "bench/trace/trace_test_kit.h"

namespace weft::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ByteSourceTest : public TraceTest {
 protected:
  // All that can be read, in pieces of `piece` bytes; then *status says why no more.
  static std::string AllOf(const std::string& path, size_t piece, Status* status) {
    auto source = ByteSource::Open(path);
    if (!source) {
      *status = source.error();
      return "";
    }
    std::string all;
    while (true) {
      auto ahead = (*source)->Ahead(piece);
      if (!ahead) {
        *status = ahead.error();
        return all + std::string((*source)->ready());
      }
      if (ahead->empty()) return all;
      const std::string_view taken = ahead->substr(0, piece);
      all += taken;
      (*source)->Take(taken.size());
    }
  }
  void ExpectReads(std::string_view bytes, const std::string& expected) {
    const std::string path = Write("bytes", bytes);
    for (const size_t piece : {size_t{1000}, ByteSource::kAheadBytesMax}) {
      Status status;
      EXPECT_EQ(AllOf(path, piece, &status) == expected, true);
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
  }
};

// Some that can be compressed and some that cannot.
std::string SomeBytes(size_t bytes) {
  std::mt19937_64 random(base::TestSeed(7));
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) {
    text[i] = i % 100'000 < 50'000 ? "abc"[i % 3] : static_cast<char>(random());
  }
  return text;
}

TEST_F(ByteSourceTest, PlainFilesAreReadAsTheyAre) {
  ExpectReads("", "");
  ExpectReads("a", "a");
  for (const size_t bytes : {65'535, 65'536, 65'537, 131'072, 300'001}) {
    ExpectReads(SomeBytes(bytes), SomeBytes(bytes));
  }
}

TEST_F(ByteSourceTest, CompressedFilesAreDecompressed) {
  const std::string text = SomeBytes(400'000);
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    ExpectReads(Compressed(kind, ""), "");
    ExpectReads(Compressed(kind, "a"), "a");
    ExpectReads(Compressed(kind, text), text);
  }
}

TEST_F(ByteSourceTest, MembersBehindEachOtherAreOne) {
  const std::string text = SomeBytes(200'000);
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    ExpectReads(Compressed(kind, text) + Compressed(kind, "") + Compressed(kind, "xyz"),
                text + "xyz");
  }
}

TEST_F(ByteSourceTest, FramesOfZstdWithoutDataArePassedOver) {
  const auto known = KnownCompressions();
  if (std::count(known.begin(), known.end(), Compression::kZstd) == 0) GTEST_SKIP() << "no zstd";
  const std::string frame = std::string("\x50\x2a\x4d\x18\4\0\0\0", 8) + "abcd";
  ExpectReads(frame + Compressed(Compression::kZstd, "x") + frame, "x");
}

TEST_F(ByteSourceTest, AFileCutShortIsDamagedWhereItEnds) {
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::string whole = Compressed(kind, SomeBytes(5'000));
    for (size_t bytes = 7; bytes < whole.size(); bytes += 1 + whole.size() / 61) {
      const std::string path = Write("cut", std::string_view(whole).substr(0, bytes));
      Status status;
      const std::string read = AllOf(path, 100, &status);
      EXPECT_TRUE(SomeBytes(5'000).starts_with(read));
      EXPECT_EQ(status.code(), Code::kCorruption);
      EXPECT_EQ(status.message(),
                path + ": byte " + std::to_string(bytes) + ": the compressed data end early");
    }
  }
}

TEST_F(ByteSourceTest, ABitThatIsWrongIsFound) {
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::string text = SomeBytes(60'000).substr(45'000);
    const std::string whole = Compressed(kind, text);
    for (size_t at = 12; at < whole.size(); at += 1 + whole.size() / 61) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 4);
      const std::string path = Write("damaged", damaged);
      Status status;
      AllOf(path, 100, &status);
      EXPECT_EQ(status.code(), Code::kCorruption) << at;
      EXPECT_THAT(std::string(status.message()), StartsWith(path + ": byte "));
    }
  }
}

TEST_F(ByteSourceTest, WhatFollowsTheLastMemberIsDamage) {
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::string path = Write("more", Compressed(kind, "abc") + "and more of it");
    Status status;
    EXPECT_EQ(AllOf(path, 1, &status), "abc");
    EXPECT_EQ(status.code(), Code::kCorruption);
  }
}

TEST_F(ByteSourceTest, WhatStandsBeforeDamageCanBeRead) {
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    const std::string text = SomeBytes(400'000);
    std::string whole = Compressed(kind, text);
    whole.resize(whole.size() - 1);
    auto source = ByteSource::Open(Write("cut", whole));
    ASSERT_TRUE(source) << source.error().ToString();
    auto ahead = (*source)->Ahead(1000);
    ASSERT_TRUE(ahead) << ahead.error().ToString();
    EXPECT_EQ(ahead->substr(0, 1000), text.substr(0, 1000));
  }
}

TEST_F(ByteSourceTest, ItSaysHowMuchIsLeftWhereItKnows) {
  auto plain = ByteSource::Open(Write("plain", SomeBytes(300'000)));
  EXPECT_EQ((*plain)->BytesLeft(), 300'000u);
  EXPECT_TRUE((*plain)->Ahead(10));
  (*plain)->Take(10);
  EXPECT_EQ((*plain)->BytesLeft(), 299'990u);
  for (const Compression kind : KnownCompressions()) {
    SCOPED_TRACE(static_cast<int>(kind));
    auto small = ByteSource::Open(Write("small", Compressed(kind, "abc")));
    EXPECT_EQ((*small)->compression(), kind);
    EXPECT_EQ((*small)->BytesLeft(), std::nullopt);
    EXPECT_TRUE((*small)->Ahead(1));
    EXPECT_EQ((*small)->BytesLeft(), 3u);
    auto large = ByteSource::Open(Write("large", Compressed(kind, SomeBytes(300'000))));
    EXPECT_TRUE((*large)->Ahead(1));
    EXPECT_EQ((*large)->BytesLeft(), std::nullopt);
  }
}

TEST_F(ByteSourceTest, FilesThatAreNoneAreErrors) {
  EXPECT_EQ(ByteSource::Open(folder_ / "nothing").error().code(), Code::kNotFound);
  EXPECT_EQ(ByteSource::Open(folder_.path()).error().code(), Code::kIoError);
}

TEST_F(ByteSourceTest, WithoutALibraryItsPackageIsNamed) {
  const auto known = KnownCompressions();
  for (const auto& [kind, start, package] :
       {std::tuple(Compression::kGzip, std::string("\x1f\x8b\x08"), "zlib1g-dev"),
        std::tuple(Compression::kXz,
                   std::string("\xfd"
                               "7zXZ\0",
                               6),
                   "liblzma-dev"),
        std::tuple(Compression::kZstd, std::string("\x28\xb5\x2f\xfd"), "libzstd-dev")}) {
    if (std::count(known.begin(), known.end(), kind) != 0) continue;
    const Status status = ByteSource::Open(Write("a", start)).error();
    EXPECT_EQ(status.code(), Code::kUnsupported);
    EXPECT_THAT(std::string(status.message()), HasSubstr(package));
  }
}

}  // namespace
}  // namespace weft::bench
