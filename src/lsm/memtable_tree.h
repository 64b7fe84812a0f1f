// lsm/memtable_tree.h: the ordered index of a memtable: a B+-tree of entries that only grows.
//
// Keys and values lie in the arena; the tree holds addresses. See memtable_node.h for its nodes and
// how they are shared, and docs/design/0004-memtable.md for why it is no skip list.
//
// Threads   every call may be made from any thread at once. Readers never wait for more than the
//           change of one node; writers lock the leaf, and its parent where it is divided.
// Cost      a level is one node: its lines are asked for at once, and about five of them read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lsm/arena.h"
#include "lsm/memtable_entry.h"
#include "lsm/memtable_node.h"
#include "table/internal_key.h"

namespace weft::lsm {

class MemTableTree {
 public:
  // The entries of one leaf at one instant. `low` and `next` lead on.
  struct LeafCopy {
    const char* entries[MemTableNode::kSlots];
    uint32_t count = 0;
    const char* low = nullptr;           // what lies before this leaf is below this entry
    const MemTableLeaf* next = nullptr;  // the leaf behind it; null: it was the last one
  };

  // The way to a leaf, as far as the node above it. Good until that node changes, which shows.
  struct Way {
    MemTableNode* parent = nullptr;  // null: there is none
    MemTableLeaf* leaf = nullptr;
    uint64_t parent_version = 0;
  };

  // `arena` must outlive the tree and gets the nodes.
  MemTableTree(const table::InternalComparator& comparator, Arena* arena);
  MemTableTree(const MemTableTree&) = delete;
  MemTableTree& operator=(const MemTableTree&) = delete;

  // REQUIRES: `entry` is a MemTableEntry whose internal key is not in the tree
  void Insert(const char* entry);
  // The first entry that is not below `target`; null where there is none, or where the slices tell
  // that it is of another user key, so that it is not fetched in vain. `way`, if not null, is
  // Approach's for this target.
  const char* FindCandidate(const MemTableTarget& target, const Way* way = nullptr) const;
  // Asks the memory for the leaf that `target` belongs to, and tells the way there.
  Way Approach(const MemTableTarget& target) const;

  // Copies the leaf that holds, or would hold, `target`; returns the index in it of the first entry
  // not below target, which is count where that is in the next leaf.
  uint32_t CopyLeafOf(const MemTableTarget& target, LeafCopy* copy) const;
  // Copies the leaf of the last entry below `entry`. REQUIRES: `entry` is the `low` of a leaf
  void CopyLeafBefore(const char* entry, LeafCopy* copy) const;
  void CopyLeaf(const MemTableLeaf* leaf, LeafCopy* copy) const;
  void CopyFirstLeaf(LeafCopy* copy) const { CopyLeaf(first_, copy); }
  void CopyLastLeaf(LeafCopy* copy) const;

 private:
  // A node as a reader met it.
  template <typename Node>
  struct Seen {
    Node* node;
    uint64_t version;
  };

  MemTableTarget TargetOf(const char* entry) const {
    const MemTableEntry decoded(entry);
    return {decoded.user_key(), decoded.trailer()};
  }
  int Compare(const char* entry, const MemTableTarget& target) const {
    return CompareEntry(comparator_, entry, target);
  }
  // Keys of the node below `target`, or with `or_equal` not above it. Good only if the version has
  // not changed.
  uint32_t CountBelow(const MemTableNode& node, const MemTableTarget& target, bool or_equal) const;
  // As CountBelow, of the keys [first, end), whose slices are all the target's.
  uint32_t CountBelowAmongEqual(const MemTableNode& node, uint32_t first, uint32_t end,
                                const MemTableTarget& target, bool or_equal) const;

  Seen<MemTableNode> BeginAtRoot() const;
  // The child on the way to `target`, or with `below` to the last key below it. Null: look anew.
  MemTableNode* FindChild(Seen<MemTableNode> inner, const MemTableTarget& target, bool below) const;
  // The same, and asks the memory for it.
  MemTableNode* ChildFor(Seen<MemTableNode> inner, const MemTableTarget& target, bool below) const;
  // Goes from *seen to `child`. False: *seen was changed in the meantime.
  static bool Descend(MemTableNode* child, Seen<MemTableNode>* seen);
  // The leaf at the end of that way.
  Seen<MemTableLeaf> FindLeaf(const MemTableTarget& target, bool below) const;
  static bool TryCopyLeaf(Seen<const MemTableLeaf> leaf, LeafCopy* copy);

  // Insert where the key goes to the end of the last leaf. False: it does not, or not so simply.
  bool TryAppend(const char* entry, const MemTableTarget& target);
  // One walk from the root. False: a node was divided, or a race lost: walk again.
  bool TryInsert(const char* entry, const MemTableTarget& target);
  bool TryInsertInLeaf(Seen<MemTableLeaf> leaf, const char* entry, const MemTableTarget& target);
  // Divides a full node and tells its parent (null: it was the root, and gets one), which is not
  // full. `entry` goes into one half where the node is a leaf. False: a race was lost, and nothing
  // was done.
  bool TrySplit(Seen<MemTableNode> parent, Seen<MemTableNode> node, const char* entry,
                const MemTableTarget& target);

  // These need the lock of the nodes they change.
  MemTableLeaf* SplitLeafLocked(MemTableLeaf* leaf, const char* entry,
                                const MemTableTarget& target);
  MemTableInner* SplitInnerLocked(MemTableInner* inner, const MemTableTarget& target);
  void GrowRootLocked(MemTableInner* root, MemTableNode* left, MemTableNode* right);
  void InsertKeyLocked(MemTableNode* node, uint32_t index, const char* entry);
  void InsertChildLocked(MemTableInner* parent, MemTableNode* right);
  // Makes the node's `skip` longer where its slices tell little, and no longer than its bounds
  // have in common.
  void FitSkipLocked(MemTableNode* node);
  // Makes `skip` so short that `user_key` has the shared bytes too.
  void AdmitKeyLocked(MemTableNode* node, std::string_view user_key);
  void SetSkipLocked(MemTableNode* node, uint32_t skip);

  MemTableLeaf* NewLeaf(const char* low);
  MemTableInner* NewInner(uint32_t height, const char* low);

  // Constant after construction.
  const table::InternalComparator comparator_;
  const bool slices_;  // false: slices say nothing about the order, all are 0
  Arena* const arena_;
  MemTableLeaf* const first_;

  std::atomic<MemTableNode*> root_;
  // The leaf without `high`, or one that was.
  std::atomic<MemTableLeaf*> last_;
  // True: the last insertion that went through the tree went to its end. A hint.
  std::atomic<bool> ascending_{true};
};

}  // namespace weft::lsm
