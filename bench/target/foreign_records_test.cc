#include "bench/target/foreign_records.h"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

TEST(ForeignRecords, OfAnEmptyServerAllMayBeRemovedAndAgain) {
  const Address server{"127.0.0.1", 1, ""};
  EXPECT_TRUE(MayRemoveAll(server, false, [] { return Result<uint64_t>(0u); }).ok());
  EXPECT_TRUE(MayRemoveAll(server, false, [] { return Result<uint64_t>(7u); }).ok());
}

TEST(ForeignRecords, OfAFullOneOnlyWhereItIsAllowed) {
  const Address server{"127.0.0.1", 2, ""};
  const auto five = [] { return Result<uint64_t>(5u); };
  for (int i = 0; i < 2; i++) {
    EXPECT_EQ(MayRemoveAll(server, false, five).ToString(),
              "invalid argument: 127.0.0.1:2 holds 5 records, which a run would remove; "
              "--wipe allows it");
  }
  EXPECT_TRUE(MayRemoveAll(server, true, five).ok());
}

TEST(ForeignRecords, WhereTheNumberCannotBeToldNothingIsRemoved) {
  const Address server{"127.0.0.1", 3, ""};
  const auto unknown = [] { return Result<uint64_t>(Status(Code::kIoError, "no answer")); };
  EXPECT_EQ(MayRemoveAll(server, false, unknown).message(), "no answer");
}

}  // namespace
}  // namespace weft::bench
