// bench/target/foreign_records.h: keeps a server that somebody else filled from being emptied.
//
// Threads   any.
#pragma once

#include <cstdint>
#include <functional>

#include "bench/harness/address.h"
#include "weft/status.h"

namespace weft::bench {

// Whether all records of the server at `address` may be removed. They may if it holds none, if
// whoever started this program said so (`wipe`), or if this program has removed all there before:
// these are its own. Otherwise kInvalidArgument, with their number, or an error of `count`, which
// asks the server for it. OK is taken for leave: the next call for this address is OK too.
Status MayRemoveAll(const Address& address, bool wipe,
                    const std::function<Result<uint64_t>()>& count);

}  // namespace weft::bench
