#include "table/merging_iterator.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace weft::table {

namespace {

class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(std::string_view) override {}
  void Next() override {}
  void Prev() override {}
  std::string_view key() const override { return {}; }
  std::string_view value() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

// The child in front is held aside; the others that are valid form a heap. While the one in front
// stays there, a step costs one comparison with the heap's top.
template <typename Order>
class MergingIterator final : public Iterator {
 public:
  MergingIterator(const Order& order, std::vector<std::unique_ptr<Iterator>> children)
      : order_(order) {
    for (auto& child : children) children_.push_back({std::move(child), {}, false});
    heap_.reserve(children_.size());
  }

  bool Valid() const override { return front_ != nullptr; }
  std::string_view key() const override { return front_->key; }
  std::string_view value() const override { return front_->it->value(); }
  Status status() const override { return status_; }

  void SeekToFirst() override {
    Position(true, [](Iterator* it) { it->SeekToFirst(); });
  }
  void SeekToLast() override {
    Position(false, [](Iterator* it) { it->SeekToLast(); });
  }
  void Seek(std::string_view target) override {
    Position(true, [target](Iterator* it) { it->Seek(target); });
  }
  void Next() override {
    WEFT_DCHECK(Valid());
    if (!forward_ && !Turn(true)) return;
    front_->it->Next();
    AfterMove();
  }
  void Prev() override {
    WEFT_DCHECK(Valid());
    if (forward_ && !Turn(false)) return;
    front_->it->Prev();
    AfterMove();
  }

 private:
  struct Child {
    std::unique_ptr<Iterator> it;
    std::string_view key;
    bool valid;
  };

  // Whether a comes before b in the direction of travel. Children stand in memory in their order.
  bool Before(const Child* a, const Child* b) const {
    const int order = order_.Compare(a->key, b->key);
    if (order != 0) return (order < 0) == forward_;
    return (a < b) == forward_;
  }

  // Looks where the child is now. False, and the end of everything, where it failed.
  bool Refresh(Child* child) {
    child->valid = child->it->Valid();
    if (child->valid) [[likely]] {
      child->key = child->it->key();
      return true;
    }
    status_ = child->it->status();
    if (status_.ok()) return true;
    front_ = nullptr;
    return false;
  }

  template <typename Move>
  void Position(bool forward, const Move& move) {
    forward_ = forward;
    status_ = {};
    front_ = nullptr;
    for (Child& child : children_) {
      move(child.it.get());
      if (!Refresh(&child)) return;
    }
    BuildHeap();
    if (!heap_.empty()) TakeTop();
  }

  // The front child has moved: puts the first of all in front.
  void AfterMove() {
    if (!Refresh(front_)) return;
    if (!front_->valid) {
      front_ = nullptr;
      if (!heap_.empty()) TakeTop();
      return;
    }
    if (heap_.empty() || Before(front_, heap_[0])) [[likely]]
      return;
    std::swap(front_, heap_[0]);
    SiftDown(0);
  }

  // Puts all children but the front one where they stand after it in the other direction.
  bool Turn(bool forward) {
    forward_ = forward;
    Child* const front = front_;
    for (Child& child : children_) {
      if (&child == front) continue;
      child.it->Seek(front->key);
      if (!Refresh(&child)) return false;
      // With equal keys the earlier child comes first.
      const bool equal = child.valid && order_.Compare(child.key, front->key) == 0;
      if (forward) {
        if (!equal || &child > front) continue;
        child.it->Next();
      } else {
        if (equal && &child < front) continue;
        if (!GoBefore(front->key, &child)) return false;
        continue;
      }
      if (!Refresh(&child)) return false;
    }
    BuildHeap();
    return true;
  }

  // From the first entry not before `key`, or from behind the last, to the one before `key`.
  bool GoBefore(std::string_view key, Child* child) {
    while (!child->valid) {
      child->it->SeekToLast();
      if (!Refresh(child)) return false;
      if (!child->valid || order_.Compare(child->key, key) < 0) return true;
      // Entries that came in the meantime: a memtable grows while it is read.
      child->it->Seek(key);
      if (!Refresh(child)) return false;
    }
    child->it->Prev();
    return Refresh(child);
  }

  // Of the valid children but the front one.
  void BuildHeap() {
    heap_.clear();
    for (Child& child : children_) {
      if (child.valid && &child != front_) heap_.push_back(&child);
    }
    for (size_t i = heap_.size() / 2; i-- > 0;) SiftDown(i);
  }

  // REQUIRES: the heap is not empty
  void TakeTop() {
    front_ = heap_[0];
    heap_[0] = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) SiftDown(0);
  }

  void SiftDown(size_t i) {
    Child* const moving = heap_[i];
    const size_t size = heap_.size();
    for (;;) {
      size_t next = 2 * i + 1;
      if (next >= size) break;
      if (next + 1 < size && Before(heap_[next + 1], heap_[next])) ++next;
      if (!Before(heap_[next], moving)) break;
      heap_[i] = heap_[next];
      i = next;
    }
    heap_[i] = moving;
  }

  const Order order_;
  std::vector<Child> children_;
  std::vector<Child*> heap_;
  Child* front_ = nullptr;  // null: not valid
  bool forward_ = true;
  Status status_;
};

}  // namespace

std::unique_ptr<Iterator> NewMergingIterator(const KeyOrder& order,
                                             std::vector<std::unique_ptr<Iterator>> children) {
  if (children.empty()) return NewEmptyIterator();
  if (children.size() == 1) return std::move(children[0]);
  return order.Visit([&]<typename Order>(const Order& by) -> std::unique_ptr<Iterator> {
    return std::make_unique<MergingIterator<Order>>(by, std::move(children));
  });
}

std::unique_ptr<Iterator> NewEmptyIterator(Status status) {
  return std::make_unique<EmptyIterator>(std::move(status));
}

}  // namespace weft::table
