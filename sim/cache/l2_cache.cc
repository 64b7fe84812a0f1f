#include "sim/cache/l2_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace weft::sim {
namespace {

bool IsOfObject(AccessClass cls) {
  return cls == AccessClass::kObjectHead || cls == AccessClass::kObjectBody;
}

}  // namespace

Status Validate(const L2Options& options) {
  if (options.bank_cycles < 0 || options.directory_cycles < 0 || options.remote_cycles < 0) {
    return {Code::kInvalidArgument, "L2: a latency is negative"};
  }
  return Validate(options.shape, options.banks, "L2");
}

L2Cache::L2Cache(const L2Options& options, const Mesh& mesh, std::vector<L1Cache*> l1s,
                 L2Port* port)
    : options_(options),
      mesh_(mesh),
      l1s_(std::move(l1s)),
      port_(port),
      sets_of_bank_(options.shape.sets() / static_cast<size_t>(options.banks)),
      latency_((options.bank_cycles + options.directory_cycles) * mesh.options().cycle),
      tags_(options.shape.sets(), static_cast<size_t>(options.shape.ways)),
      shadow_(options.has_shadow ? options.shape.sets() : 0,
              static_cast<size_t>(options.shape.ways)),
      banks_(static_cast<size_t>(options.banks)) {
  WEFT_CHECK(l1s_.size() <= 64);
}

L2Cache::Miss* L2Cache::MissOf(uint64_t line) {
  for (Miss& miss : banks_[line % banks_.size()].misses) {
    if (miss.line == line) return &miss;
  }
  return nullptr;
}

void L2Cache::UseInShadow(uint64_t line) {
  if (!options_.has_shadow) return;
  const size_t set = SetOf(line);
  const size_t at = shadow_.Find(set, line);
  if (at == shadow_.kNone) {
    shadow_.Put(shadow_.Victim(set), line, {});
  } else {
    shadow_.Touch(at);
  }
}

void L2Cache::Request(const L2Request& request, Time now) {
  if (ServeWhatIsKnown(request, now)) return;
  Bank& bank = banks_[static_cast<size_t>(BankOf(request.line))];
  if (bank.misses.size() < static_cast<size_t>(options_.shape.mshrs)) {
    AskMemory(bank, request, now);
  } else {
    ++counts_.waited_for_mshr;
    ++pending_;
    bank.waiting.push_back(request);
  }
}

bool L2Cache::ServeWhatIsKnown(const L2Request& request, Time now) {
  const size_t at = tags_.Find(SetOf(request.line), request.line);
  if (at == Tags::kNone) {
    Miss* const miss = MissOf(request.line);
    if (miss == nullptr) return false;
    ++counts_.joined_misses;
    miss->requests.push_back(request);
    return true;
  }
  ++counts_.hits;
  tags_.Touch(at);
  UseInShadow(request.line);
  if (std::exchange(tags_[at].is_pushed, false)) {
    port_->OnPushed(request.line, L2Port::Pushed::kUsed);
  }
  bool has_data = true;
  const Time cost = Grant(at, request, &has_data);
  port_->ToCore(request, has_data, false, now + cost);
  return true;
}

void L2Cache::AskMemory(Bank& bank, const L2Request& request, Time now) {
  ++counts_.misses;
  if (options_.has_shadow) {
    counts_.lost_hits += shadow_.Find(SetOf(request.line), request.line) != shadow_.kNone;
  }
  counts_.object_misses += IsOfObject(request.cls);
  counts_.bucket_misses += request.cls == AccessClass::kBucket;
  ++pending_;
  bank.misses.push_back({request.line, {request}});
  port_->ReadLine(request, now);
}

Time L2Cache::InvalidateSharers(Entry& entry, uint64_t line, int but) {
  const int bank = BankOf(line) % mesh_.options().nodes();
  int hops_max = 0;
  for (uint64_t left = entry.sharers & ~(uint64_t{1} << but); left != 0; left &= left - 1) {
    const int core = std::countr_zero(left);
    entry.is_dirty |= l1s_[static_cast<size_t>(core)]->Invalidate(line);
    hops_max = std::max(hops_max, mesh_.Hops(bank, NodeOfCore(core)));
    ++counts_.invalidations;
  }
  return 2 * hops_max * mesh_.options().hop_cycles * mesh_.options().cycle;
}

