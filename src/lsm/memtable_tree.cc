// lsm/memtable_tree.cc: looking up and copying; memtable_insert.cc has the changes.
#include "lsm/memtable_tree.h"

#include <algorithm>
#include <new>

namespace weft::lsm {
namespace {

constexpr size_t kLineWords = Arena::kLineBytes / sizeof(uint64_t);

// Asks for all a search may read of a leaf: which lines shows only in the lines themselves, and to
// wait for one after the other costs more than to fetch some for nothing.
void PrefetchNode(const MemTableNode* node) {
  __builtin_prefetch(node);
  for (uint32_t i = 0; i < MemTableNode::kSlots; i += kLineWords) {
    __builtin_prefetch(&node->slices[i]);
    __builtin_prefetch(&node->entries[i]);
  }
}

// Without the entries: most keys that are looked up here are not here.
void PrefetchSlices(const MemTableNode* node) {
  __builtin_prefetch(node);
  for (uint32_t i = 0; i < MemTableNode::kSlots; i += kLineWords) {
    __builtin_prefetch(&node->slices[i]);
  }
}

// The first of `count` slices that is not below `slice`. Without a branch on what was read.
uint32_t LowerBound(const MemTableNode& node, uint32_t count, uint64_t slice) {
  uint32_t first = 0;
  while (count > 1) {
    const uint32_t half = count / 2;
    first += node.slices[first + half - 1].Get() < slice ? half : 0;
    count -= half;
  }
  return first + (node.slices[first].Get() < slice ? 1 : 0);
}

}  // namespace

MemTableTree::MemTableTree(const table::InternalComparator& comparator, Arena* arena)
    : comparator_(comparator),
      slices_(comparator.is_bytewise()),
      arena_(arena),
      first_(NewLeaf(nullptr)),
      root_(first_),
      last_(first_) {}

// Nodes have nothing to destroy: their memory goes with the arena.
MemTableLeaf* MemTableTree::NewLeaf(const char* low) {
  return new (arena_->AllocateAligned(sizeof(MemTableLeaf))) MemTableLeaf(0, low);
}

MemTableInner* MemTableTree::NewInner(uint32_t height, const char* low) {
  return new (arena_->AllocateAligned(sizeof(MemTableInner))) MemTableInner(height, low);
}

uint32_t MemTableTree::CountBelow(const MemTableNode& node, const MemTableTarget& target,
                                  bool or_equal) const {
  const uint32_t count = node.count.Get();
  if (count == 0) return 0;
  if (!slices_) return CountBelowAmongEqual(node, 0, count, target, or_equal);
  const uint32_t skip = node.skip.Get();
  if (skip != 0 && !node.bounded()) {
    const std::string_view shared = MemTableEntry(node.entries[0].Get()).user_key().substr(0, skip);
    const int order = target.user_key.substr(0, skip).compare(shared);
    if (order != 0) return order < 0 ? 0 : count;
  }
  const uint64_t slice = KeySlice(target.user_key, skip);
  const uint32_t first = LowerBound(node, count, slice);
  uint32_t end = first;
  while (end < count && node.slices[end].Get() == slice) ++end;
  return CountBelowAmongEqual(node, first, end, target, or_equal);
}

uint32_t MemTableTree::CountBelowAmongEqual(const MemTableNode& node, uint32_t first, uint32_t end,
                                            const MemTableTarget& target, bool or_equal) const {
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    const int order = Compare(node.entries[middle].Get(), target);
    if (order < 0 || (or_equal && order == 0)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

MemTableTree::Seen<MemTableNode> MemTableTree::BeginAtRoot() const {
  for (;;) {
    // Acquire: pairs with the release in GrowRootLocked, so that a new root is seen filled.
    MemTableNode* root = root_.load(std::memory_order_acquire);
    const uint64_t version = root->lock.Begin();
    // A root that was divided is one no more, and its version may be the one after.
    if (root_.load(std::memory_order_acquire) == root) return {root, version};
  }
}

MemTableNode* MemTableTree::FindChild(Seen<MemTableNode> inner, const MemTableTarget& target,
                                      bool below) const {
  const uint32_t index = CountBelow(*inner.node, target, !below);
  MemTableNode* child = static_cast<MemTableInner*>(inner.node)->children[index].Get();
  return inner.node->lock.Unchanged(inner.version) ? child : nullptr;
}

MemTableNode* MemTableTree::ChildFor(Seen<MemTableNode> inner, const MemTableTarget& target,
                                     bool below) const {
  MemTableNode* child = FindChild(inner, target, below);
  if (child != nullptr) PrefetchNode(child);
  return child;
}

bool MemTableTree::Descend(MemTableNode* child, Seen<MemTableNode>* seen) {
  const uint64_t version = child->lock.Begin();
  // The child's version is that of a child which still is where we came from.
  if (!seen->node->lock.Unchanged(seen->version)) return false;
  *seen = {child, version};
  return true;
}

MemTableTree::Seen<MemTableLeaf> MemTableTree::FindLeaf(const MemTableTarget& target,
                                                        bool below) const {
  for (;;) {
    Seen<MemTableNode> seen = BeginAtRoot();
    while (!seen.node->is_leaf()) {
      MemTableNode* child = ChildFor(seen, target, below);
      if (child == nullptr || !Descend(child, &seen)) break;
    }
    if (seen.node->is_leaf()) return seen;
  }
}

const char* MemTableTree::FindCandidate(const MemTableTarget& target, const Way* way) const {
  for (;; way = nullptr) {
    Seen<MemTableLeaf> leaf{};
    if (way != nullptr && way->parent != nullptr) leaf = {way->parent, way->parent_version};
    if (leaf.node == nullptr || !Descend(way->leaf, &leaf)) leaf = FindLeaf(target, false);
    const MemTableLeaf& node = *leaf.node;
    const uint32_t index = CountBelow(node, target, false);
    const char* entry;
    if (index >= node.count.Get()) {
      entry = node.high.Get();  // the first entry of the next leaf
    } else if (slices_ && node.slices[index].Get() != KeySlice(target.user_key, node.skip.Get())) {
      entry = nullptr;
    } else {
      entry = node.entries[index].Get();
    }
    if (node.lock.Unchanged(leaf.version)) return entry;
  }
}

MemTableTree::Way MemTableTree::Approach(const MemTableTarget& target) const {
  Seen<MemTableNode> seen = BeginAtRoot();
  while (!seen.node->is_leaf()) {
    MemTableNode* child = FindChild(seen, target, false);
    if (child == nullptr) break;
    // The leaf's lines are on their way then: to read them would be to wait.
    PrefetchSlices(child);
    if (seen.node->height == 1) return {seen.node, child, seen.version};
    if (!Descend(child, &seen)) break;
  }
  return {};
}

bool MemTableTree::TryCopyLeaf(Seen<const MemTableLeaf> leaf, LeafCopy* copy) {
  const uint32_t count = leaf.node->count.Get();
  for (uint32_t i = 0; i < count; ++i) copy->entries[i] = leaf.node->entries[i].Get();
  copy->count = count;
  copy->low = leaf.node->low;
  copy->next = leaf.node->next.Get();
  return leaf.node->lock.Unchanged(leaf.version);
}

uint32_t MemTableTree::CopyLeafOf(const MemTableTarget& target, LeafCopy* copy) const {
  for (;;) {
    const Seen<MemTableLeaf> leaf = FindLeaf(target, false);
    const uint32_t index = CountBelow(*leaf.node, target, false);
    if (TryCopyLeaf({leaf.node, leaf.version}, copy)) return index;
  }
}

void MemTableTree::CopyLeafBefore(const char* entry, LeafCopy* copy) const {
  const MemTableTarget target = TargetOf(entry);
  for (;;) {
    const Seen<MemTableLeaf> leaf = FindLeaf(target, true);
    if (TryCopyLeaf({leaf.node, leaf.version}, copy)) return;
  }
}

void MemTableTree::CopyLeaf(const MemTableLeaf* leaf, LeafCopy* copy) const {
  while (!TryCopyLeaf({leaf, leaf->lock.Begin()}, copy)) {
  }
}

void MemTableTree::CopyLastLeaf(LeafCopy* copy) const {
  // Acquire: pairs with the release in SplitLeafLocked.
  CopyLeaf(last_.load(std::memory_order_acquire), copy);
  while (copy->next != nullptr) CopyLeaf(copy->next, copy);
}

}  // namespace weft::lsm
