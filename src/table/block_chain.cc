#include "table/block_chain.h"

#include <algorithm>
#include <utility>

namespace weft::table {

namespace {

constexpr size_t kNone = ~size_t{0};

// The heaviest chain of those that end at a key below another (a Fenwick tree of maxima).
class Heaviest {
 public:
  struct Chain {
    uint64_t bytes = 0;
    size_t last = kNone;  // its last block
  };
  explicit Heaviest(size_t ranks) : best_(ranks + 1) {}

  void Add(size_t rank, const Chain& chain) {
    for (size_t i = rank + 1; i < best_.size(); i += i & (~i + 1)) {
      if (best_[i].bytes < chain.bytes) best_[i] = chain;
    }
  }
  Chain Below(size_t rank) const {
    Chain best;
    for (size_t i = rank; i > 0; i -= i & (~i + 1)) {
      if (best.bytes < best_[i].bytes) best = best_[i];
    }
    return best;
  }

 private:
  std::vector<Chain> best_;
};

// Numbers in the order of the keys: of block i the first key's at 2i, the last one's behind it.
std::vector<size_t> RankKeys(const KeyOrder& order, const std::vector<FoundBlock>& blocks) {
  const auto key = [&](size_t i) -> const std::string& {
    return i % 2 == 0 ? blocks[i / 2].first_key : blocks[i / 2].last_key;
  };
  std::vector<size_t> by_key(2 * blocks.size());
  for (size_t i = 0; i < by_key.size(); i++) by_key[i] = i;
  std::ranges::sort(by_key, [&](size_t a, size_t b) { return order.Compare(key(a), key(b)) < 0; });
  std::vector<size_t> ranks(by_key.size());
  size_t rank = 0;
  for (size_t i = 0; i < by_key.size(); i++) {
    if (i > 0 && order.Compare(key(by_key[i - 1]), key(by_key[i])) != 0) rank++;
    ranks[by_key[i]] = rank;
  }
  return ranks;
}

}  // namespace

std::vector<size_t> HeaviestChain(const KeyOrder& order, const std::vector<FoundBlock>& blocks) {
  const std::vector<size_t> ranks = RankKeys(order, blocks);
  std::vector<size_t> by_end(blocks.size());
  for (size_t i = 0; i < by_end.size(); i++) by_end[i] = i;
  std::ranges::sort(by_end, {}, [&](size_t i) { return blocks[i].end(); });
  Heaviest heaviest(ranks.size());
  std::vector<Heaviest::Chain> chains(blocks.size());  // up to each block, and the one before it
  size_t ended = 0;
  for (size_t i = 0; i < blocks.size(); i++) {
    while (blocks[by_end[ended]].end() <= blocks[i].handle.offset) {  // so it begins before i
      const size_t before = by_end[ended++];
      heaviest.Add(ranks[2 * before + 1], {chains[before].bytes, before});
    }
    chains[i] = heaviest.Below(ranks[2 * i]);
    chains[i].bytes += blocks[i].handle.bytes + kBlockTrailerBytes;
  }
  size_t at = kNone;
  for (size_t i = 0; i < blocks.size(); i++) {
    if (at == kNone || chains[at].bytes < chains[i].bytes) at = i;
  }
  std::vector<size_t> chain;
  for (; at != kNone; at = chains[at].last) chain.push_back(at);
  std::ranges::reverse(chain);
  return chain;
}

}  // namespace weft::table
