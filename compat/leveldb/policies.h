// compat/leveldb/policies.h: a program's comparators, filter policies, caches and loggers, as the
// store wants them.
//
// Threads   as in the contracts of both sides, which agree: every call from any thread at once.
// Lifetime  a program's object must outlive whatever is made of it.
// Cost      our own objects given back are unwrapped. Others cost one more virtual call each time,
//           and a program's own cache one small allocation an entry.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "weft/block_cache.h"
#include "weft/comparator.h"
#include "weft/filter_policy.h"
#include "weft/logger.h"

namespace weft::compat {

class UserComparator final : public Comparator {
 public:
  explicit UserComparator(const leveldb::Comparator* user) : user_(user) {}
  int Compare(std::string_view a, std::string_view b) const override;
  const char* Name() const override { return user_->Name(); }
  void FindShortestSeparator(std::string* start, std::string_view limit) const override;
  void FindShortSuccessor(std::string* key) const override;

 private:
  const leveldb::Comparator* const user_;
};

// Our own bytewise comparator if `given` is LevelDB's; otherwise `adapter` owns what is returned.
const Comparator* ToWeft(const leveldb::Comparator* given,
                         std::unique_ptr<UserComparator>* adapter);

// Null gives null in the three below.
std::shared_ptr<const FilterPolicy> ToWeft(const leveldb::FilterPolicy* given);
std::shared_ptr<BlockCache> ToWeft(leveldb::Cache* given);
std::shared_ptr<Logger> ToWeft(leveldb::Logger* given);

}  // namespace weft::compat
