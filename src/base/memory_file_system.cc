#include "base/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/memory_node.h"
#include "base/posix_fd.h"

namespace weft::base {

namespace {

// The names of a path, from the root on.
std::vector<std::string> NamesOf(const std::string& path) {
  std::vector<std::string> names;
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    std::string name = path.substr(start, end - start);
    if (!name.empty() && name != ".") names.push_back(std::move(name));
    start = end + 1;
  }
  return names;
}

}  // namespace

MemoryFileSystem::MemoryFileSystem() : root_(std::make_shared<Node>()) { root_->is_dir = true; }

MemoryFileSystem::~MemoryFileSystem() = default;

MemoryFileSystem::NodePtr MemoryFileSystem::FindLocked(const std::string& path) const {
  NodePtr node = root_;
  for (const std::string& name : NamesOf(path)) {
    const auto child = node->children.find(name);
    if (child == node->children.end()) return nullptr;
    node = child->second;
  }
  return node;
}

Result<MemoryFileSystem::Place> MemoryFileSystem::PlaceLocked(const std::string& path) const {
  std::vector<std::string> names = NamesOf(path);
  if (names.empty()) return PosixError("find the folder of", path, EBUSY);
  Place place = {root_, std::move(names.back())};
  names.pop_back();
  for (const std::string& name : names) {
    const auto child = place.dir->children.find(name);
    if (child == place.dir->children.end()) return PosixError("open", path, ENOENT);
    place.dir = child->second;
  }
  if (!place.dir->is_dir) return PosixError("open", path, ENOTDIR);
  return place;
}

Result<MemoryFileSystem::NodePtr> MemoryFileSystem::FindFileLocked(const std::string& path) const {
  NodePtr node = FindLocked(path);
  if (node == nullptr) return PosixError("open", path, ENOENT);
  if (node->is_dir) return PosixError("open", path, EISDIR);
  return node;
}

Result<MemoryFileSystem::NodePtr> MemoryFileSystem::FindOrMakeFileLocked(const std::string& path) {
  Result<Place> place = PlaceLocked(path);
  if (!place) return place.error();
  NodePtr node = place->Find();
  if (node == nullptr) {
    node = std::make_shared<Node>();
    place->dir->children[place->name] = node;
    changes_.push_back({NameChange::Kind::kMake, node, place->dir, place->name, nullptr, ""});
  }
  if (node->is_dir) return PosixError("open", path, EISDIR);
  return node;
}

void MemoryFileSystem::CutLocked(Node* node, uint64_t bytes) {
  if (bytes < node->synced_bytes) {
    if (!node->before_cut) node->before_cut = node->data.substr(0, node->synced_bytes);
    node->synced_bytes = bytes;
  }
  node->data.resize(bytes);
}

bool MemoryFileSystem::FileExists(const std::string& path) {
  MutexLock lock(&mutex_);
  return FindLocked(path) != nullptr;
}

Status MemoryFileSystem::GetChildren(const std::string& dir, std::vector<std::string>* names) {
  MutexLock lock(&mutex_);
  names->clear();
  const NodePtr node = FindLocked(dir);
  if (node == nullptr) return PosixError("list the folder", dir, ENOENT);
  if (!node->is_dir) return PosixError("list the folder", dir, ENOTDIR);
  for (const auto& [name, child] : node->children) names->push_back(name);
  return Status::Ok();
}

Status MemoryFileSystem::RemoveFile(const std::string& path) {
  MutexLock lock(&mutex_);
  Result<Place> place = PlaceLocked(path);
  if (!place) return place.error();
  const NodePtr node = place->Find();
  if (node == nullptr) return PosixError("remove", path, ENOENT);
  if (node->is_dir) return PosixError("remove", path, EISDIR);
  place->dir->children.erase(place->name);
  changes_.push_back({NameChange::Kind::kRemove, node, place->dir, place->name, nullptr, ""});
  return Status::Ok();
}

Status MemoryFileSystem::CreateDir(const std::string& dir) {
  MutexLock lock(&mutex_);
  const NodePtr there = FindLocked(dir);
  if (there != nullptr)
    return there->is_dir ? Status::Ok() : PosixError("make the folder", dir, EEXIST);
  Result<Place> place = PlaceLocked(dir);
  if (!place) return place.error();
  NodePtr node = std::make_shared<Node>();
  node->is_dir = true;
  place->dir->children[place->name] = node;
  changes_.push_back({NameChange::Kind::kMake, node, place->dir, place->name, nullptr, ""});
  return Status::Ok();
}

