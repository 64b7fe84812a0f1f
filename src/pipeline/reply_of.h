// pipeline/reply_of.h: what the store answers to a query of a batch, whatever its kind and whoever
// has carried it out.
//
// Threads   the batch's.
#pragma once

#include "cache/session.h"
#include "pipeline/batch.h"

namespace weft::pipeline {

// REQUIRES: kind kRead or kCommand, state kDone, within the epoch. Its value stays as long as the
// epoch and the batch do.
cache::Reply ReplyOf(const Batch& batch, uint32_t i, const cache::Session& session);

}  // namespace weft::pipeline
