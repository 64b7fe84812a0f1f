// The front door: weft::Db::Open.
#include "weft/db.h"

#include <utility>

#include "lsm/db_impl.h"

namespace weft {

namespace {

Result<std::unique_ptr<Db>> OpenAs(const DbOptions& options, const std::string& dir,
                                   bool read_only) {
  auto db = lsm::DbImpl::Open(options, dir, read_only);
  if (!db) return db.error();
  return std::unique_ptr<Db>(std::move(*db));
}

}  // namespace

Result<std::unique_ptr<Db>> Db::Open(const DbOptions& options, const std::string& dir) {
  return OpenAs(options, dir, false);
}

Result<std::unique_ptr<Db>> Db::OpenReadOnly(const DbOptions& options, const std::string& dir) {
  return OpenAs(options, dir, true);
}

}  // namespace weft
