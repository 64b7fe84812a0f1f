#include "bench/cost/units.h"

#include <concepts>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "bench/cost/cost.h"

namespace weft::bench {
namespace {

// What a slip of a unit would be; nothing takes them.
using WattHours = Quantity<struct WattHourUnit>;
using DollarsPerWattHour = Quantity<struct DollarPerWattHourUnit>;

template <typename A, typename B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept CanCompare = requires(A a, B b) {
  a < b;
};
template <typename A, typename B>
concept CanMultiply = requires(A a, B b) {
  a* b;
};
template <typename A, typename B>
concept CanDivide = requires(A a, B b) {
  a / b;
};
template <typename... Arguments>
concept CanGiveEnergyTerms = requires(Arguments... arguments) {
  EnergyTerms{arguments...};
};
template <typename... Arguments>
concept CanGiveServersNeeded = requires(Arguments... arguments) {
  ServersNeeded(arguments...);
};
template <typename... Arguments>
concept CanGiveLifetimeCost = requires(Arguments... arguments) {
  EnergyCostOfLifetime(arguments...);
};

// A number becomes a quantity, and a quantity a number, only where the unit is named.
static_assert(!std::convertible_to<double, Watts>);
static_assert(!std::convertible_to<Watts, double>);
static_assert(std::constructible_from<Watts, double>);

// Watts for kilowatts, hours for years, dollars for dollars an hour, and the other way round.
template <typename A, typename B>
constexpr bool kNeverMeet = !std::constructible_from<A, B> && !std::constructible_from<B, A> &&
                            !std::is_assignable_v<A&, B> && !std::is_assignable_v<B&, A> &&
                            !CanAdd<A, B> && !CanAdd<B, A> && !CanCompare<A, B>;
static_assert(kNeverMeet<Watts, Kilowatts>);
static_assert(kNeverMeet<Watts, Joules>);
static_assert(kNeverMeet<Joules, KilowattHours>);
static_assert(kNeverMeet<Hours, Years>);
static_assert(kNeverMeet<Hours, Seconds>);
static_assert(kNeverMeet<Dollars, DollarsPerHour>);
static_assert(kNeverMeet<DollarsPerKilowattHour, DollarsPerHour>);
static_assert(kNeverMeet<DollarsPerKilowattHour, DollarsPerWattHour>);
static_assert(kNeverMeet<KilowattHours, WattHours>);
static_assert(kNeverMeet<OperationsPerSecond, OperationsPerJoule>);

// The checks above can fail: the same unit passes them.
static_assert(CanAdd<Watts, Watts> && CanCompare<Watts, Watts>);
static_assert(!kNeverMeet<Watts, Watts>);

// A price a kilowatt hour meets neither watts, nor joules, nor hours, nor watt hours.
static_assert(CanMultiply<DollarsPerKilowattHour, Kilowatts>);
static_assert(CanMultiply<DollarsPerKilowattHour, KilowattHours>);
static_assert(!CanMultiply<DollarsPerKilowattHour, Watts>);
static_assert(!CanMultiply<DollarsPerKilowattHour, Joules>);
static_assert(!CanMultiply<DollarsPerKilowattHour, WattHours>);
static_assert(!CanMultiply<DollarsPerKilowattHour, Hours>);
static_assert(!CanMultiply<DollarsPerWattHour, KilowattHours>);
// Energy is watts by seconds or kilowatts by hours; nothing else.
static_assert(CanMultiply<Watts, Seconds> && CanMultiply<Kilowatts, Hours>);
static_assert(!CanMultiply<Watts, Hours> && !CanMultiply<Kilowatts, Seconds>);
static_assert(!CanMultiply<Watts, Years> && !CanMultiply<Kilowatts, Years>);
// A cost an hour is of hours.
static_assert(CanDivide<Dollars, Hours> && CanMultiply<DollarsPerHour, Hours>);
static_assert(!CanDivide<Dollars, Years> && !CanMultiply<DollarsPerHour, Years>);
static_assert(CanDivide<OperationsPerSecond, Watts>);
static_assert(!CanDivide<OperationsPerSecond, Kilowatts>);

// The equations take nothing else.
static_assert(CanGiveEnergyTerms<DollarsPerKilowattHour, Share, Watts, Watts>);
static_assert(!CanGiveEnergyTerms<DollarsPerKilowattHour, Share, Kilowatts, Watts>);
static_assert(!CanGiveEnergyTerms<DollarsPerKilowattHour, Share, Watts, Kilowatts>);
static_assert(!CanGiveEnergyTerms<DollarsPerWattHour, Share, Watts, Watts>);
static_assert(!CanGiveEnergyTerms<DollarsPerKilowattHour, double, Watts, Watts>);
static_assert(CanGiveServersNeeded<OperationsPerSecond, OperationsPerSecond>);
static_assert(!CanGiveServersNeeded<OperationsPerSecond, OperationsPerJoule>);
static_assert(!CanGiveServersNeeded<double, OperationsPerSecond>);
static_assert(CanGiveLifetimeCost<Years, EnergyTerms>);
static_assert(!CanGiveLifetimeCost<Hours, EnergyTerms>);

TEST(Units, ConversionsKeepTheQuantity) {
  EXPECT_EQ(0.25, ToKilowatts(Watts(250)).value());
  EXPECT_EQ(26'280, ToHours(Years(3)).value());
}

TEST(Units, EnergyIsPowerByTime) { EXPECT_EQ(1, (ToKilowatts(Watts(250)) * Hours(4)).value()); }

TEST(Units, MoneyByEnergyAndByTime) {
  EXPECT_DOUBLE_EQ(0.5, (DollarsPerKilowattHour(0.25) * KilowattHours(2)).value());
  EXPECT_DOUBLE_EQ(0.05, (DollarsPerKilowattHour(0.25) * Kilowatts(0.2)).value());
  EXPECT_DOUBLE_EQ(0.1, (Dollars(2'628) / ToHours(Years(3))).value());
  EXPECT_DOUBLE_EQ(12, (DollarsPerHour(0.5) * Hours(24)).value());
  EXPECT_DOUBLE_EQ(4'000, (OperationsPerSecond(1e6) / Watts(250)).value());
  EXPECT_DOUBLE_EQ(6, (Servers(3) * Dollars(2)).value());
  EXPECT_DOUBLE_EQ(50, (Share(0.25) * Watts(200)).value());
}

}  // namespace
}  // namespace weft::bench
