#include "sim/prefetch/unit_counts.h"

#include <utility>

namespace weft::sim {
namespace {

using Field = std::pair<const char*, int64_t UnitCounts::*>;

constexpr std::array kFields = {
    Field{"triggers", &UnitCounts::triggers},
    Field{"overflow_reads", &UnitCounts::overflow_reads},
    Field{"triggers_asked", &UnitCounts::triggers_asked},
    Field{"triggers_nothing", &UnitCounts::triggers_nothing},
    Field{"triggers_displaced", &UnitCounts::triggers_displaced},
    Field{"triggers_waited", &UnitCounts::triggers_waited},
    Field{"triggers_queued", &UnitCounts::triggers_queued},
    Field{"queued_ps", &UnitCounts::queued_ps},
    Field{"keys", &UnitCounts::keys},
    Field{"keys_displaced", &UnitCounts::keys_displaced},
    Field{"tag_collisions", &UnitCounts::tag_collisions},
    Field{"addresses_right", &UnitCounts::addresses_right},
    Field{"addresses_wrong", &UnitCounts::addresses_wrong},
    Field{"addresses_none", &UnitCounts::addresses_none},
    Field{"addresses_absent", &UnitCounts::addresses_absent},
    Field{"addresses_unjudged", &UnitCounts::addresses_unjudged},
    Field{"hits", &UnitCounts::hits},
    Field{"hits_predicted", &UnitCounts::hits_predicted},
    Field{"objects", &UnitCounts::objects},
    Field{"objects_outside_log", &UnitCounts::objects_outside_log},
    Field{"lines_asked", &UnitCounts::lines_asked},
    Field{"lines_missing", &UnitCounts::lines_missing},
    Field{"lines_excess", &UnitCounts::lines_excess},
    Field{"first_lines_lost", &UnitCounts::first_lines_lost},
    Field{"size_registrations", &UnitCounts::size_registrations},
};
static_assert(kFields.size() * sizeof(int64_t) == sizeof(UnitCounts));

double Ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

UnitCounts& UnitCounts::operator+=(const UnitCounts& other) {
  for (const auto& [name, field] : kFields) this->*field += other.*field;
  return *this;
}

UnitCounts& UnitCounts::operator-=(const UnitCounts& other) {
  for (const auto& [name, field] : kFields) this->*field -= other.*field;
  return *this;
}

double UnitCounts::address_accuracy() const {
  return Ratio(addresses_right, addresses_right + addresses_wrong + addresses_none);
}

double UnitCounts::hit_accuracy() const { return Ratio(hits_predicted, hits); }

nlohmann::ordered_json ToJson(const UnitCounts& counts) {
  nlohmann::ordered_json json;
  for (const auto& [name, field] : kFields) json[name] = counts.*field;
  json["address_accuracy"] = counts.address_accuracy();
  json["hit_accuracy"] = counts.hit_accuracy();
  return json;
}

}  // namespace weft::sim
