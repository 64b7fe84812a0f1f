#include "bench/target/foreign_records.h"

#include <set>
#include <string>

#include <fmt/format.h>

#include "base/mutex.h"

namespace weft::bench {
namespace {

struct Emptied {
  base::Mutex mutex;
  std::set<std::string> addresses WEFT_GUARDED_BY(mutex);
};

}  // namespace

Status MayRemoveAll(const Address& address, bool wipe,
                    const std::function<Result<uint64_t>()>& count) {
  static auto* const emptied = new Emptied;  // never destroyed
  const std::string name = address.ToString();
  const base::MutexLock lock(&emptied->mutex);
  if (!wipe && !emptied->addresses.contains(name)) {
    auto held = count();
    if (!held) return held.error();
    if (*held > 0)
      return {Code::kInvalidArgument,
              fmt::format("{} holds {} {}, which a run would remove; --wipe allows it", name, *held,
                          *held == 1 ? "record" : "records")};
  }
  emptied->addresses.insert(name);
  return Status::Ok();
}

}  // namespace weft::bench
