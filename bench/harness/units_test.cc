#include "bench/harness/units.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace weft::bench {
namespace {

template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept Compares = requires(A a, B b) {
  a < b;
};
template <typename A, typename B>
concept Multiplies = requires(A a, B b) {
  a* b;
};

// None of these compiles as code.
static_assert(Adds<Watts, Watts> && !Adds<Watts, Joules> && !Adds<Joules, double>);
static_assert(Compares<Joules, Joules> && !Compares<Joules, Watts> && !Compares<Watts, double>);
static_assert(Multiplies<Watts, Seconds> && !Multiplies<Joules, Seconds>);
static_assert(!std::is_convertible_v<double, Watts> && !std::is_convertible_v<Watts, double>);
static_assert(!std::is_convertible_v<Watts, Joules> && !std::is_constructible_v<Joules, Watts>);
static_assert(std::is_same_v<decltype(Watts(1) * Seconds(1)), Joules>);
static_assert(std::is_same_v<decltype(Joules(1) / Seconds(1)), Watts>);
static_assert(std::is_same_v<decltype(Joules(1) / Joules(1)), double>);

TEST(Units, PowerTimesTimeIsEnergy) {
  EXPECT_EQ(Joules(600), Watts(10) * Seconds(60));
  EXPECT_EQ(Watts(10), Joules(600) / Seconds(60));
  EXPECT_EQ(Seconds(60), Joules(600) / Watts(10));
  EXPECT_EQ(2.5, Watts(5) / Watts(2));
}

TEST(Units, OneUnitIsOrdinaryArithmetic) {
  EXPECT_EQ(5, (Watts(2) + Watts(3)).value());
  EXPECT_EQ(Watts(6), 2 * (Watts(5) - Watts(2)));
  EXPECT_EQ(1.5, (Watts(3) / 2).value());
  EXPECT_LT(Watts(2), Watts(3));
}

}  // namespace
}  // namespace weft::bench
