#include "leveldb/iterator.h"

#include "native_iterator.h"

namespace leveldb {

Iterator::Iterator() : first_cleanup_{nullptr, nullptr, nullptr, nullptr} {}

Iterator::~Iterator() {
  if (first_cleanup_.function == nullptr) return;
  first_cleanup_.function(first_cleanup_.arg1, first_cleanup_.arg2);
  for (Cleanup* cleanup = first_cleanup_.next; cleanup != nullptr;) {
    const std::unique_ptr<Cleanup> done(cleanup);
    done->function(done->arg1, done->arg2);
    cleanup = done->next;
  }
}

void Iterator::RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
  if (first_cleanup_.function == nullptr) {
    first_cleanup_ = {function, arg1, arg2, nullptr};
    return;
  }
  // Freed by the destructor.
  first_cleanup_.next = new Cleanup{function, arg1, arg2, first_cleanup_.next};
}

namespace {

class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void Next() override {}
  void Prev() override {}
  Slice key() const override { return {}; }
  Slice value() const override { return {}; }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Iterator* NewEmptyIterator() {
  return new EmptyIterator(Status::OK());  // freed by the caller
}

Iterator* NewErrorIterator(const Status& status) {
  return new EmptyIterator(status);  // freed by the caller
}

}  // namespace leveldb
