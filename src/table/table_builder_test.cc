// Threads   one.
#include "table/table_builder.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "table/file_test_kit.h"

namespace weft::table {
namespace {

TEST(TableBuilder, StartMakesTheSameTableInUsedRoom) {
  Strings strings(TestSeed());
  for (const Compression compression :
       {Compression::kNone, Compression::kSnappy, Compression::kZstd}) {
    const auto bloom = NewBloomFilterPolicy(10);
    TableFormat format;
    format.compression = compression;
    format.filter = bloom.get();
    StringFile first, second;
    TableBuilder builder(format, &first);
    for (int i = 0; i < 3000; i++) builder.Add(std::to_string(100000 + i), "value");
    ASSERT_TRUE(builder.Finish().ok());
    StringFile abandoned;
    builder.Start(&abandoned);
    for (int i = 0; i < 777; i++) builder.Add(std::to_string(100000 + i), strings.Bytes(50));
    builder.Abandon();
    builder.Start(&second);
    for (int i = 0; i < 3000; i++) builder.Add(std::to_string(100000 + i), "value");
    ASSERT_TRUE(builder.Finish().ok());
    EXPECT_TRUE(first.contents() == second.contents());
    EXPECT_EQ(3000u, builder.entries());
    EXPECT_EQ("102999", builder.last_key());
  }
}

TEST(TableBuilder, WritesInLargeAppends) {
  Strings strings(TestSeed());
  StringFile file;
  TableFormat format;
  format.compression = Compression::kNone;
  TableBuilder builder(format, &file);
  for (int i = 0; i < 10000; i++) builder.Add(std::to_string(100000 + i), strings.Bytes(200));
  ASSERT_TRUE(builder.Finish().ok());
  EXPECT_LE(static_cast<size_t>(file.appends()),
            file.contents().size() / TableBuilder::kAppendBytes + 1);
}

TEST(TableBuilder, ChangedFormatCountsFromTheNextBlock) {
  StringFile file, same;
  TableFormat small, large;
  small.block_size = 300;
  small.block_restart_interval = 2;
  small.compression = Compression::kNone;
  large.block_size = 9000;
  large.compression = Compression::kSnappy;
  TableBuilder builder(large, &file);
  builder.ChangeFormat(small);  // before the first block: all of the table
  TableBuilder expected(small, &same);
  for (int i = 0; i < 1000; i++) {
    builder.Add(std::to_string(100000 + i), "value");
    expected.Add(std::to_string(100000 + i), "value");
  }
  const uint64_t before = builder.flushed_bytes();
  EXPECT_EQ(expected.flushed_bytes(), before);
  builder.ChangeFormat(large);
  for (int i = 1000; i < 3000; i++) {
    builder.Add(std::to_string(100000 + i), "value");
    expected.Add(std::to_string(100000 + i), "value");
  }
  EXPECT_LT(builder.flushed_bytes() - before, (expected.flushed_bytes() - before) / 3);
  EXPECT_TRUE(builder.Finish().ok());
  EXPECT_TRUE(expected.Finish().ok());
}

TEST(TableBuilder, KeepsTheFirstErrorAndWritesNothingMore) {
  Strings strings(TestSeed());
  StringFile file;
  file.set_bytes_max(TableBuilder::kAppendBytes * 2);
  TableFormat format;
  format.compression = Compression::kNone;
  TableBuilder builder(format, &file);
  for (int i = 0; i < 10000; i++) builder.Add(std::to_string(100000 + i), strings.Bytes(200));
  EXPECT_EQ(Code::kIoError, builder.status().code());
  const int appends = file.appends();
  file.set_bytes_max(~size_t{0});
  EXPECT_EQ(Code::kIoError, builder.Finish().code());
  EXPECT_EQ(appends, file.appends());
}

TEST(TableBuilder, FlushedBytesGrowWithWholeBlocksOnly) {
  StringFile file;
  TableFormat format;
  format.compression = Compression::kNone;
  TableBuilder builder(format, &file);
  builder.Add("a", std::string(1000, 'v'));
  EXPECT_EQ(0u, builder.flushed_bytes());
  builder.FlushBlock();
  const uint64_t one_block = builder.flushed_bytes();
  EXPECT_LT(1000u, one_block);
  builder.FlushBlock();  // nothing to flush
  EXPECT_EQ(one_block, builder.flushed_bytes());
  builder.Add("b", std::string(5000, 'v'));
  EXPECT_LT(one_block + 5000, builder.flushed_bytes());
  ASSERT_TRUE(builder.Finish().ok());
  EXPECT_EQ(file.contents().size(), builder.flushed_bytes());
}

TEST(TableBuilder, ZstdBlocksDecodeToTheRawBlocks) {
  Strings strings(TestSeed());
  for (const int level : {-3, 1, 9}) {
    StringFile raw_file, zstd_file;
    TableFormat format;
    format.block_size = 1u << 20;
    format.compression = Compression::kNone;
    TableBuilder raw_builder(format, &raw_file);
    format.compression = Compression::kZstd;
    format.zstd_level = level;
    TableBuilder zstd_builder(format, &zstd_file);
    for (int i = 0; i < 1000; i++) {
      const std::string value = strings.Compressible(200);
      raw_builder.Add(std::to_string(100000 + i), value);
      zstd_builder.Add(std::to_string(100000 + i), value);
    }
    raw_builder.FlushBlock();
    zstd_builder.FlushBlock();
    const size_t raw_bytes = raw_builder.flushed_bytes() - kBlockTrailerBytes;
    const size_t stored_bytes = zstd_builder.flushed_bytes() - kBlockTrailerBytes;
    ASSERT_TRUE(raw_builder.Finish().ok());
    ASSERT_TRUE(zstd_builder.Finish().ok());
    EXPECT_LT(stored_bytes, raw_bytes - raw_bytes / 8);
    EXPECT_EQ(static_cast<char>(Compression::kZstd), zstd_file.contents()[stored_bytes]);
    EXPECT_EQ(base::MaskCrc32c(base::Crc32c(zstd_file.contents().data(), stored_bytes + 1)),
              base::DecodeFixed32(zstd_file.contents().data() + stored_bytes + 1));
    std::string decoded(raw_bytes, '\0');
    ASSERT_EQ(raw_bytes, ZSTD_decompress(decoded.data(), raw_bytes, zstd_file.contents().data(),
                                         stored_bytes));
    EXPECT_TRUE(decoded == raw_file.contents().substr(0, raw_bytes));
  }
}

TEST(BlockCompressor, KeepsOnlyWhatSavesAnEighth) {
  Strings strings(TestSeed());
  for (const Compression kind : {Compression::kSnappy, Compression::kZstd}) {
    BlockCompressor compressor(kind, 1);
    const std::string noise = strings.Bytes(4096);
    std::string to(compressor.BytesMax(noise.size()), '\0');
    EXPECT_EQ(0u, compressor.Compress(noise, to.data()));
    const std::string text(4096, 'a');
    EXPECT_NE(0u, compressor.Compress(text, to.data()));
    EXPECT_EQ(0u, compressor.Compress("a", to.data()));
  }
}

TEST(SharedPrefix, CountsEqualBytes) {
  const std::string a = "0123456789abcdefghijklmnopqrstuv";
  for (size_t bytes = 0; bytes <= a.size(); bytes++) {
    for (size_t differs = 0; differs <= bytes; differs++) {
      std::string b = a.substr(0, bytes);
      if (differs < bytes) b[differs] = static_cast<char>(b[differs] ^ 0x80);
      EXPECT_EQ(differs, SharedPrefix(a.data(), b.data(), bytes));
    }
  }
}

}  // namespace
}  // namespace weft::table
