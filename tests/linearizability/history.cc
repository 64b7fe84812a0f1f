#include "linearizability/history.h"

namespace weft::linearizability {

std::string_view VerbName(Verb verb) {
  switch (verb) {
    case Verb::kGet: return "get";
    case Verb::kSet: return "set";
    case Verb::kAdd: return "add";
    case Verb::kReplace: return "replace";
    case Verb::kCas: return "cas";
    case Verb::kAppend: return "append";
    case Verb::kPrepend: return "prepend";
    case Verb::kDelete: return "delete";
    case Verb::kIncrement: return "increment";
    case Verb::kDecrement: return "decrement";
    case Verb::kTouch: return "touch";
  }
  return "?";
}

std::string_view ResultName(Result result) {
  switch (result) {
    case Result::kUnknown: return "unknown";
    case Result::kMiss: return "miss";
    case Result::kValue: return "value";
    case Result::kStored: return "stored";
    case Result::kNotStored: return "not stored";
    case Result::kExists: return "exists";
    case Result::kDeleted: return "deleted";
    case Result::kTouched: return "touched";
    case Result::kNumber: return "number";
    case Result::kNotNumeric: return "not numeric";
    case Result::kFailed: return "failed";
    case Result::kCleared: return "failed, cleared";
  }
  return "?";
}

namespace {

std::string Quoted(std::string_view text) {
  constexpr size_t kShownMax = 60;
  if (text.size() <= kShownMax) return "\"" + std::string(text) + "\"";
  return "\"" + std::string(text.substr(0, kShownMax)) + "\"...(" + std::to_string(text.size()) +
         ")";
}

}  // namespace

std::string ToString(const Operation& operation) {
  std::string text = "[" + std::to_string(operation.invoked_ns) + " .. ";
  text += operation.returned_ns == kNever ? "never" : std::to_string(operation.returned_ns);
  text += "] p" + std::to_string(operation.process) + " ";
  text += std::string(VerbName(operation.verb)) + " " + operation.key;
  if (!operation.argument.empty()) text += " " + Quoted(operation.argument);
  if (operation.verb == Verb::kIncrement || operation.verb == Verb::kDecrement) {
    text += " by " + std::to_string(operation.delta);
  }
  if (operation.verb == Verb::kCas) text += " expecting " + std::to_string(operation.cas_expected);
  text += " -> " + std::string(ResultName(operation.result));
  if (operation.result == Result::kValue) text += " " + Quoted(operation.value);
  if (operation.result == Result::kNumber) text += " " + std::to_string(operation.number);
  if (operation.version != kNoVersion) text += " version " + std::to_string(operation.version);
  return text;
}

}  // namespace weft::linearizability
