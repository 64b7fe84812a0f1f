#include "protocol/foreign.h"

#include <strings.h>

#include <algorithm>
#include <cstddef>

namespace weft::protocol::internal {
namespace {

constexpr std::string_view kHttp = "HTTP/";

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsUpper(c) || (c >= 'a' && c <= 'z'); }

// A method as clients send it, or as somebody spells it: commands of memcached are lower-case.
bool IsMethod(std::string_view word) {
  return word.size() >= 3 && std::all_of(word.begin(), word.end(), IsLetter) &&
         std::any_of(word.begin(), word.end(), IsUpper);
}

// What a request line asks for: a path, the whole address, or the server itself.
bool IsTarget(std::string_view word) {
  return word.starts_with('/') || word == "*" || word.find("://") != word.npos;
}

// "Name: value". Without the blank only Host, which every request of HTTP/1.1 has.
bool IsHeader(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == line.npos || colon == 0 || !IsLetter(line[0])) return false;
  const std::string_view name = line.substr(0, colon);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return IsLetter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (!is_name) return false;
  const char next = colon + 1 < line.size() ? line[colon + 1] : ' ';
  return next == ' ' || next == '\t' ||
         (name.size() == 4 && strncasecmp(name.data(), "host", 4) == 0);
}

std::string_view FirstWord(std::string_view* line) {
  const size_t begin = std::min(line->find_first_not_of(' '), line->size());
  const size_t end = std::min(line->find(' ', begin), line->size());
  const std::string_view word = line->substr(begin, end - begin);
  line->remove_prefix(end);
  return word;
}

std::string_view LastWord(std::string_view line) {
  const size_t last = line.find_last_not_of(' ');
  if (last == line.npos) return {};
  line = line.substr(0, last + 1);
  return line.substr(line.rfind(' ') + 1);  // npos + 1 is 0
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "HTTP/1.1", "HTTP/2": a key of a command that was refused may begin alike.
bool IsVersion(std::string_view word) {
  if (!word.starts_with(kHttp)) return false;
  word.remove_prefix(kHttp.size());
  return (word.size() == 1 && IsDigit(word[0])) ||
         (word.size() == 3 && IsDigit(word[0]) && word[1] == '.' && IsDigit(word[2]));
}

}  // namespace

bool IsHttpLine(std::string_view line, bool is_unknown) {
  const std::string_view last = LastWord(line);
  if (!is_unknown) return IsVersion(last);
  if (last.starts_with(kHttp)) return true;
  if (IsHeader(line)) return true;
  const std::string_view first = FirstWord(&line);
  return first.starts_with(kHttp) || (IsMethod(first) && IsTarget(FirstWord(&line)));
}

}  // namespace weft::protocol::internal
