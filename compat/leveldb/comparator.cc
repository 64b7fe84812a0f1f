#include "leveldb/comparator.h"

#include "convert.h"
#include "policies.h"

namespace leveldb {

namespace {

using weft::compat::View;

class Bytewise final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  const char* Name() const override { return ours_->Name(); }
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    ours_->FindShortestSeparator(start, View(limit));
  }
  void FindShortSuccessor(std::string* key) const override { ours_->FindShortSuccessor(key); }

 private:
  const weft::Comparator* const ours_ = weft::BytewiseComparator();
};

}  // namespace

Comparator::~Comparator() = default;

const Comparator* BytewiseComparator() {
  static const Comparator* const bytewise = new Bytewise;  // never freed: stores may outlive main
  return bytewise;
}

}  // namespace leveldb

namespace weft::compat {

int UserComparator::Compare(std::string_view a, std::string_view b) const {
  return user_->Compare(ToSlice(a), ToSlice(b));
}

void UserComparator::FindShortestSeparator(std::string* start, std::string_view limit) const {
  user_->FindShortestSeparator(start, ToSlice(limit));
}

void UserComparator::FindShortSuccessor(std::string* key) const { user_->FindShortSuccessor(key); }

const Comparator* ToWeft(const leveldb::Comparator* given,
                         std::unique_ptr<UserComparator>* adapter) {
  if (given == leveldb::BytewiseComparator()) return BytewiseComparator();
  *adapter = std::make_unique<UserComparator>(given);
  return adapter->get();
}

}  // namespace weft::compat
