// lsm/db_iterator.cc: see db_iterator.h.
#include "lsm/db_iterator.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "lsm/own_files.h"
#include "lsm/read_sampler.h"

namespace weft::lsm {
namespace {

using table::ParsedKey;
using table::SequenceNumber;
using table::ValueType;

// So many entries in a row that don't count are passed one by one; a seek then passes the rest.
constexpr int kStepsBeforeSeek = 16;
// A buffer above this is not kept for the next value.
constexpr size_t kKeptValueBytesMax = size_t{1} << 20;

class DbIterator final : public Iterator {
 public:
  DbIterator(const table::InternalComparator& comparator, std::unique_ptr<Iterator> internal,
             DbIteratorOptions options)
      : options_(std::move(options)),
        comparator_(comparator),
        sampled_(options_.sample != nullptr),
        sampler_(kBytesPerReadSample),
        internal_(std::move(internal)) {}

  bool Valid() const override { return valid_; }
  std::string_view key() const override {
    WEFT_DCHECK(valid_);
    return direction_ == Direction::kForward ? key_ : saved_key_;
  }
  std::string_view value() const override {
    WEFT_DCHECK(valid_);
    return direction_ == Direction::kForward ? internal_->value() : saved_value_;
  }
  Status status() const override {
    return status_.ok() ? OwnFileError(internal_->status()) : status_;
  }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(std::string_view target) override;
  void Next() override;
  void Prev() override;

 private:
  // Where internal_ stands while valid_:
  // kForward   at the entry that is shown: key_ and its value lie there.
  // kBackward  before all entries of the key that is shown: it lies in saved_key_, saved_value_.
  enum class Direction : uint8_t { kForward, kBackward };

  // Goes to the first entry from here on that is to be shown. With `hide_saved` entries of
  // saved_key_ are not.
  void FindForward(bool hide_saved);
  // Collects the last key from here backwards that is to be shown.
  void FindBackward();
  // Takes the entry here as the state of saved_key_. True: there is something to show.
  bool TakeBackward(const ParsedKey& entry);
  // To the entry before all those of `user_key`.
  void SeekBefore(std::string_view user_key);
  // Leaves the current key backwards: the first step from forward to backward.
  void StepBeforeCurrent();

  // The entry here. False: it is none, and the walk has ended.
  bool Parse(ParsedKey* entry);
  void SeekInternal(std::string_view user_key, SequenceNumber sequence, ValueType type);
  void Begin(Direction direction);
  void End();

  bool Same(std::string_view a, std::string_view b) const {
    return comparator_.is_bytewise() ? a == b : comparator_.CompareUser(a, b) == 0;
  }
  bool BelowLower(std::string_view user_key) const {
    return options_.lower_bound.has_value() &&
           comparator_.CompareUser(user_key, *options_.lower_bound) < 0;
  }
  bool AtUpper(std::string_view user_key) const {
    return options_.upper_bound.has_value() &&
           comparator_.CompareUser(user_key, *options_.upper_bound) >= 0;
  }

  // First, so that what internal_ reads from goes after it.
  const DbIteratorOptions options_;
  const table::InternalComparator comparator_;
  const bool sampled_;
  ReadSampler sampler_;
  const std::unique_ptr<Iterator> internal_;

