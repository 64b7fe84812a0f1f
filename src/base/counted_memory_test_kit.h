// base/counted_memory_test_kit.h: memory for tests that knows what it gave away, and wants all of
// it back.
//
// Threads   one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>

#include "base/buffer_memory.h"

namespace weft::base {

class CountedMemory final : public BufferMemory {
 public:
  ~CountedMemory() override { EXPECT_TRUE(given_.empty()); }

  char* Allocate(size_t bytes) override {
    auto room = std::make_unique<char[]>(bytes);
    char* const at = room.get();
    given_[at] = {bytes, std::move(room)};
    times_given_++;
    return at;
  }
  void Free(char* at, size_t bytes) override {
    ASSERT_TRUE(given_.contains(at));
    EXPECT_EQ(given_[at].first, bytes);
    given_.erase(at);
  }

  int times_given() const { return times_given_; }
  size_t ranges() const { return given_.size(); }  // that have not come back
  size_t bytes() const {
    size_t sum = 0;
    for (const auto& [at, range] : given_) sum += range.first;
    return sum;
  }

 private:
  std::map<char*, std::pair<size_t, std::unique_ptr<char[]>>> given_;
  int times_given_ = 0;
};

}  // namespace weft::base
