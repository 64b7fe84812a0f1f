#include "planner/synthetic_requests.h"

#include "base/random.h"

namespace weft::planner {
namespace {

// Ranks to keys so that neighbours in rank are strangers in memory.
uint64_t Scatter(uint64_t rank, uint64_t keys) { return rank * 0x9e3779b1ull % keys; }

}  // namespace

std::vector<SyntheticRequest> MakeRequests(const Traffic& traffic, uint64_t keys, size_t count,
                                           uint64_t seed, const base::Zipf* zipf) {
  using Verb = SyntheticRequest::Verb;
  base::Random random(seed);
  std::vector<SyntheticRequest> requests(count);
  for (SyntheticRequest& request : requests) {
    const uint64_t rank = zipf != nullptr ? zipf->Rank(random.Unit()) : random.Below(keys);
    request.key = static_cast<uint32_t>(Scatter(rank, keys));
    const double draw = random.Unit();
    request.verb = draw < traffic.get_share                          ? Verb::kGet
                   : draw < traffic.get_share + traffic.delete_share ? Verb::kDelete
                                                                     : Verb::kStore;
  }
  return requests;
}

}  // namespace weft::planner
