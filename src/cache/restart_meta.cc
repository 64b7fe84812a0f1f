#include "cache/restart_meta.h"

#include <array>
#include <bit>

#include "base/crc32c.h"
#include "base/parse_number.h"

namespace weft::cache {
namespace {

constexpr std::string_view kTitle = "weft-memory-file";
constexpr std::string_view kByteOrder = "byte_order";
constexpr std::string_view kSumName = "crc32c";
constexpr std::string_view kNative = std::endian::native == std::endian::little ? "little" : "big";

struct Field {
  std::string_view name;
  uint64_t RestartMeta::*value;
};
// In the order of the text.
constexpr std::array kFields = {
    Field{"stop_id", &RestartMeta::stop_id},
    Field{"memory_bytes", &RestartMeta::memory_bytes},
    Field{"object_bytes_max", &RestartMeta::object_bytes_max},
    Field{"segment_bytes", &RestartMeta::segment_bytes},
    Field{"segment_count", &RestartMeta::segment_count},
    Field{"keeps_versions", &RestartMeta::keeps_versions},
    Field{"evicts", &RestartMeta::evicts},
    Field{"data_sequence", &RestartMeta::data_sequence},
    Field{"data_folder", &RestartMeta::data_folder},
    Field{"stopped_at_s", &RestartMeta::stopped_at_s},
    Field{"date_s", &RestartMeta::date_s},
    Field{"next_version", &RestartMeta::next_version},
    Field{"shown_version", &RestartMeta::shown_version},
    Field{"flush_at_s", &RestartMeta::flush_at_s},
    Field{"young_units", &RestartMeta::young_units},
    Field{"items", &RestartMeta::items},
    Field{"buckets", &RestartMeta::buckets},
    Field{"is_cuckoo", &RestartMeta::is_cuckoo},
    Field{"record_count", &RestartMeta::record_count},
    Field{"table_crc", &RestartMeta::table_crc},
};

void AddLine(std::string_view name, std::string_view value, std::string* text) {
  *text += name;
  *text += ' ';
  *text += value;
  *text += '\n';
}

// Takes the value of the line that `*text` begins with, if it has that name.
bool TakeLine(std::string_view name, std::string_view* text, std::string_view* value) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  if (end == std::string_view::npos || !line.starts_with(name) || line.size() <= name.size() ||
      line[name.size()] != ' ')
    return false;
  *value = line.substr(name.size() + 1);
  text->remove_prefix(end + 1);
  return true;
}

Status Malformed() { return {Code::kCorruption, "it is damaged, or was not written by weft"}; }

}  // namespace

std::string EncodeRestartMeta(const RestartMeta& meta) {
  std::string text;
  AddLine(kTitle, std::to_string(kRestartLayout), &text);
  AddLine(kByteOrder, kNative, &text);
  for (const Field& field : kFields) AddLine(field.name, std::to_string(meta.*field.value), &text);
  const uint32_t sum = base::Crc32c(text);
  AddLine(kSumName, std::to_string(sum), &text);
  return text;
}

Result<RestartMeta> ParseRestartMeta(std::string_view text) {
  const std::string_view whole = text;
  std::string_view value;
  uint32_t layout = 0;
  if (!TakeLine(kTitle, &text, &value) || !base::ParseNumber(value, &layout)) return Malformed();
  if (layout != kRestartLayout)
    return Status(Code::kUnsupported, "it was written by a release with another layout");
  if (!TakeLine(kByteOrder, &text, &value)) return Malformed();
  if (value != kNative)
    return Status(Code::kUnsupported, "it was written by a machine with another byte order");
  RestartMeta meta;
  for (const Field& field : kFields)
    if (!TakeLine(field.name, &text, &value) || !base::ParseNumber(value, &(meta.*field.value)))
      return Malformed();
  const uint32_t sum = base::Crc32c(whole.substr(0, whole.size() - text.size()));
  uint32_t written = 0;
  if (!TakeLine(kSumName, &text, &value) || !base::ParseNumber(value, &written) || written != sum ||
      !text.empty() || meta.stop_id == 0)
    return Malformed();
  return meta;
}

}  // namespace weft::cache
