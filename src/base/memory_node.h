// base/memory_node.h: a file or folder of MemoryFileSystem, and what of it is synced.
//
// Threads   guarded by the file system's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/memory_file_system.h"

namespace weft::base {

struct MemoryFileSystem::Node {
  using Children = std::map<std::string, NodePtr>;

  bool is_dir = false;
  bool locked = false;

  // A file: what readers see, and how much of it from the front is synced. If the file was cut
  // since its last sync, also the synced contents before that.
  std::string data;
  size_t synced_bytes = 0;
  std::optional<std::string> before_cut;

  // A folder: the names in it, and those of them that are synced.
  Children children;
  Children synced_children;

  // What a crash leaves of a file's contents.
  void LeaveContents(std::mt19937_64* random, CrashKind kind);
};

// A change of a name that is not synced yet. kRename is one change, so that it happens or does not.
struct MemoryFileSystem::NameChange {
  enum class Kind : uint8_t { kMake, kRemove, kRename };

  Kind kind;
  NodePtr node;
  NodePtr dir;  // of the name made or removed, and of a rename's target
  std::string name;
  NodePtr from_dir;  // kRename only
  std::string from_name;

  bool Concerns(const NodePtr& folder) const { return dir == folder || from_dir == folder; }
  // Makes it so in the synced names.
  void Apply() const;
};

struct MemoryFileSystem::Place {
  NodePtr dir;
  std::string name;

  NodePtr Find() const {
    const auto found = dir->children.find(name);
    return found == dir->children.end() ? nullptr : found->second;
  }
};

}  // namespace weft::base
