#include "table/internal_key.h"

#include <vector>

namespace weft::table {

namespace {

bool IsShort(std::string_view key) { return key.size() < kTrailerBytes; }

std::string_view UserKeyOrWhole(std::string_view key) { return IsShort(key) ? key : UserKey(key); }

// Takes `shorter` for *key where that is below it and shorter, as an index block's key must be.
void AcceptShorter(const Comparator* user, std::string* shorter, std::string* key) {
  const std::string_view before = UserKey(*key);
  if (shorter->size() >= before.size() || user->Compare(before, *shorter) >= 0) return;
  base::PutFixed64(shorter, PackTrailer(kSequenceMax, kTypeForSeek));
  key->swap(*shorter);
}

}  // namespace

int InternalComparator::Compare(std::string_view a, std::string_view b) const {
  if (IsShort(a) || IsShort(b)) [[unlikely]] {
    if (IsShort(a) && IsShort(b)) return a.compare(b);
    return IsShort(a) ? -1 : 1;
  }
  const int order = CompareUser(UserKey(a), UserKey(b));
  if (order != 0) return order;
  const uint64_t trailer_a = Trailer(a);
  const uint64_t trailer_b = Trailer(b);
  return trailer_a > trailer_b ? -1 : trailer_a < trailer_b ? 1 : 0;
}

void InternalComparator::FindShortestSeparator(std::string* start, std::string_view limit) const {
  if (IsShort(*start) || IsShort(limit)) return;
  std::string shorter(UserKey(*start));
  user_->FindShortestSeparator(&shorter, UserKey(limit));
  AcceptShorter(user_, &shorter, start);
}

void InternalComparator::FindShortSuccessor(std::string* key) const {
  if (IsShort(*key)) return;
  std::string shorter(UserKey(*key));
  user_->FindShortSuccessor(&shorter);
  AcceptShorter(user_, &shorter, key);
}

void InternalFilterPolicy::CreateFilter(std::span<const std::string_view> keys,
                                        std::string* filter) const {
  std::vector<std::string_view> user_keys;
  user_keys.reserve(keys.size());
  for (const std::string_view key : keys) user_keys.push_back(UserKeyOrWhole(key));
  user_->CreateFilter(user_keys, filter);
}

bool InternalFilterPolicy::KeyMayMatch(std::string_view key, std::string_view filter) const {
  return user_->KeyMayMatch(UserKeyOrWhole(key), filter);
}

}  // namespace weft::table
