#include "table/filter_block_builder.h"

#include "base/coding.h"

namespace weft::table {

void FilterBlockBuilder::StartBlock(uint64_t offset) {
  const uint64_t window = offset >> kFilterWindowBits;
  while (filter_offsets_.size() < window) MakeFilter();
}

void FilterBlockBuilder::MakeFilter() {
  filter_offsets_.push_back(static_cast<uint32_t>(result_.size()));
  if (key_ends_.empty()) return;
  views_.clear();
  size_t start = 0;
  for (const size_t end : key_ends_) {
    views_.emplace_back(keys_.data() + start, end - start);
    start = end;
  }
  policy_->CreateFilter(views_, &result_);
  keys_.clear();
  key_ends_.clear();
}

std::string_view FilterBlockBuilder::Finish() {
  if (!key_ends_.empty()) MakeFilter();
  const auto offsets_at = static_cast<uint32_t>(result_.size());
  for (const uint32_t offset : filter_offsets_) base::PutFixed32(&result_, offset);
  base::PutFixed32(&result_, offsets_at);
  result_.push_back(static_cast<char>(kFilterWindowBits));
  return result_;
}

void FilterBlockBuilder::Clear() {
  keys_.clear();
  key_ends_.clear();
  result_.clear();
  filter_offsets_.clear();
}

}  // namespace weft::table
