// lsm/memtable_insert.cc: how a memtable's tree grows. See memtable_tree.h.
#include <algorithm>
#include <bit>

#include "lsm/memtable_tree.h"

namespace weft::lsm {
namespace {

// Slices whose first and last agree in so many of their eight bytes are taken anew from further
// back in the keys.
constexpr int kAgreeingBytesMax = 4;

std::string_view UserKeyOf(const char* entry) { return MemTableEntry(entry).user_key(); }

void MoveTail(const MemTableNode& from, uint32_t first, MemTableNode* to) {
  const uint32_t count = from.count.Get();
  for (uint32_t i = first; i < count; ++i) {
    to->slices[i - first].Set(from.slices[i].Get());
    to->entries[i - first].Set(from.entries[i].Get());
  }
  to->count.Set(count - first);
  to->skip.Set(first < count ? from.skip.Get() : 0);  // an empty node has nothing to share
  to->high.Set(from.high.Get());
}

// The locks of a node and its parent (or null), which their holder gives back: as changed, or as
// they were where it found no memory.
class HeldForSplit {
 public:
  HeldForSplit(MemTableNode* parent, MemTableNode* node) : parent_(parent), node_(node) {}
  ~HeldForSplit() {
    for (MemTableNode* each : {node_, parent_}) {
      if (each != nullptr) changed_ ? each->lock.Unlock() : each->lock.UnlockUnchanged();
    }
  }
  HeldForSplit(const HeldForSplit&) = delete;
  HeldForSplit& operator=(const HeldForSplit&) = delete;
  void Changed() { changed_ = true; }

