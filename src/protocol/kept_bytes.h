// protocol/kept_bytes.h: copies of bytes that stay where they are until all go together.
//
// For what a batch's records point at where the batch outlives the input.
// Threads   one at a time.
// Memory    blocks of kBlockBytes, one of which stays when the others go. What takes more than
//           a quarter of one gets a block of its own.
// Cost      a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace weft::protocol {

class KeptBytes {
 public:
  static constexpr size_t kBlockBytes = size_t{64} << 10;

  // A copy that stays until Clear.
  std::string_view Keep(std::string_view bytes);
  void Clear();

 private:
  std::unique_ptr<char[]> first_;
  std::vector<std::unique_ptr<char[]>> others_;
  char* next_ = nullptr;  // in the block at work
  size_t left_bytes_ = 0;
};

}  // namespace weft::protocol
