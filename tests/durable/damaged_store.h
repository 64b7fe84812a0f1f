// tests/durable/damaged_store.h: a small store whose every file is known, to damage copies of.
//
// It is written in phases: one whose tables are compacted together, two that are a table each, and
// one that is still in the log. So it is known which keys a file holds.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/memory_file_system.h"
#include "durable/kit.h"
#include "durable/store.h"

namespace weft::durable {

inline constexpr char kDamagedDir[] = "/db";

class SmallStore {
 public:
  SmallStore(Engine* engine, uint64_t seed, int writes_per_phase);

  const base::MemoryFileSystem& files() const { return *files_; }
  const Shape& shape() const { return shape_; }
  // The state after all writes.
  const Model& state() const { return states_.back(); }
  // Whether it is the state after some prefix of the writes.
  bool IsPrefix(const Model& model) const;
  // Whether the key ever had this value.
  bool EverHad(const std::string& key, const std::string& value) const;
  // Keys that were written in the phase whose table or log this is; all of them for other files.
  std::set<std::string> KeysOf(const std::string& path) const;
  // Whether the file is a table or log of a phase.
  bool HoldsKeys(const std::string& path) const { return phase_of_.contains(path); }

 private:
  void WritePhase(Store* store, int phase, int writes);
  void NoteFiles(int phase);
  void FlushOrReopen(Engine* engine, std::unique_ptr<Store>* store);

  Random random_;
  std::unique_ptr<base::MemoryFileSystem> files_;
  Shape shape_;
  std::vector<Model> states_;  // after each write, from the empty one on
  std::map<std::string, std::set<std::string>> values_;
  std::vector<std::set<std::string>> keys_of_phase_;
  std::map<std::string, int> phase_of_;  // of each table and log
};

}  // namespace weft::durable