Time L2Cache::Grant(size_t at, const L2Request& request, bool* has_data) {
  Entry& entry = tags_[at];
  const uint64_t bit = uint64_t{1} << request.core;
  const uint64_t others = entry.sharers & ~bit;
  Time cost = 0;
  if (others != 0 && entry.has_owner) {
    ++counts_.remote_hits;
    cost = options_.remote_cycles * mesh_.options().cycle;
    L1Cache* const owner = l1s_[static_cast<size_t>(std::countr_zero(others))];
    if (request.owns) {
      entry.is_dirty |= owner->Invalidate(request.line);
      ++counts_.invalidations;
    } else {
      entry.is_dirty |= owner->Downgrade(request.line);
    }
  } else if (others != 0 && request.owns) {
    cost = InvalidateSharers(entry, request.line, request.core);
  }
  *has_data = !(request.owns && (entry.sharers & bit) != 0);
  if (request.owns) entry.sharers = 0;
  entry.sharers |= bit;
  entry.has_owner = entry.sharers == bit;
  const Mesi alone = request.owns ? Mesi::kModified : Mesi::kExclusive;
  l1s_[static_cast<size_t>(request.core)]->Granted(request.line,
                                                   entry.has_owner ? alone : Mesi::kShared);
  return cost;
}

void L2Cache::Evict(size_t at, Time now) {
  const uint64_t line = tags_.LineAt(at);
  if (line == Tags::kNoLine) return;
  Entry& entry = tags_[at];
  for (uint64_t left = entry.sharers; left != 0; left &= left - 1) {
    entry.is_dirty |= l1s_[static_cast<size_t>(std::countr_zero(left))]->Invalidate(line);
    ++counts_.invalidations;
  }
  if (entry.is_dirty) {
    ++counts_.write_backs;
    port_->WriteLine(line, now);
  }
  if (entry.is_pushed) port_->OnPushed(line, L2Port::Pushed::kUnused);
}

size_t L2Cache::Keep(uint64_t line, const Entry& entry, Time now) {
  const size_t at = tags_.Victim(SetOf(line));
  Evict(at, now);
  tags_.Put(at, line, entry);
  return at;
}

void L2Cache::Answer(Miss miss, bool from_memory, Time now) {
  const size_t at = Keep(miss.line, {}, now);
  UseInShadow(miss.line);
  for (const L2Request& request : miss.requests) {
    bool has_data = true;
    const Time cost = Grant(at, request, &has_data);
    port_->ToCore(request, has_data, from_memory, now + cost);
  }
}

void L2Cache::Fill(uint64_t line, Time now) {
  Miss* const miss = MissOf(line);
  if (miss == nullptr) return;
  Bank& bank = banks_[static_cast<size_t>(BankOf(line))];
  Miss answered = std::move(*miss);
  bank.misses.erase(bank.misses.begin() + (miss - bank.misses.data()));
  --pending_;
  Answer(std::move(answered), true, now);
  ServeWaiting(bank, now);
}

void L2Cache::ServeWaiting(Bank& bank, Time now) {
  while (!bank.waiting.empty()) {
    const L2Request request = bank.waiting.front();
    if (!ServeWhatIsKnown(request, now)) {
      if (bank.misses.size() == static_cast<size_t>(options_.shape.mshrs)) return;
      AskMemory(bank, request, now);
    }
    bank.waiting.pop_front();
    --pending_;
  }
}

void L2Cache::Push(uint64_t line, Time now) {
  if (Has(line)) {
    port_->OnPushed(line, L2Port::Pushed::kHadIt);
  } else if (MissOf(line) != nullptr) {
    port_->OnPushed(line, L2Port::Pushed::kMetMiss);
    Fill(line, now);
  } else {
    Keep(line, {.is_pushed = true}, now);
  }
}

void L2Cache::PassOver(uint64_t line, bool is_write) {
  if (tags_.LineAt(passed_at_) != line) {  // else it is its set's last used already
    const size_t set = SetOf(line);
    passed_at_ = tags_.Find(set, line);
    if (passed_at_ == Tags::kNone) {
      passed_at_ = tags_.Victim(set);
      tags_.Put(passed_at_, line, {});
    } else {
      tags_.Touch(passed_at_);
    }
  }
  tags_[passed_at_].is_dirty |= is_write;
}

void L2Cache::EndPassOver() {
  if (options_.has_shadow) shadow_.TakeLinesOf(tags_);
}

void L2Cache::LeftCore(int core, uint64_t line, bool is_modified) {
  const size_t at = tags_.Find(SetOf(line), line);
  WEFT_CHECK(at != Tags::kNone);
  Entry& entry = tags_[at];
  entry.sharers &= ~(uint64_t{1} << core);
  entry.has_owner &= entry.sharers != 0;
  entry.is_dirty |= is_modified;
}

void L2Cache::DropPushed() {
  for (size_t at = 0; at < tags_.size(); ++at) {
    if (tags_.LineAt(at) == Tags::kNoLine) continue;
    if (std::exchange(tags_[at].is_pushed, false)) {
      port_->OnPushed(tags_.LineAt(at), L2Port::Pushed::kUnused);
    }
  }
}

}  // namespace weft::sim
