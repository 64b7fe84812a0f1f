#include "lsm/version_edit.h"

#include "base/coding.h"
#include "lsm/limits.h"

namespace weft::lsm {
namespace {

// The numbers stand in the files. 8 was used once and is not any more.
enum Tag : uint32_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactPointer = 5,
  kRemovedFile = 6,
  kNewFile = 7,
  kPrevLogNumber = 9,
};

void PutNumber(std::string* to, Tag tag, const std::optional<uint64_t>& number) {
  if (!number) return;
  base::PutVarint32(to, tag);
  base::PutVarint64(to, *number);
}

void PutLevel(std::string* to, Tag tag, int level) {
  base::PutVarint32(to, tag);
  base::PutVarint32(to, static_cast<uint32_t>(level));
}

bool TakeVarint(std::string_view* input, std::optional<uint64_t>* number) {
  uint64_t value;
  if (!base::GetVarint64(input, &value)) return false;
  *number = value;
  return true;
}

bool TakeLevel(std::string_view* input, int* level) {
  uint32_t value;
  if (!base::GetVarint32(input, &value) || value >= kLevels) return false;
  *level = static_cast<int>(value);
  return true;
}

bool TakeKey(std::string_view* input, std::string* key) {
  std::string_view bytes;
  table::ParsedKey parsed;
  if (!base::GetLengthPrefixed(input, &bytes) || !table::ParseInternalKey(bytes, &parsed)) {
    return false;
  }
  key->assign(bytes);
  return true;
}

bool TakeNewFile(std::string_view* input, VersionEdit* edit) {
  NewFile file;
  if (!TakeLevel(input, &file.level) || !base::GetVarint64(input, &file.number) ||
      !base::GetVarint64(input, &file.bytes) || !TakeKey(input, &file.smallest) ||
      !TakeKey(input, &file.largest)) {
    return false;
  }
  edit->new_files.push_back(std::move(file));
  return true;
}

bool TakeField(std::string_view* input, VersionEdit* edit) {
  uint32_t tag;
  if (!base::GetVarint32(input, &tag)) return false;
  int level;
  switch (tag) {
    case kComparator: {
      std::string_view name;
      if (!base::GetLengthPrefixed(input, &name)) return false;
      edit->comparator = std::string(name);
      return true;
    }
    case kLogNumber: return TakeVarint(input, &edit->log_number);
    case kPrevLogNumber:
      if (edit->prev_log_number) edit->identity = edit->prev_log_number;
      return TakeVarint(input, &edit->prev_log_number);
    case kNextFileNumber: return TakeVarint(input, &edit->next_file_number);
    case kLastSequence:
      return TakeVarint(input, &edit->last_sequence) && *edit->last_sequence <= table::kSequenceMax;
    case kCompactPointer: {
      std::string key;
      if (!TakeLevel(input, &level) || !TakeKey(input, &key)) return false;
      edit->compact_pointers.emplace_back(level, std::move(key));
      return true;
    }
    case kRemovedFile: {
      uint64_t number;
      if (!TakeLevel(input, &level) || !base::GetVarint64(input, &number)) return false;
      edit->RemoveFile(level, number);
      return true;
    }
    case kNewFile: return TakeNewFile(input, edit);
    default: return false;
  }
}

}  // namespace

std::string KeyText(std::string_view internal_key, std::string_view value,
                    std::string_view deletion) {
  table::ParsedKey parsed;
  if (!table::ParseInternalKey(internal_key, &parsed)) return "(no key)";
  std::string text = "'";
  for (const char c : parsed.user_key) {
    static constexpr char kDigits[] = "0123456789abcdef";
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= ' ' && byte <= '~' && c != '\'' && c != '\\') {
      text += c;
    } else {
      text += "\\x";
      text += kDigits[byte >> 4];
      text += kDigits[byte & 15];
    }
  }
  text += "' @ " + std::to_string(parsed.sequence);
  text += " : ";
  text += parsed.type == table::ValueType::kValue ? value : deletion;
  return text;
}

void VersionEdit::EncodeTo(std::string* to) const {
  if (comparator) {
    base::PutVarint32(to, kComparator);
    base::PutLengthPrefixed(to, *comparator);
  }
  PutNumber(to, kLogNumber, log_number);
  if (identity) {
    PutNumber(to, kPrevLogNumber, identity);
    PutNumber(to, kPrevLogNumber, prev_log_number.value_or(0));
  } else {
    PutNumber(to, kPrevLogNumber, prev_log_number);
  }
  PutNumber(to, kNextFileNumber, next_file_number);
  PutNumber(to, kLastSequence, last_sequence);
  for (const auto& [level, key] : compact_pointers) {
    PutLevel(to, kCompactPointer, level);
    base::PutLengthPrefixed(to, key);
  }
  for (const auto& [level, number] : removed_files) {
    PutLevel(to, kRemovedFile, level);
    base::PutVarint64(to, number);
  }
  for (const NewFile& file : new_files) {
    PutLevel(to, kNewFile, file.level);
    base::PutVarint64(to, file.number);
    base::PutVarint64(to, file.bytes);
    base::PutLengthPrefixed(to, file.smallest);
    base::PutLengthPrefixed(to, file.largest);
  }
}

Status VersionEdit::DecodeFrom(std::string_view record) {
  *this = {};
  const size_t bytes = record.size();
  while (!record.empty()) {
    const size_t at = bytes - record.size();
    if (!TakeField(&record, this)) {
      *this = {};
      return Status(Code::kCorruption, "not a field of a version edit at byte " +
                                           std::to_string(at) + " of its record");
    }
  }
  return {};
}

bool VersionEdit::PassField(std::string_view* input) {
  VersionEdit none;
  std::string_view rest = *input;
  if (!TakeField(&rest, &none)) return false;
  *input = rest;
  return true;
}

std::string VersionEdit::DebugString() const {
  std::string text;
  const auto number = [&text](std::string_view name, const std::optional<uint64_t>& value) {
    if (value) text += std::string(name) + ' ' + std::to_string(*value) + '\n';
  };
  if (comparator) text += "comparator " + *comparator + '\n';
  number("identity", identity);
  number("log number", log_number);
  number("previous log number", prev_log_number);
  number("next file number", next_file_number);
  number("last sequence", last_sequence);
  for (const auto& [level, key] : compact_pointers) {
    text += "compact pointer of level " + std::to_string(level) + ": " + KeyText(key) + '\n';
  }
  for (const auto& [level, file] : removed_files) {
    text += "remove " + std::to_string(file) + " from level " + std::to_string(level) + '\n';
  }
  for (const NewFile& file : new_files) {
    text += "add " + std::to_string(file.number) + " to level " + std::to_string(file.level) +
            ": " + std::to_string(file.bytes) + " bytes, " + KeyText(file.smallest) + " .. " +
            KeyText(file.largest) + '\n';
  }
  return text;
}

}  // namespace weft::lsm
