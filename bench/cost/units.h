// bench/cost/units.h: quantities with their units, so that mixed units do not compile: watts given
// for kilowatts, hours for years, or a price of one for a price of the other.
//
// A quantity is made from a number by naming its unit, and only value() gives the number back.
// Quantities of one unit are added, compared and divided. Units meet only in the products and
// quotients below, and change to another of the same kind only by the conversions below.
//
// Layout    one double.
// Units     each type is one; a year has 365 days.
// Threads   values.
// Errors    none: whoever takes a quantity from outside checks it (bench/cost/cost.h).
// Cost      a double's.
#pragma once

#include "bench/harness/units.h"

namespace weft::bench {

using Kilowatts = Quantity<struct KilowattUnit>;
using KilowattHours = Quantity<struct KilowattHourUnit>;
using Hours = Quantity<struct HourUnit>;
using Years = Quantity<struct YearUnit>;
using Dollars = Quantity<struct DollarUnit>;
using DollarsPerKilowattHour = Quantity<struct DollarPerKilowattHourUnit>;
using DollarsPerHour = Quantity<struct DollarPerHourUnit>;
using OperationsPerSecond = Quantity<struct OperationPerSecondUnit>;
using OperationsPerJoule = Quantity<struct OperationPerJouleUnit>;
using Servers = Quantity<struct ServerUnit>;  // whole ones
using Share = Quantity<struct ShareUnit>;     // 0 to 1, not percent

inline constexpr double kWattsInKilowatt = 1000;
inline constexpr double kHoursInYear = 365 * 24;

constexpr Kilowatts ToKilowatts(Watts power) { return Kilowatts(power.value() / kWattsInKilowatt); }
constexpr Hours ToHours(Years time) { return Hours(time.value() * kHoursInYear); }

constexpr KilowattHours operator*(Kilowatts a, Hours b) {
  return KilowattHours(a.value() * b.value());
}
constexpr Dollars operator*(DollarsPerKilowattHour a, KilowattHours b) {
  return Dollars(a.value() * b.value());
}
constexpr DollarsPerHour operator*(DollarsPerKilowattHour a, Kilowatts b) {
  return DollarsPerHour(a.value() * b.value());
}
constexpr DollarsPerHour operator/(Dollars a, Hours b) {
  return DollarsPerHour(a.value() / b.value());
}
constexpr Dollars operator*(DollarsPerHour a, Hours b) { return Dollars(a.value() * b.value()); }
constexpr OperationsPerJoule operator/(OperationsPerSecond a, Watts b) {
  return OperationsPerJoule(a.value() / b.value());
}
// A quantity of one server becomes that of all of them.
template <typename Unit>
constexpr Quantity<Unit> operator*(Servers a, Quantity<Unit> b) {
  return Quantity<Unit>(a.value() * b.value());
}
template <typename Unit>
constexpr Quantity<Unit> operator*(Share a, Quantity<Unit> b) {
  return Quantity<Unit>(a.value() * b.value());
}

}  // namespace weft::bench
