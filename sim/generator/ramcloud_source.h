// sim/generator/ramcloud_source.h: cores that perform gets and puts on a store in RAMCloud's
// layout; records are made as they are asked for.
//
// Threads   one owner.
// Cost      about 25 ns a record. What it keeps for cores that are behind: op_planner.h.
// Errors    those of ramcloud_store.h and op_planner.h.
// Source    the simulator's specification, section 3.5.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/generator/op_records.h"
#include "sim/trace/trace_source.h"

namespace weft::sim {

struct RamcloudOptions {
  StoreOptions store;  // puts_max follows from ops
  OpShape op;
  int64_t ops = 2'000'000;  // of all cores
};

// The store before the first operation; never changed.
struct BuiltStore {
  std::shared_ptr<const RamcloudStore> store;
  std::shared_ptr<const TableImage> initial_table;
};

class RamcloudSource final : public TraceSource {
 public:
  static Result<std::unique_ptr<RamcloudSource>> Make(const RamcloudOptions& options);
  // The store that Make(options) builds, as often as it is wanted: no source sees what another does
  // to its own.
  static Result<BuiltStore> Build(const RamcloudOptions& options);
  // REQUIRES: Build() of options with the same store and ops gave it
  static std::unique_ptr<RamcloudSource> Of(const BuiltStore& built,
                                            const RamcloudOptions& options);

  int cores() const override { return store_->options().cores; }
  const StoreShape& shape() const override { return store_->shape(); }
  TableImage InitialTable() const override { return *initial_table_; }
  Result<bool> Next(int core, Record* record) override;
  bool has_marks() const override { return true; }
  Result<bool> NextMarks(int core, std::vector<Record>* marks) override;

  const RamcloudStore& store() const { return *store_; }

 private:
  struct Core {
    OpRecords writer;
    std::vector<Record> records;  // of its operation
    size_t next = 0;
  };

  RamcloudSource(const BuiltStore& built, const RamcloudOptions& options);

  const std::unique_ptr<RamcloudStore> store_;
  const std::shared_ptr<const TableImage> initial_table_;
  OpPlanner planner_;
  std::vector<Core> cores_;
};

}  // namespace weft::sim
