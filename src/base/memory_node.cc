#include "base/memory_node.h"

#include <algorithm>

namespace weft::base {

namespace {

bool Toss(std::mt19937_64* random) { return ((*random)() & 1) != 0; }

// Zeros what a disk did not get to write of data[from, end): any pages, or any sectors.
void LosePieces(std::mt19937_64* random, std::string* data, size_t from) {
  const size_t piece_bytes = Toss(random) ? 512 : 4096;
  for (size_t start = from; start < data->size();) {
    const size_t end = std::min(data->size(), (start / piece_bytes + 1) * piece_bytes);
    if (Toss(random)) std::fill(data->begin() + start, data->begin() + end, '\0');
    start = end;
  }
}

}  // namespace

void MemoryFileSystem::Node::LeaveContents(std::mt19937_64* random, CrashKind kind) {
  if (kind != CrashKind::kProcessEnd) {
    const bool cut_is_lost =
        before_cut.has_value() && (kind == CrashKind::kDropAll || Toss(random));
    if (cut_is_lost) {
      data = *std::move(before_cut);
    } else if (kind == CrashKind::kDropAll) {
      data.resize(synced_bytes);
    } else {
      data.resize(synced_bytes + (*random)() % (data.size() - synced_bytes + 1));
      if (kind == CrashKind::kReordered) LosePieces(random, &data, synced_bytes);
    }
  }
  before_cut.reset();
  synced_bytes = data.size();
}

void MemoryFileSystem::NameChange::Apply() const {
  const auto erase = [this](const NodePtr& folder, const std::string& old_name) {
    const auto found = folder->synced_children.find(old_name);
    if (found != folder->synced_children.end() && found->second == node) {
      folder->synced_children.erase(found);
    }
  };
  if (kind == Kind::kRemove) return erase(dir, name);
  if (kind == Kind::kRename) erase(from_dir, from_name);
  dir->synced_children[name] = node;
}

}  // namespace weft::base
