#include "linearizability/checker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/parse_number.h"

namespace weft::linearizability {
namespace {

// The register. `version` is kNoVersion while no answer has told what it is. `retired`, sorted,
// are the versions that were told and written over: none of them may ever come back.
struct Register {
  bool present = false;
  uint64_t version = kNoVersion;
  std::string value;
  std::vector<uint64_t> retired;

  bool operator==(const Register&) const = default;
};

struct RegisterHash {
  size_t operator()(const Register& r) const {
    return std::hash<std::string>()(r.value) * 31 + r.version * 2 + (r.present ? 1 : 0) +
           r.retired.size() * 1'000'003;
  }
};

// A value as arithmetic sees it: memcached pads a number that became shorter with spaces.
std::string_view WithoutPadding(std::string_view value) {
  while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
  return value;
}

std::optional<uint64_t> AsNumber(std::string_view value) {
  value = WithoutPadding(value);
  uint64_t number = 0;
  if (!base::ParseNumber(value, &number)) return std::nullopt;
  return number;
}

bool SameValue(std::string_view held, std::string_view read) {
  return held == read || (AsNumber(held) && WithoutPadding(held) == WithoutPadding(read));
}

// What the register answers to one operation and what it becomes. Where several answers would do,
// because the version is not known yet, `Step` takes the recorded one.
class Model {
 public:
  // The register after `op`, or nothing where its recorded answer is impossible on `before`.
  static std::optional<Register> Step(const Register& before, const Operation& op) {
    std::optional<Register> after = Answer(before, op);
    if (after && !Retire(before, &*after)) return std::nullopt;
    return after;
  }

  // `before` after the store has dropped the key by itself.
  static Register Evicted(const Register& before) {
    Register after;
    Retire(before, &after);
    return after;
  }

 private:
  // Notes the version that `after` has left behind; false where it took up a retired one.
  static bool Retire(const Register& before, Register* after) {
    after->retired = before.retired;
    if (after->version == before.version) return true;
    std::vector<uint64_t>& retired = after->retired;
    if (std::binary_search(retired.begin(), retired.end(), after->version)) return false;
    if (before.version != kNoVersion) {
      retired.insert(std::upper_bound(retired.begin(), retired.end(), before.version),
                     before.version);
    }
    return true;
  }

  static std::optional<Register> Answer(const Register& before, const Operation& op) {
    if (op.result == Result::kUnknown) return Unanswered(before, op);
    if (op.result == Result::kFailed) return before;
    if (op.result == Result::kCleared) return Register{};
    switch (op.verb) {
      case Verb::kGet: return Get(before, op);
      case Verb::kCas: return Cas(before, op);
      case Verb::kDelete: return Presence(before, op, Result::kDeleted, Register{});
      case Verb::kTouch: return Presence(before, op, Result::kTouched, before);
      case Verb::kIncrement:
      case Verb::kDecrement: return Arithmetic(before, op);
      default: return Store(before, op);
    }
  }

  static std::optional<Register> Get(const Register& before, const Operation& op) {
    if (op.result == Result::kMiss) return Only(!before.present, before);
    if (op.result != Result::kValue || !before.present) return std::nullopt;
    if (!SameValue(before.value, op.value)) return std::nullopt;
    if (op.version == kNoVersion) return before;
    if (before.version != kNoVersion) return Only(before.version == op.version, before);
    Register after = before;
    after.version = op.version;
    return after;
  }

  static std::optional<Register> Cas(const Register& before, const Operation& op) {
    if (op.result == Result::kMiss) return Only(!before.present, before);
    if (!before.present) return std::nullopt;
    // A client can only name a version it was told, so a version still untold is another one.
    const bool same = before.version != kNoVersion && before.version == op.cas_expected;
    if (op.result == Result::kExists) return Only(!same, before);
    return Only(op.result == Result::kStored && same, Written(op, op.argument));
  }

  static std::optional<Register> Presence(const Register& before, const Operation& op, Result done,
                                          const Register& after) {
    if (op.result == Result::kMiss) return Only(!before.present, before);
    return Only(op.result == done && before.present, after);
  }

  static std::optional<Register> Arithmetic(const Register& before, const Operation& op) {
    if (op.result == Result::kMiss) return Only(!before.present, before);
    if (!before.present) return std::nullopt;
    const std::optional<uint64_t> held = AsNumber(before.value);
    if (op.result == Result::kNotNumeric) return Only(!held, before);
    if (op.result != Result::kNumber || !held) return std::nullopt;
    const uint64_t number = Applied(*held, op);
    return Only(number == op.number, Written(op, std::to_string(number)));
  }

  static uint64_t Applied(uint64_t held, const Operation& op) {
    if (op.verb == Verb::kIncrement) return held + op.delta;
    return held < op.delta ? 0 : held - op.delta;
  }