Status MemoryFileSystem::RemoveDir(const std::string& dir) {
  MutexLock lock(&mutex_);
  Result<Place> place = PlaceLocked(dir);
  if (!place) return place.error();
  const NodePtr node = place->Find();
  if (node == nullptr) return PosixError("remove the folder", dir, ENOENT);
  if (!node->is_dir) return PosixError("remove the folder", dir, ENOTDIR);
  if (!node->children.empty()) return PosixError("remove the folder", dir, ENOTEMPTY);
  place->dir->children.erase(place->name);
  changes_.push_back({NameChange::Kind::kRemove, node, place->dir, place->name, nullptr, ""});
  return Status::Ok();
}

Result<uint64_t> MemoryFileSystem::GetFileSize(const std::string& path) {
  MutexLock lock(&mutex_);
  const NodePtr node = FindLocked(path);
  if (node == nullptr) return PosixError("look at", path, ENOENT);
  return static_cast<uint64_t>(node->data.size());
}

Status MemoryFileSystem::RenameFile(const std::string& from, const std::string& to) {
  MutexLock lock(&mutex_);
  Result<Place> source = PlaceLocked(from);
  if (!source) return source.error();
  Result<Place> target = PlaceLocked(to);
  if (!target) return target.error();
  const NodePtr node = source->Find();
  if (node == nullptr) return PosixError("rename", from, ENOENT);
  const NodePtr replaced = target->Find();
  if (replaced == node) return Status::Ok();
  if (replaced != nullptr && replaced->is_dir != node->is_dir) {
    return PosixError("rename to", to, replaced->is_dir ? EISDIR : ENOTDIR);
  }
  if (replaced != nullptr && !replaced->children.empty()) {
    return PosixError("rename to", to, ENOTEMPTY);
  }
  for (NodePtr above = root_; const std::string& name : NamesOf(to)) {
    if (above == node) return PosixError("rename into itself", from, EINVAL);
    const auto child = above->children.find(name);
    if (child == above->children.end()) break;
    above = child->second;
  }
  source->dir->children.erase(source->name);
  target->dir->children[target->name] = node;
  changes_.push_back(
      {NameChange::Kind::kRename, node, target->dir, target->name, source->dir, source->name});
  return Status::Ok();
}

Status MemoryFileSystem::LinkFile(const std::string& from, const std::string& to) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(from);
  if (!node) return node.error();
  Result<Place> target = PlaceLocked(to);
  if (!target) return target.error();
  if (target->Find() != nullptr) return PosixError("link as", to, EEXIST);
  target->dir->children[target->name] = *node;
  changes_.push_back({NameChange::Kind::kMake, *node, target->dir, target->name, nullptr, ""});
  return Status::Ok();
}

Status MemoryFileSystem::Truncate(const std::string& path, uint64_t bytes) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(path);
  if (!node) return node.error();
  CutLocked(node->get(), bytes);
  return Status::Ok();
}

Status MemoryFileSystem::SyncDir(const std::string& dir) {
  MutexLock lock(&mutex_);
  const NodePtr node = FindLocked(dir);
  if (node == nullptr) return PosixError("sync the folder", dir, ENOENT);
  if (!node->is_dir) return PosixError("sync the folder", dir, ENOTDIR);
  SyncNamesLocked(node);
  return Status::Ok();
}

void MemoryFileSystem::SyncNamesLocked(const NodePtr& dir) {
  std::vector<NameChange> others;
  for (NameChange& change : changes_) {
    if (change.Concerns(dir)) {
      change.Apply();
    } else {
      others.push_back(std::move(change));
    }
  }
  changes_ = std::move(others);
}

namespace {

// Calls visit(path, node) once for each name below `node`, folders before what is in them.
template <typename Node, typename Visit>
void Walk(const Node& node, const std::string& path, const Visit& visit) {
  for (const auto& [name, child] : node->children) {
    visit(path + "/" + name, child);
    Walk(child, path + "/" + name, visit);
  }
}

}  // namespace

