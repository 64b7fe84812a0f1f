#include "linearizability/workload.h"

#include <utility>

namespace weft::linearizability {

Workload::Workload(WorkloadShape shape, int process, uint64_t seed)
    : shape_(std::move(shape)),
      process_(process),
      rng_(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(process)),
      told_(keys(), kNoVersion) {}

std::string Workload::KeyName(int key) const {
  const bool counter = key >= shape_.registers;
  return shape_.name + (counter ? ":n" : ":r") + std::to_string(key);
}

std::string Workload::FreshValue(int key) {
  std::string value =
      KeyName(key) + "/p" + std::to_string(process_) + "." + std::to_string(values_made_++) + "/";
  if (shape_.padding_bytes > 0) value.append(Draw(shape_.padding_bytes + 1), 'x');
  return value;
}

Verb Workload::DrawVerb(bool counter) {
  const uint64_t draw = Draw(100);
  if (counter) {
    if (draw < 35) return Verb::kIncrement;
    if (draw < 50) return Verb::kDecrement;
    if (draw < 75) return Verb::kGet;
    if (draw < 83) return Verb::kSet;
    if (draw < 92) return Verb::kAdd;
    if (draw < 96) return Verb::kTouch;
    return Verb::kDelete;
  }
  if (draw < 34) return Verb::kGet;
  if (draw < 50) return Verb::kSet;
  if (draw < 68) return Verb::kCas;
  if (draw < 74) return Verb::kAdd;
  if (draw < 80) return Verb::kReplace;
  if (draw < 85) return Verb::kAppend;
  if (draw < 89) return Verb::kPrepend;
  if (draw < 92) return Verb::kTouch;
  if (draw < 93) return Verb::kIncrement;  // not numeric
  return Verb::kDelete;
}

Operation Workload::Next() {
  const int key = static_cast<int>(Draw(keys()));
  Verb verb = DrawVerb(key >= shape_.registers);
  if (verb == Verb::kCas && told_[key] == kNoVersion) verb = Verb::kGet;
  if (VerbName(verb) == shape_.without) verb = Verb::kGet;
  return Make(verb, key);
}

Operation Workload::Make(Verb verb, int key) {
  Operation op;
  op.verb = verb;
  op.process = process_;
  op.key = KeyName(key);
  const bool counter = key >= shape_.registers;
  switch (verb) {
    case Verb::kSet:
    case Verb::kAdd: op.argument = counter ? std::to_string(Draw(1000)) : FreshValue(key); break;
    case Verb::kAppend:
    case Verb::kPrepend: op.argument = FreshValue(key).substr(0, 40); break;
    case Verb::kReplace: op.argument = FreshValue(key); break;
    case Verb::kCas:
      op.argument = FreshValue(key);
      op.cas_expected = told_[key];
      break;
    case Verb::kIncrement:
    case Verb::kDecrement: op.delta = 1 + Draw(20); break;
    case Verb::kGet:
    case Verb::kDelete:
    case Verb::kTouch: break;
  }
  return op;
}

void Workload::Learn(const Operation& answered) {
  if (answered.version == kNoVersion) return;
  for (int key = 0; key < keys(); ++key) {
    if (answered.key == KeyName(key)) told_[key] = answered.version;
  }
}

}  // namespace weft::linearizability