 private:
  MemTableNode* const parent_;
  MemTableNode* const node_;
  bool changed_ = false;
};

}  // namespace

void MemTableTree::Insert(const char* entry) {
  const MemTableTarget target = TargetOf(entry);
  if (TryAppend(entry, target)) return;
  while (!TryInsert(entry, target)) {
  }
}

bool MemTableTree::TryAppend(const char* entry, const MemTableTarget& target) {
  // Relaxed, here and below: a hint that guards nothing.
  if (!ascending_.load(std::memory_order_relaxed)) return false;
  // Acquire: pairs with the release in SplitLeafLocked.
  MemTableLeaf* leaf = last_.load(std::memory_order_acquire);
  const uint64_t version = leaf->lock.Begin();
  const uint32_t count = leaf->count.Get();
  if (leaf->high.Get() != nullptr || count == 0 || leaf->full()) return false;
  if (Compare(leaf->entries[count - 1].Get(), target) > 0) {
    ascending_.store(false, std::memory_order_relaxed);
    return false;
  }
  if (!leaf->lock.TryLock(version)) return false;
  AdmitKeyLocked(leaf, target.user_key);
  InsertKeyLocked(leaf, count, entry);
  leaf->lock.Unlock();
  return true;
}

bool MemTableTree::TryInsert(const char* entry, const MemTableTarget& target) {
  Seen<MemTableNode> parent{nullptr, 0};
  Seen<MemTableNode> seen = BeginAtRoot();
  while (!seen.node->is_leaf()) {
    if (seen.node->full()) {
      TrySplit(parent, seen, entry, target);
      return false;
    }
    MemTableNode* child = ChildFor(seen, target, false);
    if (child == nullptr) return false;
    parent = seen;
    if (!Descend(child, &seen)) return false;
  }
  if (seen.node->full()) return TrySplit(parent, seen, entry, target);
  return TryInsertInLeaf(seen, entry, target);
}

bool MemTableTree::TryInsertInLeaf(Seen<MemTableLeaf> leaf, const char* entry,
                                   const MemTableTarget& target) {
  MemTableLeaf* node = leaf.node;
  const uint32_t index = CountBelow(*node, target, false);
  if (!node->lock.TryLock(leaf.version)) return false;
  const bool at_end = node->high.Get() == nullptr && index == node->count.Get();
  AdmitKeyLocked(node, target.user_key);
  InsertKeyLocked(node, index, entry);
  node->lock.Unlock();
  if (at_end) ascending_.store(true, std::memory_order_relaxed);  // a hint that guards nothing
  return true;
}

bool MemTableTree::TrySplit(Seen<MemTableNode> parent, Seen<MemTableNode> node, const char* entry,
                            const MemTableTarget& target) {
  // Parent first, as everyone does. Nobody waits for a lock here: who does not get one begins anew.
  if (parent.node != nullptr && !parent.node->lock.TryLock(parent.version)) return false;
  if (!node.node->lock.TryLock(node.version)) {
    if (parent.node != nullptr) parent.node->lock.UnlockUnchanged();
    return false;
  }
  HeldForSplit held(parent.node, node.node);
  // The root first and, by what is called, the node's other half: behind them nothing is allocated.
  MemTableInner* root = parent.node == nullptr ? NewInner(node.node->height + 1, nullptr) : nullptr;
  MemTableNode* right;
  if (node.node->is_leaf()) {
    right = SplitLeafLocked(node.node, entry, target);
  } else {
    right = SplitInnerLocked(static_cast<MemTableInner*>(node.node), target);
  }
  if (parent.node != nullptr) {
    InsertChildLocked(static_cast<MemTableInner*>(parent.node), right);
  } else {
    GrowRootLocked(root, node.node, right);
  }
  held.Changed();
  return true;
}

MemTableLeaf* MemTableTree::SplitLeafLocked(MemTableLeaf* leaf, const char* entry,
                                            const MemTableTarget& target) {
  // Ascending keys leave full leaves behind.
  const uint32_t count = leaf->count.Get();
  const bool append =
      leaf->high.Get() == nullptr && Compare(leaf->entries[count - 1].Get(), target) < 0;
  const uint32_t kept = append ? count : count / 2;
  const char* low = append ? entry : leaf->entries[kept].Get();

  MemTableLeaf* right = NewLeaf(low);
  MoveTail(*leaf, kept, right);
  right->next.Set(leaf->next.Get());
  leaf->count.Set(kept);
  leaf->high.Set(low);
  FitSkipLocked(leaf);
  FitSkipLocked(right);

  MemTableLeaf* home = append || Compare(low, target) < 0 ? right : leaf;
  const uint32_t index = CountBelow(*home, target, false);
  AdmitKeyLocked(home, target.user_key);
  InsertKeyLocked(home, index, entry);
  // Nobody knows the new leaf before this, so that it needed no lock; now it is filled.
  leaf->next.Set(right);
  // Release: pairs with TryAppend and CopyLastLeaf.
  if (right->high.Get() == nullptr) last_.store(right, std::memory_order_release);
  return right;
}

MemTableInner* MemTableTree::SplitInnerLocked(MemTableInner* inner, const MemTableTarget& target) {
  const uint32_t count = inner->count.Get();
  const bool append =
      inner->high.Get() == nullptr && Compare(inner->entries[count - 1].Get(), target) < 0;
  const uint32_t middle = append ? count - 2 : count / 2;
  const char* low = inner->entries[middle].Get();

  MemTableInner* right = NewInner(inner->height, low);
  MoveTail(*inner, middle + 1, right);
  for (uint32_t i = middle + 1; i <= count; ++i) {
    right->children[i - middle - 1].Set(inner->children[i].Get());
  }
  inner->count.Set(middle);
  inner->high.Set(low);
  FitSkipLocked(inner);
  FitSkipLocked(right);
  return right;
}

void MemTableTree::GrowRootLocked(MemTableInner* root, MemTableNode* left, MemTableNode* right) {
  root->children[0].Set(left);
  root->children[1].Set(right);
  InsertKeyLocked(root, 0, right->low);
  // Release: pairs with BeginAtRoot. Only the one who holds the root's lock gets here.
  root_.store(root, std::memory_order_release);
}

void MemTableTree::InsertChildLocked(MemTableInner* parent, MemTableNode* right) {
  const MemTableTarget target = TargetOf(right->low);
  const uint32_t index = CountBelow(*parent, target, false);
  for (uint32_t i = parent->count.Get() + 1; i > index + 1; --i) {
    parent->children[i].Set(parent->children[i - 1].Get());
  }
  parent->children[index + 1].Set(right);
  AdmitKeyLocked(parent, target.user_key);
  InsertKeyLocked(parent, index, right->low);
  // A node with bounds was fitted when it got them.
  if (!parent->bounded()) FitSkipLocked(parent);
}

void MemTableTree::InsertKeyLocked(MemTableNode* node, uint32_t index, const char* entry) {
  const uint32_t count = node->count.Get();
  for (uint32_t i = count; i > index; --i) node->slices[i].Set(node->slices[i - 1].Get());
  for (uint32_t i = count; i > index; --i) node->entries[i].Set(node->entries[i - 1].Get());
  node->slices[index].Set(slices_ ? KeySlice(UserKeyOf(entry), node->skip.Get()) : 0);
  node->entries[index].Set(entry);
  node->count.Set(count + 1);
}

void MemTableTree::FitSkipLocked(MemTableNode* node) {
  const uint32_t count = node->count.Get();
  if (!slices_ || count == 0) return;
  const bool bounded = node->bounded();
  const char* low = bounded ? node->low : node->entries[0].Get();
  const char* high = bounded ? node->high.Get() : node->entries[count - 1].Get();
  const auto shared = static_cast<uint32_t>(SharedPrefixBytes(UserKeyOf(low), UserKeyOf(high)));
  const uint32_t skip = node->skip.Get();
  const uint64_t differing = node->slices[0].Get() ^ node->slices[count - 1].Get();
  const bool tell_little = std::countl_zero(differing) / 8 >= kAgreeingBytesMax;
  if (shared < skip || (shared > skip && tell_little)) SetSkipLocked(node, shared);
}

void MemTableTree::AdmitKeyLocked(MemTableNode* node, std::string_view user_key) {
  const uint32_t skip = node->skip.Get();
  if (skip == 0 || node->bounded()) return;
  const size_t shared = SharedPrefixBytes(user_key, UserKeyOf(node->entries[0].Get()));
  if (shared < skip) SetSkipLocked(node, static_cast<uint32_t>(shared));
}

void MemTableTree::SetSkipLocked(MemTableNode* node, uint32_t skip) {
  const uint32_t count = node->count.Get();
  for (uint32_t i = 0; i < count; ++i) {
    node->slices[i].Set(KeySlice(UserKeyOf(node->entries[i].Get()), skip));
  }
  node->skip.Set(skip);
}

}  // namespace weft::lsm