void MemoryFileSystem::LeaveNamesLocked(std::mt19937_64* random, CrashKind kind) {
  for (const NameChange& change : changes_) {
    const bool kept =
        kind == CrashKind::kProcessEnd || (kind != CrashKind::kDropAll && ((*random)() & 1) != 0);
    if (kept) change.Apply();
  }
  changes_.clear();
  // Folders are made what is synced of them from the root on: only what is reached that way lives.
  std::vector<NodePtr> left = {root_};
  std::set<Node*> seen;
  while (!left.empty()) {
    const NodePtr dir = std::move(left.back());
    left.pop_back();
    if (!seen.insert(dir.get()).second) continue;
    dir->children = dir->synced_children;
    for (const auto& [name, child] : dir->children) {
      if (child->is_dir) left.push_back(child);
    }
  }
}

void MemoryFileSystem::Crash(std::mt19937_64* random, CrashKind kind) {
  MutexLock lock(&mutex_);
  epoch_++;
  LeaveNamesLocked(random, kind);
  std::set<Node*> seen;
  Walk(root_, "", [&](const std::string&, const NodePtr& node) {
    node->locked = false;
    if (!node->is_dir && seen.insert(node.get()).second) node->LeaveContents(random, kind);
  });
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::Copy() const {
  auto copy = std::make_unique<MemoryFileSystem>();
  copy->Restore(*this);
  return copy;
}

namespace {

// Copies a tree, each node once: those of synced names and of pending changes as well.
template <typename NodePtr>
class TreeCopier {
 public:
  NodePtr Of(const NodePtr& node) {
    if (node == nullptr) return nullptr;
    NodePtr& copy = copies_[node.get()];
    if (copy != nullptr) return copy;
    copy = std::make_shared<typename NodePtr::element_type>(*node);
    copy->locked = false;
    const NodePtr result = copy;  // the table may move below
    for (auto& [name, child] : result->children) child = Of(child);
    for (auto& [name, child] : result->synced_children) child = Of(child);
    return result;
  }

 private:
  std::unordered_map<const void*, NodePtr> copies_;
};

}  // namespace

void MemoryFileSystem::Restore(const MemoryFileSystem& from) {
  TreeCopier<NodePtr> copier;
  NodePtr root;
  std::vector<NameChange> changes;
  {
    MutexLock lock(&from.mutex_);
    root = copier.Of(from.root_);
    changes = from.changes_;
    for (NameChange& change : changes) {
      change.node = copier.Of(change.node);
      change.dir = copier.Of(change.dir);
      change.from_dir = copier.Of(change.from_dir);
    }
  }
  MutexLock lock(&mutex_);
  root_ = std::move(root);
  changes_ = std::move(changes);
  epoch_++;
}

Result<std::string> MemoryFileSystem::Contents(const std::string& path) const {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(path);
  if (!node) return node.error();
  return (*node)->data;
}

Status MemoryFileSystem::SetContents(const std::string& path, std::string_view contents) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindOrMakeFileLocked(path);
  if (!node) return node.error();
  (*node)->data = contents;
  (*node)->synced_bytes = contents.size();
  (*node)->before_cut.reset();
  Result<Place> place = PlaceLocked(path);
  if (!place) return place.error();
  SyncNamesLocked(place->dir);
  return Status::Ok();
}

Status MemoryFileSystem::FlipBits(const std::string& path, uint64_t offset, uint8_t mask) {
  MutexLock lock(&mutex_);
  Result<NodePtr> node = FindFileLocked(path);
  if (!node) return node.error();
  if (offset >= (*node)->data.size()) {
    return {Code::kInvalidArgument, "flip a bit beyond the end of " + path};
  }
  char& byte = (*node)->data[offset];
  byte = static_cast<char>(static_cast<uint8_t>(byte) ^ mask);
  return Status::Ok();
}

std::vector<std::string> MemoryFileSystem::AllFiles() const {
  MutexLock lock(&mutex_);
  std::vector<std::string> paths;
  Walk(root_, "", [&](const std::string& path, const NodePtr& node) {
    if (!node->is_dir) paths.push_back(path);
  });
  return paths;
}

}  // namespace weft::base
