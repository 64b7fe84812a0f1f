#include "compaction/device/piece/compressed_blocks.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "base/crc32c.h"
#include "compaction/job_test_kit.h"
#include "table/stored_block.h"

namespace weft::compaction::device {
namespace {

// Blocks with their trailers, one behind the other.
struct Raw {
  std::string bytes;
  std::vector<PackedBlock> blocks;
};

Raw MakeRaw(table::Strings* strings, size_t count) {
  Raw raw;
  for (size_t i = 0; i < count; i++) {
    std::string block = strings->Below(3) == 0 ? strings->Bytes(strings->Below(3000))
                                               : strings->Compressible(strings->Below(3000));
    raw.blocks.push_back({.bytes = static_cast<uint32_t>(block.size())});
    block.push_back('\0');
    base::PutFixed32(&block, base::MaskCrc32c(base::Crc32c(block.data(), block.size())));
    raw.bytes += block;
  }
  return raw;
}

TEST(CompressedBlocks, AreThoseOfOneThread) {
  table::Strings strings(table::TestSeed());
  for (const Compression kind : {Compression::kSnappy, Compression::kZstd}) {
    table::TableFormat format;
    format.compression = kind;
    CompressedBlocks compressed(format);
    for (const size_t count : {500u, 1u, 64u, 0u, 129u}) {
      SCOPED_TRACE(count);
      Raw raw = MakeRaw(&strings, count);
      base::Crew crew(static_cast<int>(strings.Below(4)), "compress");
      ASSERT_TRUE(compressed.Make(raw.bytes, true, &crew, &raw.blocks));
      table::BlockCompressor compressor(kind, format.zstd_level);
      table::OutputBuffer expected;
      uint64_t at = 0;
      for (const PackedBlock& block : raw.blocks) {
        const std::string_view bytes = std::string_view(raw.bytes).substr(at, block.bytes);
        EXPECT_EQ(table::AppendBlock(bytes, &compressor, &expected), block.stored_bytes);
        at += block.bytes + table::kBlockTrailerBytes;
      }
      // All of them, and as many as are settled.
      for (const size_t left_out : {size_t{0}, count / 3}) {
        uint64_t bytes = expected.size();
        for (size_t i = count - left_out; i < count; i++)
          bytes -= raw.blocks[i].stored_bytes + table::kBlockTrailerBytes;
        std::string copied(bytes + 1, '.');
        compressed.CopyTo(copied.data(), bytes, &crew);
        EXPECT_TRUE(copied == std::string(expected.From(0).substr(0, bytes)) + ".");
      }
    }
  }
}

TEST(CompressedBlocks, ABlockThatHasChangedIsFound) {
  table::Strings strings(table::TestSeed());
  table::TableFormat format;
  format.compression = Compression::kSnappy;
  CompressedBlocks compressed(format);
  base::Crew crew(1, "compress");
  for (int i = 0; i < 100; i++) {
    Raw raw = MakeRaw(&strings, 100);
    char& byte = raw.bytes[strings.Below(raw.bytes.size())];
    byte = static_cast<char>(byte ^ 1 << strings.Below(8));
    EXPECT_FALSE(compressed.Make(raw.bytes, true, &crew, &raw.blocks));
    EXPECT_TRUE(compressed.Make(raw.bytes, false, &crew, &raw.blocks));
  }
}

}  // namespace
}  // namespace weft::compaction::device
