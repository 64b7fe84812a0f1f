#include "bench/meter/write_amplification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::bench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Figures(double tables, double user) {
  return {{kFigureTableBytesWritten, tables}, {kFigureUserBytesWritten, user}};
}

TEST(WriteAmplification, BytesOfTablesForAByteOfTheUser) {
  EXPECT_DOUBLE_EQ(3.5, WriteAmplification(Figures(100, 50), Figures(450, 150)).value());
  EXPECT_DOUBLE_EQ(0, WriteAmplification(Figures(100, 50), Figures(100, 150)).value());
}

TEST(WriteAmplification, WhyThereIsNone) {
  EXPECT_THAT(WriteAmplification(json::object(), Figures(1, 1)).reason(),
              HasSubstr("does not report table_bytes_written"));
  EXPECT_THAT(WriteAmplification(Figures(1, 1), {{kFigureTableBytesWritten, 2}}).reason(),
              HasSubstr("does not report user_bytes_written"));
  EXPECT_EQ("nothing was written", WriteAmplification(Figures(1, 1), Figures(5, 1)).reason());
  EXPECT_THAT(WriteAmplification(Figures(5, 5), Figures(1, 9)).reason(),
              HasSubstr("restarted its counters"));
}

}  // namespace
}  // namespace weft::bench