  static std::optional<Register> Store(const Register& before, const Operation& op) {
    const bool allowed = op.verb == Verb::kSet || (op.verb == Verb::kAdd) != before.present;
    if (op.result == Result::kNotStored) return Only(!allowed, before);
    return Only(op.result == Result::kStored && allowed, Written(op, Content(before, op)));
  }

  static std::string Content(const Register& before, const Operation& op) {
    if (op.verb == Verb::kAppend) return before.value + op.argument;
    if (op.verb == Verb::kPrepend) return op.argument + before.value;
    return op.argument;
  }

  // What an operation does that got no answer, if it does anything.
  static Register Unanswered(const Register& before, const Operation& op) {
    switch (op.verb) {
      case Verb::kGet:
      case Verb::kTouch: return before;
      case Verb::kDelete: return Register{};
      case Verb::kCas: {
        const bool same =
            before.present && before.version != kNoVersion && before.version == op.cas_expected;
        return same ? Written(op, op.argument) : before;
      }
      case Verb::kIncrement:
      case Verb::kDecrement: {
        const auto held = before.present ? AsNumber(before.value) : std::nullopt;
        return held ? Written(op, std::to_string(Applied(*held, op))) : before;
      }
      default: {
        const bool allowed = op.verb == Verb::kSet || (op.verb == Verb::kAdd) != before.present;
        return allowed ? Written(op, Content(before, op)) : before;
      }
    }
  }

  static Register Written(const Operation& op, std::string value) {
    return Register{true, op.version, std::move(value), {}};
  }

  static std::optional<Register> Only(bool possible, const Register& after) {
    return possible ? std::optional<Register>(after) : std::nullopt;
  }
};

// The search for one key's order. Operations are numbered by invocation.
class Search {
 public:
  Search(std::vector<const Operation*> operations, const CheckOptions& options)
      : ops_(std::move(operations)), options_(options), done_((ops_.size() + 63) / 64, 0) {
    std::stable_sort(ops_.begin(), ops_.end(), [](const Operation* a, const Operation* b) {
      return a->invoked_ns < b->invoked_ns;
    });
    predecessor_.resize(ops_.size(), kNone);
    std::unordered_map<int, size_t> last;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (const auto it = last.find(ops_[i]->process); it != last.end())
        predecessor_[i] = it->second;
      last[ops_[i]->process] = i;
      answered_left_ += ops_[i]->result != Result::kUnknown;
    }
  }

