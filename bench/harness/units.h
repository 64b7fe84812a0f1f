// bench/harness/units.h: seconds, watts and joules as separate types, so that power is never added
// to energy, and neither passes for a bare number.
//
// Layout    one double.
// Units     SI, by the type. Into and out of a type only by name: Watts(3.5), watts.value().
// Threads   values.
#pragma once

#include <compare>

namespace weft::bench {

// A number of one unit; Unit only tells the types apart.
template <typename Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}
  constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double factor) {
    return Quantity(a.value_ * factor);
  }
  friend constexpr Quantity operator*(double factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, double divisor) {
    return Quantity(a.value_ / divisor);
  }
  // How many times one goes into the other.
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;

 private:
  double value_ = 0;
};

using Seconds = Quantity<struct SecondsUnit>;
using Watts = Quantity<struct WattsUnit>;
using Joules = Quantity<struct JoulesUnit>;

constexpr Joules operator*(Watts power, Seconds time) {
  return Joules(power.value() * time.value());
}
constexpr Joules operator*(Seconds time, Watts power) { return power * time; }
constexpr Watts operator/(Joules energy, Seconds time) {
  return Watts(energy.value() / time.value());
}
constexpr Seconds operator/(Joules energy, Watts power) {
  return Seconds(energy.value() / power.value());
}

}  // namespace weft::bench
