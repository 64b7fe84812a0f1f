// bench/target/round_trip.h: operations carried out at once, and waited for: for whoever needs an
// answer before the next step. The load generator does not (bench/drive/load_thread.h).
//
// Threads   the session's.
// Errors    the session's; kCorruption for a wrong answer, with what was wrong; kIoError if nothing
//           is answered for a minute.
// Cost      a poll more than the session's own calls.
#pragma once

#include <span>
#include <vector>

#include "bench/target/target.h"
#include "weft/status.h"

namespace weft::bench {

// `outcomes` is replaced by those of all operations, in the order in which they came.
Status RoundTrip(Session* session, std::span<const Operation> operations,
                 std::vector<Outcome>* outcomes);

}  // namespace weft::bench