  Verdict Run() {
    Verdict verdict;
    verdict.key = ops_.front()->key;
    if (const std::string clash = VersionClash(); !clash.empty()) {
      verdict.kind = Verdict::kViolation;
      verdict.story = clash + Story();
      return verdict;
    }
    const bool found = Descend();
    verdict.steps = steps_;
    if (!found) {
      verdict.kind = steps_ > options_.steps_max ? Verdict::kGaveUp : Verdict::kViolation;
      verdict.story = Story();
    }
    return verdict;
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  // One level of the search: what could come next, and how to undo what was taken.
  struct Level {
    Register state;
    std::vector<std::pair<size_t, Register>> choices;
    size_t next_choice = 0;
    std::vector<size_t> taken;  // operations linearised to enter this level
  };

  bool IsDone(size_t i) const { return done_[i / 64] >> (i % 64) & 1; }

  void Take(size_t i) {
    done_[i / 64] |= uint64_t{1} << (i % 64);
    answered_left_ -= ops_[i]->result != Result::kUnknown;
    ++taken_count_;
    while (first_open_ < ops_.size() && IsDone(first_open_)) ++first_open_;
  }

  void Untake(size_t i) {
    done_[i / 64] &= ~(uint64_t{1} << (i % 64));
    answered_left_ += ops_[i]->result != Result::kUnknown;
    --taken_count_;
    first_open_ = std::min(first_open_, i);
  }

  // Operations that nothing open must precede: invoked before any open one returned.
  void Candidates(std::vector<size_t>* out) const {
    out->clear();
    int64_t first_return = kNever;
    for (size_t i = first_open_; i < ops_.size() && ops_[i]->invoked_ns <= first_return; ++i) {
      if (IsDone(i)) continue;
      first_return = std::min(first_return, ops_[i]->returned_ns);
      if (predecessor_[i] == kNone || IsDone(predecessor_[i])) out->push_back(i);
    }
    std::erase_if(*out, [&](size_t i) { return ops_[i]->invoked_ns > first_return; });
  }

  // True for answers that say that nothing was written, wherever the operation is placed. A write
  // of the value already there is none of them: placed later, it would have changed something. Nor
  // is a store that failed and took what the key held, where the key holds nothing.
  static bool IsReadOnly(Result result) {
    return result != Result::kUnknown && result != Result::kStored && result != Result::kDeleted &&
           result != Result::kNumber && result != Result::kCleared;
  }

  // Takes at once every operation that only reads, agrees with `state` and leaves it unchanged.
  void TakeHarmless(const Register& state, std::vector<size_t>* taken) {
    std::vector<size_t> candidates;
    for (bool progress = true; progress;) {
      progress = false;
      Candidates(&candidates);
      for (const size_t i : candidates) {
        if (!IsReadOnly(ops_[i]->result)) continue;
        if (const auto after = Model::Step(state, *ops_[i]); after && *after == state) {
          Take(i);
          taken->push_back(i);
          progress = true;
        }
      }
    }
  }

  void FindChoices(Level* level) const {
    std::vector<size_t> candidates;
    Candidates(&candidates);
    for (const size_t i : candidates) {
      if (auto after = Model::Step(level->state, *ops_[i])) {
        level->choices.emplace_back(i, std::move(*after));
      }
      if (options_.evicting && level->state.present) {
        if (auto after = Model::Step(Model::Evicted(level->state), *ops_[i])) {
          level->choices.emplace_back(i, std::move(*after));
        }
      }
    }
    // What returned first was most likely first: try it first.
    std::stable_sort(level->choices.begin(), level->choices.end(),
                     [&](const auto& a, const auto& b) {
                       return ops_[a.first]->returned_ns < ops_[b.first]->returned_ns;
                     });
  }

  // True where this pair of operations done and register has not been tried yet.
  bool FirstVisit(const Register& state) {
    const auto [it, fresh] = state_numbers_.try_emplace(state, state_numbers_.size());
    std::string pair(reinterpret_cast<const char*>(done_.data()), done_.size() * sizeof(uint64_t));
    pair.append(reinterpret_cast<const char*>(&it->second), sizeof(it->second));
    return visited_.insert(std::move(pair)).second;
  }

  // Enters a level; false where it is known to lead nowhere.
  bool Enter(Register state, size_t taken, std::vector<Level>* levels) {
    ++steps_;
    Level level;
    level.state = std::move(state);
    if (taken != kNone) {
      Take(taken);
      level.taken.push_back(taken);
    }
    TakeHarmless(level.state, &level.taken);
    if (taken_count_ > best_count_) {
      best_count_ = taken_count_;
      best_ = done_;
      best_state_ = level.state;
    }
    const bool fresh = FirstVisit(level.state);
    if (fresh) FindChoices(&level);
    levels->push_back(std::move(level));
    return fresh;
  }

  bool Descend() {
    std::vector<Level> levels;
    Enter(Register{}, kNone, &levels);
    while (answered_left_ > 0) {
      Level& level = levels.back();
      if (level.next_choice < level.choices.size() && steps_ <= options_.steps_max) {
        auto& [i, after] = level.choices[level.next_choice++];
        Enter(std::move(after), i, &levels);
        continue;
      }
      for (const size_t i : level.taken) Untake(i);
      levels.pop_back();
      if (levels.empty()) return false;
    }
    return true;
  }

  // A version names one write: told with two different values, it has been used twice.
  std::string VersionClash() const {
    std::unordered_map<uint64_t, const Operation*> told;
    for (const Operation* op : ops_) {
      if (op->result != Result::kValue || op->version == kNoVersion) continue;
      const auto [it, fresh] = told.try_emplace(op->version, op);
      if (!fresh && !SameValue(it->second->value, op->value)) {
        return "version " + std::to_string(op->version) + " was told for two values:\n  " +
               ToString(*it->second) + "\n  " + ToString(*op) + "\n";
      }
    }
    return "";
  }

  std::string Story() const {
    std::string text = "operations by invocation; + fits in the longest order found, - does not";
    text += best_state_.present
                ? "; the register then held \"" + best_state_.value.substr(0, 80) + "\""
                : "; the register was then empty";
    text += "\n";
    for (size_t i = 0; i < ops_.size(); ++i) {
      const bool fits = !best_.empty() && (best_[i / 64] >> (i % 64) & 1);
      text += (fits ? " + " : " - ") + ToString(*ops_[i]) + "\n";
    }
    return text;
  }

  std::vector<const Operation*> ops_;
  const CheckOptions options_;
  std::vector<size_t> predecessor_;  // the same process's operation before, or kNone
  std::vector<uint64_t> done_;       // one bit an operation: linearised
  size_t first_open_ = 0;
  size_t answered_left_ = 0;
  size_t taken_count_ = 0;
  uint64_t steps_ = 0;
  std::unordered_map<Register, uint64_t, RegisterHash> state_numbers_;
  std::unordered_set<std::string> visited_;
  std::vector<uint64_t> best_;
  size_t best_count_ = 0;
  Register best_state_;
};

}  // namespace

Verdict Check(const History& history, const CheckOptions& options) {
  std::map<std::string_view, std::vector<const Operation*>> keys;
  for (const Operation& operation : history) keys[operation.key].push_back(&operation);
  Verdict whole;
  for (auto& [key, operations] : keys) {
    Verdict verdict = Search(std::move(operations), options).Run();
    verdict.steps += whole.steps;
    if (!verdict.ok()) return verdict;
    whole.steps = verdict.steps;
  }
  return whole;
}

}  // namespace weft::linearizability
