#include "tool/db/dump_line.h"

#include <charconv>
#include <optional>
#include <utility>

namespace weft::tool {

namespace {

Status Bad(const std::string& what) { return {Code::kInvalidArgument, what}; }

// Reads one object of strings, as JsonLine writes it.
class JsonReader {
 public:
  explicit JsonReader(std::string_view line) : rest_(line) {}

  Result<Entry> Read() {
    if (!Take('{')) return Bad("not a JSON object");
    std::optional<std::string> key, value;
    do {
      auto name = ReadString();
      if (!name) return name.error();
      if (!Take(':')) return Bad("no colon after \"" + *name + "\"");
      auto text = ReadString();
      if (!text) return text.error();
      const bool is_hex = *name == "value_hex";
      std::optional<std::string>& member = *name == "key" ? key : value;
      if (*name != "key" && *name != "value" && !is_hex) {
        return Bad("\"" + *name + "\" is neither key nor value");
      }
      if (member) return Bad("\"" + *name + "\" comes twice");
      auto bytes = FromText(*text, is_hex ? Form::kHex : Form::kEscaped);
      if (!bytes) return bytes.error();
      member = std::move(*bytes);
    } while (Take(','));
    if (!Take('}')) return Bad("the object does not end");
    SkipBlanks();
    if (!rest_.empty()) return Bad("there is text after the object");
    if (!key || !value) return Bad(key ? "there is no value" : "there is no key");
    return Entry{std::move(*key), std::move(*value)};
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  bool Take(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  Result<std::string> ReadString() {
    if (!Take('"')) return Bad("a string is missing");
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (static_cast<uint8_t>(c) < ' ') return Bad("a string contains a control character");
      if (c != '\\') {
        text += c;
      } else if (!ReadEscape(&text)) {
        return Bad("a string contains an invalid JSON escape");
      }
    }
    if (rest_.empty()) return Bad("a string does not end");
    rest_.remove_prefix(1);
    return text;
  }

  bool ReadEscape(std::string* text) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == 'u') return ReadCodePoint(text);
    const size_t at = kLetters.find(c);
    if (at == std::string_view::npos) return false;
    *text += kMeanings[at];
    return true;
  }

  bool ReadUnit(uint32_t* unit) {
    if (rest_.size() < 4) return false;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 4, *unit, 16);
    if (error != std::errc() || end != rest_.data() + 4) return false;
    rest_.remove_prefix(4);
    return true;
  }

  // Four digits, or two times four where it is beyond the first plane.
  bool ReadCodePoint(std::string* text) {
    uint32_t point = 0;
    if (!ReadUnit(&point)) return false;
    if (point >= 0xdc00 && point < 0xe000) return false;
    if (point >= 0xd800 && point < 0xdc00) {
      uint32_t low = 0;
      if (!rest_.starts_with("\\u")) return false;
      rest_.remove_prefix(2);
      if (!ReadUnit(&low) || low < 0xdc00 || low >= 0xe000) return false;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    AppendUtf8(point, text);
    return true;
  }

  static void AppendUtf8(uint32_t point, std::string* text) {
    const auto add = [text](uint32_t byte) { *text += static_cast<char>(byte); };
    const auto add_rest = [&](uint32_t shift) { add(0x80 | ((point >> shift) & 0x3f)); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
      add(0xc0 | point >> 6);
    } else if (point < 0x10000) {
      add(0xe0 | point >> 12);
      add_rest(6);
    } else {
      add(0xf0 | point >> 18);
      add_rest(12);
      add_rest(6);
    }
    add_rest(0);
  }

  std::string_view rest_;
};

// Takes 'TEXT' off the front of *rest: no quote is within it.
bool TakeQuoted(std::string_view* rest, std::string_view* text) {
  if (!rest->starts_with('\'')) return false;
  const size_t end = rest->find('\'', 1);
  if (end == std::string_view::npos) return false;
  *text = rest->substr(1, end - 1);
  rest->remove_prefix(end + 1);
  return true;
}

Result<Entry> ParseTextLine(std::string_view line, Form values) {
  constexpr std::string_view kArrow = " => ";
  std::string_view key, value;
  if (!TakeQuoted(&line, &key)) return Bad("not an entry of the form 'KEY' => 'VALUE'");
  if (line.empty()) return Bad("there is no value");
  if (!line.starts_with(kArrow)) return Bad("no => after the key");
  line.remove_prefix(kArrow.size());
  if (!TakeQuoted(&line, &value)) return Bad("no quoted value after the =>");
  if (!line.empty()) return Bad("there is text after the value");
  auto key_bytes = FromEscaped(key);
  if (!key_bytes) return key_bytes.error();
  auto value_bytes = FromText(value, values);
  if (!value_bytes) return value_bytes.error();
  return Entry{std::move(*key_bytes), std::move(*value_bytes)};
}

}  // namespace

std::string TextLine(std::string_view key, const std::string_view* value, Form values) {
  std::string line = "'" + Escaped(key) + "'";
  if (value != nullptr) line += " => '" + ToText(*value, values) + "'";
  return line;
}

std::string JsonLine(std::string_view key, const std::string_view* value, Form values) {
  std::string line = "{\"key\": " + JsonString(Escaped(key));
  if (value != nullptr) {
    line += values == Form::kHex ? ", \"value_hex\": " : ", \"value\": ";
    line += JsonString(ToText(*value, values));
  }
  return line + "}";
}

Result<Entry> ParseLine(std::string_view line, Form values) {
  return line.starts_with('{') ? JsonReader(line).Read() : ParseTextLine(line, values);
}

}  // namespace weft::tool
