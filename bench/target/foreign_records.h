// bench/target/foreign_records.h: keeps a server that somebody else filled from being emptied.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/target/address.h"
#include "weft/status.h"

namespace weft::bench {

// Whether all records of the server at `address` may be removed: it holds none, whoever started
// this program said so (`wipe`), or this program has removed all there before, so that what is
// there is its own. kInvalidArgument otherwise, with the number; an error of `count`, which asks
// the server how many it holds. OK is taken for leave: the next call for this address is OK too.
Status MayRemoveAll(const Address& address, bool wipe,
                    const std::function<Result<uint64_t>()>& count);

}  // namespace weft::bench
