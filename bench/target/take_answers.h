// bench/target/take_answers.h: what each session does with what its server has sent.
//
// Threads: the session's.
#pragma once

#include <cstddef>
#include <string_view>

#include "bench/target/faults.h"
#include "bench/target/stream.h"

namespace weft::bench {

// Receives until there is no more. `take` gets the bytes that have come, and returns how many of
// them the first answers took, or 0: it waits until `whole` of them are there. It may change
// `whole`. Then sends what could not be sent before. Returns why the connection is broken, if it
// is.
template <typename TakeAnswer>
Status TakeAnswers(Stream* stream, Faults* faults, const size_t& whole, const TakeAnswer& take) {
  while (faults->broken().ok()) {
    const Result<bool> more = stream->Receive(whole);
    if (!more) {
      faults->Break(more.error());
      break;
    }
    if (!more.value()) break;
    while (const size_t taken = take(stream->bytes())) stream->Consume(taken);
  }
  if (faults->broken().ok() && stream->wants_to_write()) {
    const Status status = stream->Flush();
    if (!status.ok()) faults->Break(status);
  }
  return faults->broken();
}

}  // namespace weft::bench
