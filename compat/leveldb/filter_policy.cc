#include "leveldb/filter_policy.h"

#include <span>
#include <vector>

#include "convert.h"
#include "own_objects.h"
#include "policies.h"

namespace leveldb {

namespace {

using weft::compat::View;
using Made = weft::compat::OwnObjects<FilterPolicy, const weft::FilterPolicy>;

Made* MadePolicies() {
  static Made* const made = new Made;  // never freed: policies may be freed after main
  return made;
}

class Bloom final : public FilterPolicy {
 public:
  explicit Bloom(int bits_per_key) : ours_(weft::NewBloomFilterPolicy(bits_per_key)) {
    MadePolicies()->Add(this, ours_);
  }
  ~Bloom() override { MadePolicies()->Remove(this); }

  const char* Name() const override { return ours_->Name(); }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    std::vector<std::string_view> views;
    views.reserve(static_cast<size_t>(n));
    for (int i = 0; i < n; i++) views.push_back(View(keys[i]));
    ours_->CreateFilter(views, dst);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return ours_->KeyMayMatch(View(key), View(filter));
  }

 private:
  const std::shared_ptr<const weft::FilterPolicy> ours_;
};

}  // namespace

FilterPolicy::~FilterPolicy() = default;

const FilterPolicy* NewBloomFilterPolicy(int bits_per_key) {
  return new Bloom(bits_per_key);  // freed by the caller
}

}  // namespace leveldb

namespace weft::compat {

namespace {

class UserFilterPolicy final : public FilterPolicy {
 public:
  explicit UserFilterPolicy(const leveldb::FilterPolicy* user) : user_(user) {}

  const char* Name() const override { return user_->Name(); }
  void CreateFilter(std::span<const std::string_view> keys, std::string* filter) const override {
    std::vector<leveldb::Slice> slices;
    slices.reserve(keys.size());
    for (const std::string_view key : keys) slices.push_back(ToSlice(key));
    user_->CreateFilter(slices.data(), static_cast<int>(slices.size()), filter);
  }
  bool KeyMayMatch(std::string_view key, std::string_view filter) const override {
    return user_->KeyMayMatch(ToSlice(key), ToSlice(filter));
  }

 private:
  const leveldb::FilterPolicy* const user_;
};

}  // namespace

std::shared_ptr<const FilterPolicy> ToWeft(const leveldb::FilterPolicy* given) {
  if (given == nullptr) return nullptr;
  if (auto made = leveldb::MadePolicies()->Find(given)) return made;
  return std::make_shared<UserFilterPolicy>(given);
}

}  // namespace weft::compat