  Direction direction_ = Direction::kForward;
  bool valid_ = false;
  std::string_view key_;
  std::string saved_key_;  // forwards: of the last key that was shown or deleted
  std::string saved_value_;
  std::string target_;  // a buffer for SeekInternal
  Status status_;
};

void DbIterator::SeekToFirst() {
  Begin(Direction::kForward);
  if (options_.lower_bound.has_value()) {
    SeekInternal(*options_.lower_bound, options_.sequence, table::kTypeForSeek);
  } else {
    internal_->SeekToFirst();
  }
  FindForward(false);
}

void DbIterator::SeekToLast() {
  Begin(Direction::kBackward);
  if (options_.upper_bound.has_value()) {
    SeekBefore(*options_.upper_bound);
  } else {
    internal_->SeekToLast();
  }
  FindBackward();
}

void DbIterator::Seek(std::string_view target) {
  Begin(Direction::kForward);
  SeekInternal(BelowLower(target) ? *options_.lower_bound : target, options_.sequence,
               table::kTypeForSeek);
  FindForward(false);
}

void DbIterator::Next() {
  WEFT_DCHECK(valid_);
  if (direction_ == Direction::kForward) {
    saved_key_.assign(key_);
    internal_->Next();
  } else {
    Begin(Direction::kForward);
    if (internal_->Valid()) {
      internal_->Next();
    } else {
      internal_->SeekToFirst();
    }
  }
  FindForward(true);
}

void DbIterator::Prev() {
  WEFT_DCHECK(valid_);
  if (direction_ == Direction::kForward) StepBeforeCurrent();
  FindBackward();
}

void DbIterator::FindForward(bool hide_saved) {
  int steps = 0;
  while (internal_->Valid()) {
    ParsedKey entry;
    if (!Parse(&entry)) return;
    if (AtUpper(entry.user_key)) break;
    const bool too_new = entry.sequence > options_.sequence;
    if (!too_new && !(hide_saved && Same(entry.user_key, saved_key_))) {
      if (entry.type == ValueType::kValue) {
        key_ = entry.user_key;
        valid_ = true;
        return;
      }
      saved_key_.assign(entry.user_key);
      hide_saved = true;
      steps = 0;
    }
    if (++steps < kStepsBeforeSeek) {
      internal_->Next();
      continue;
    }
    steps = 0;
    if (too_new) {
      SeekInternal(entry.user_key, options_.sequence, table::kTypeForSeek);
    } else {
      SeekInternal(saved_key_, 0, ValueType::kDeletion);  // no entry of the key comes after this
    }
  }
  valid_ = false;
}

void DbIterator::FindBackward() {
  bool found = false;
  int steps = 0;  // within one key
  while (internal_->Valid()) {
    ParsedKey entry;
    if (!Parse(&entry)) return;
    if (BelowLower(entry.user_key)) break;
    if (steps == 0 || !Same(entry.user_key, saved_key_)) {
      if (found) break;
      saved_key_.assign(entry.user_key);
      steps = 0;
    }
    const bool too_new = entry.sequence > options_.sequence;
    if (!too_new) found = TakeBackward(entry);
    if (++steps < kStepsBeforeSeek) {
      internal_->Prev();
      continue;
    }
    if (!too_new) {
      // Of many versions the newest that counts. It is there: what we stand on is none newer.
      SeekInternal(saved_key_, options_.sequence, table::kTypeForSeek);
      if (!internal_->Valid()) break;
      if (!Parse(&entry)) return;
      found = TakeBackward(entry);
    }
    SeekBefore(saved_key_);
  }
  // After an error nobody knows whether the last version was the one that counts.
  valid_ = found && (internal_->Valid() || internal_->status().ok());
  if (!valid_) End();
}

bool DbIterator::TakeBackward(const ParsedKey& entry) {
  if (entry.type == ValueType::kDeletion) return false;
  // Keys that a custom order takes for one may differ in their bytes.
  if (!comparator_.is_bytewise()) saved_key_.assign(entry.user_key);
  const std::string_view value = internal_->value();
  // A buffer that one large value needed is not kept for small ones.
  if (saved_value_.capacity() > value.size() + kKeptValueBytesMax) std::string().swap(saved_value_);
  saved_value_.assign(value);
  return true;
}

void DbIterator::SeekBefore(std::string_view user_key) {
  SeekInternal(user_key, table::kSequenceMax, table::kTypeForSeek);
  if (internal_->Valid()) {
    internal_->Prev();
  } else if (internal_->status().ok()) {
    internal_->SeekToLast();
  }
}

void DbIterator::StepBeforeCurrent() {
  direction_ = Direction::kBackward;
  saved_key_.assign(key_);
  for (int steps = 0; steps < kStepsBeforeSeek; ++steps) {
    internal_->Prev();
    if (!internal_->Valid()) return;
    const std::string_view key = internal_->key();
    if (key.size() < table::kTrailerBytes || !Same(table::UserKey(key), saved_key_)) return;
  }
  SeekBefore(saved_key_);
}

bool DbIterator::Parse(ParsedKey* entry) {
  const std::string_view key = internal_->key();
  if (!table::ParseInternalKey(key, entry)) {
    if (status_.ok()) status_ = Status(Code::kCorruption, "an entry's key is not an internal key");
    End();
    return false;
  }
  if (sampled_ && sampler_.NextIsCharged()) {
    size_t samples = sampler_.Charge(key.size() + internal_->value().size());
    for (; samples > 0; --samples) options_.sample(key);
  }
  return true;
}

void DbIterator::SeekInternal(std::string_view user_key, SequenceNumber sequence, ValueType type) {
  target_.clear();
  table::AppendInternalKey(&target_, user_key, sequence, type);
  internal_->Seek(target_);
}

void DbIterator::Begin(Direction direction) {
  End();
  direction_ = direction;
}

void DbIterator::End() {
  valid_ = false;
  if (saved_value_.capacity() > kKeptValueBytesMax) std::string().swap(saved_value_);
}

}  // namespace

std::unique_ptr<Iterator> NewDbIterator(const table::InternalComparator& comparator,
                                        std::unique_ptr<Iterator> internal,
                                        DbIteratorOptions options) {
  return std::make_unique<DbIterator>(comparator, std::move(internal), std::move(options));
}

}  // namespace weft::lsm
