#include "protocol/kept_bytes.h"

#include <cstring>

namespace weft::protocol {
namespace {

std::unique_ptr<char[]> NewBlock(size_t bytes) {
  return std::make_unique_for_overwrite<char[]>(bytes);
}

std::string_view CopyTo(char* place, std::string_view bytes) {
  std::memcpy(place, bytes.data(), bytes.size());
  return {place, bytes.size()};
}

}  // namespace

std::string_view KeptBytes::Keep(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (bytes.size() > kBlockBytes / 4) {
    return CopyTo(others_.emplace_back(NewBlock(bytes.size())).get(), bytes);
  }
  if (bytes.size() > left_bytes_) {
    std::unique_ptr<char[]>& block = first_ == nullptr ? first_ : others_.emplace_back();
    block = NewBlock(kBlockBytes);
    next_ = block.get();
    left_bytes_ = kBlockBytes;
  }
  const std::string_view copy = CopyTo(next_, bytes);
  next_ += bytes.size();
  left_bytes_ -= bytes.size();
  return copy;
}

void KeptBytes::Clear() {
  others_.clear();
  next_ = first_.get();
  left_bytes_ = first_ == nullptr ? 0 : kBlockBytes;
}

}  // namespace weft::protocol
