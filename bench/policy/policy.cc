#include "bench/policy/policy.h"

#include "bench/policy/belady.h"
#include "bench/policy/one_queue.h"
#include "bench/policy/s3_fifo.h"
#include "bench/policy/w_tinylfu.h"

namespace weft::bench {
namespace {

using PolicyMaker = std::unique_ptr<Policy> (*)(uint64_t capacity, const Trace& trace);

struct NamedPolicy {
  const char* name;
  const char* meaning;
  PolicyMaker maker;
};

constexpr NamedPolicy kPolicies[] = {
    {"lru", "drops the least recently used object",
     [](uint64_t capacity, const Trace& trace) { return MakeLru(capacity, trace.records()); }},
    {"fifo", "drops the object that was stored first",
     [](uint64_t capacity, const Trace& trace) { return MakeFifo(capacity, trace.records()); }},
    {"s3-fifo", "tries objects in a small queue, with ghosts (Yang et al., SOSP'23)",
     [](uint64_t capacity, const Trace& trace) {
       return MakeS3Fifo(capacity, trace.records(), true);
     }},
    {"s3-fifo-no-ghosts", "s3-fifo that forgets dropped objects",
     [](uint64_t capacity, const Trace& trace) {
       return MakeS3Fifo(capacity, trace.records(), false);
     }},
    {"w-tinylfu", "admits by frequency (Einziger et al., ACM TOS 2017; with sizes, 2022)",
     MakeWTinyLfu},
    {"belady",
     "knows the future; a lower bound if all sizes are equal (Belady, IBM Systems J. 1966)",
     MakeBelady},
};

}  // namespace

const std::vector<PolicyForm>& PolicyForms() {
  static const std::vector<PolicyForm> forms = [] {
    std::vector<PolicyForm> all;
    for (const NamedPolicy& policy : kPolicies) all.push_back({policy.name, policy.meaning});
    return all;
  }();
  return forms;
}

Result<std::unique_ptr<Policy>> MakePolicy(const std::string& name, uint64_t capacity,
                                           const Trace& trace) {
  std::string names;
  for (const NamedPolicy& policy : kPolicies) {
    if (policy.name == name) return policy.maker(capacity, trace);
    names += names.empty() ? policy.name : std::string(", ") + policy.name;
  }
  return Status(Code::kInvalidArgument,
                "unknown policy \"" + name + "\"; the policies are " + names);
}

}  // namespace weft::bench
