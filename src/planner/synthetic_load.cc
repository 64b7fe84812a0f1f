#include "planner/synthetic_load.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/for_ever.h"
#include "base/thread.h"

namespace weft::planner {
namespace {

constexpr size_t kTurns = 5;
constexpr double kSlowness = 3;  // no turn begins after so many times the time of all
constexpr uint64_t kObjectsMin = 10'000;
constexpr uint32_t kObjectBytesMax = 4096;
constexpr double kIndexBytesPerObject = 64 / (8 * 0.75);
constexpr int kStoresInARow = 64;  // of one thread that fills
// Of a guest's scratch: the requests of one run, of which some are there at once, and jobs.
constexpr uint64_t kRequestsPart = 32;
constexpr uint64_t kSlotsPart = 4;
constexpr uint64_t kBytesOfRequest = 16;  // beside its key
constexpr uint64_t kGuestRequestsMin = 4096;

double LooksOf(const cache::Store& store) {
  cache::SessionCounters sum;
  store.SumCounters(&sum);
  return static_cast<double>(sum.victim_looks.value());
}

// Of the turns behind the first one, if there are any: the one that has so large a share of them
// below it.
template <typename Turn, typename Key>
const Turn& QuantileOf(std::vector<Turn>* turns, double share, Key key) {
  const auto begin = turns->begin() + (turns->size() > 1 ? 1 : 0);
  const auto count = static_cast<double>(turns->end() - begin);
  const auto at = begin + static_cast<std::ptrdiff_t>(share * count);
  std::nth_element(begin, at, turns->end(),
                   [key](const Turn& a, const Turn& b) { return key(a) < key(b); });
  return *at;
}

Status Stopped() { return {Code::kRetryLater, "it was stopped"}; }

}  // namespace

Result<std::unique_ptr<SyntheticLoad>> SyntheticLoad::Open(const LoadOptions& options) {
  // The constructor is private so that no load exists without its store; owned at once.
  std::unique_ptr<SyntheticLoad> load(new SyntheticLoad(options));
  cache::PageSource* pages = cache::SystemPages();
  size_t mirrors = 0;
  for (processor::Guard* device : options.devices) {
    const bool is_coupled = device->description().memory == processor::MemoryModel::kCoupled;
    if (is_coupled && pages == cache::SystemPages()) pages = device->pages();
    mirrors += is_coupled ? 0 : 1;
  }
  // Each would take what the store has marked as changed from the others.
  if (mirrors > 1)
    return Status(Code::kInvalidArgument,
                  "devices with their own memory must be measured one at a time");
  const double object_bytes =
      sizeof(task::Object) + options.key_bytes + options.value_bytes + kIndexBytesPerObject;
  CacheOptions cache_options;
  cache_options.memory_bytes = options.memory_bytes;
  cache_options.object_bytes_max = kObjectBytesMax;
  cache_options.append_lanes = options.workers;
  cache_options.expected_items =
      static_cast<uint64_t>(static_cast<double>(options.memory_bytes) / object_bytes);
  auto store = cache::Store::Open(cache_options, pages);
  if (!store) return store.error();
  load->at_.store = std::move(*store);
  load->at_.workers = options.workers;
  load->at_.key_bytes = options.key_bytes;
  load->at_.value.assign(options.value_bytes, 'v');
  if (options.guest != nullptr) {
    const uint64_t scratch = options.guest->scratch_bytes;
    load->at_.requests = scratch / kRequestsPart / (options.key_bytes + kBytesOfRequest);
    load->at_.requests_min = kGuestRequestsMin;
    load->at_.slots_bytes = scratch / kSlotsPart;
  }
  if (Status status = load->Fill(); !status.ok()) return status;
  for (processor::Guard* device : options.devices) {
    if (Status status = device->Attach(load->at_.store.get()); !status.ok()) return status;
  }
  if (Status status = load->CatchUp(); !status.ok()) return status;
  return load;
}

SyntheticLoad::~SyntheticLoad() {
  bool is_in_use = false;
  for (processor::Guard* device : options_.devices) {
    const bool is_detached = device->Detach();
    is_in_use |= !is_detached || device->has_left_jobs();
  }
  // By a job that was left, or by who waits for it.
  if (is_in_use) base::KeepForEver(std::shared_ptr<cache::Store>(std::move(at_.store)));
}

// All workers store numbers in turn until little is free.
Status SyntheticLoad::Fill() {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < options_.workers; t++) {
    auto thread = base::StartThread([this, &next, &failed] {
      cache::Store& store = *at_.store;
      const std::unique_ptr<cache::Session> session = store.NewSession();
      if (session == nullptr) return failed.store(true);
      const uint32_t spare = 2 * (store.log().geometry().lanes + 1) + options_.workers;
      std::vector<char> key(options_.key_bytes);
      while (!failed && !IsToStop() && store.log().SegmentsAvailable() > spare) {
        session->Begin();
        for (int i = 0; i < kStoresInARow; i++) {
          WriteKey(next.fetch_add(1), key.data(), options_.key_bytes);
          cache::Command command;
          command.verb = cache::Verb::kStore;
          command.key = {key.data(), key.size()};
          command.hash = store.HashOf(command.key);
          command.value = at_.value;
          if (cache::ExecuteWithRoom(*session, command).outcome != Outcome::kStored) failed = true;
        }
        session->End();
        store.Maintain(*session, kStoresInARow);
      }
    });
    if (!thread) break;  // the system gives no more: it takes longer, or there is none
    threads.push_back(std::move(*thread));
  }
  for (std::thread& thread : threads) thread.join();
  if (IsToStop()) return Stopped();
  at_.objects = next.load();
  if (!failed && at_.objects >= kObjectsMin) return Status::Ok();
  return {Code::kNoMemory, fmt::format("{} MiB hold {} objects, which are too few to measure",
                                       options_.memory_bytes >> 20, at_.objects)};
}

Result<SyntheticLoad::Servers> SyntheticLoad::MakeServers(const Traffic& traffic,
                                                          uint32_t workers) {
  std::unique_ptr<base::Zipf> zipf;
  if (traffic.zipf > 0)
    zipf =
        std::make_unique<base::Zipf>(traffic.keys == 0 ? at_.objects : traffic.keys, traffic.zipf);
  Servers servers;
  for (uint32_t i = 0; i < workers; i++) {
    auto server = SyntheticServer::Create(&at_, options_.devices, traffic, i, zipf.get());
    if (!server) return server.error();
    servers.push_back(std::move(*server));
  }
  return servers;
}

Result<SyntheticLoad::Feeders> SyntheticLoad::MakeFeeders(JobTraffic traffic) {
  if (options_.guest != nullptr) traffic.stop = &options_.guest->stop;
  Feeders feeders;
  for (uint32_t i = 0; i < traffic.feeders; i++) {
    auto feeder = JobFeeder::Create(&at_, traffic, i);
    if (!feeder) return feeder.error();
    feeders.push_back(std::move(*feeder));
  }
  return feeders;
}

Status SyntheticLoad::RunTurn(const Servers& servers, const Feeders& feeders, double seconds,
                              Turn* turn) {
  if (Status status = BeginTurn(); !status.ok()) return status;
  const double looks = LooksOf(*at_.store);
  const uint64_t until_ns = base::NowNs() + static_cast<uint64_t>(seconds * 1e9);
  std::vector<LoadFigures> of_servers(servers.size()), of_feeders(feeders.size());
  std::vector<Status> statuses(feeders.size());
  std::vector<std::thread> threads;
  Status started;
  const auto start = [&threads, &started](std::function<void()> work) {
    if (!started.ok()) return;
    auto thread = base::StartThread(std::move(work));
    started = thread ? Status::Ok() : thread.error();
    if (thread) threads.push_back(std::move(*thread));
  };
  for (size_t i = 0; i < servers.size(); i++)
    start([&, i] { of_servers[i] = servers[i]->Serve(until_ns); });
  for (size_t i = 0; i < feeders.size(); i++)
    start([&, i] { statuses[i] = feeders[i]->Feed(until_ns, &of_feeders[i]); });
  for (std::thread& thread : threads) thread.join();
  if (!started.ok()) return started;
  for (const Status& status : statuses)
    if (!status.ok()) return status;
  for (const LoadFigures& figures : of_servers) turn->served.Add(figures);
  for (const LoadFigures& figures : of_feeders) turn->fed.Add(figures);
  turn->served.looks = LooksOf(*at_.store) - looks;
  if (feeders.empty()) return Status::Ok();
  turn->fed.wall_ns /= static_cast<double>(feeders.size());
  const uint64_t ended_ns = base::NowNs();
  Status status = CatchUp();
  turn->fed.wall_ns += static_cast<double>(base::NowNs() - ended_ns);
  return status;
}

// Time without what was done between turns.
uint64_t SyntheticLoad::WorkedNs() const { return base::NowNs() - apart_ns_; }

Status SyntheticLoad::BeginTurn() {
  const uint64_t start_ns = base::NowNs();
  if (options_.guest != nullptr && options_.guest->before_turn) {
    if (Status status = options_.guest->before_turn(); !status.ok()) return status;
  }
  apart_ns_ += base::NowNs() - start_ns;
  if (IsToStop()) return Stopped();
  return CatchUp();
}

// Nothing to do for devices on the host's memory.
Status SyntheticLoad::CatchUp() {
  const uint64_t start_ns = base::NowNs();
  for (processor::Guard* device : options_.devices)
    if (Status status = device->CatchUp(); !status.ok()) return status;
  apart_ns_ += base::NowNs() - start_ns;
  return Status::Ok();
}

Result<std::vector<SyntheticLoad::Turn>> SyntheticLoad::RunTurns(const Servers& servers,
                                                                 const Feeders& feeders,
                                                                 double seconds) {
  const uint64_t until_ns = WorkedNs() + static_cast<uint64_t>(kSlowness * seconds * 1e9);
  std::vector<Turn> turns;
  do {
    Status status = RunTurn(servers, feeders, seconds / kTurns, &turns.emplace_back());
    if (!status.ok()) return status;
  } while (turns.size() < kTurns + 1 && WorkedNs() < until_ns);
  return turns;
}

Result<LoadFigures> SyntheticLoad::Run(const Traffic& traffic, const JobTraffic* beside,
                                       LoadFigures* fed) {
  auto servers =
      MakeServers(traffic, beside == nullptr ? options_.workers : WorkersBeside(*beside));
  if (!servers) return servers.error();
  Feeders feeders;
  if (beside != nullptr) {
    auto made = MakeFeeders(*beside);
    if (!made) return made.error();
    feeders = std::move(*made);
  }
  auto turns = RunTurns(*servers, feeders, traffic.seconds);
  if (!turns) return turns.error();
  const Turn& taken =
      QuantileOf(&*turns, TakenShare(), [](const Turn& turn) { return turn.served.BusyNs(); });
  if (fed != nullptr) *fed = taken.fed;
  return taken.served;
}

Result<std::vector<LoadFigures>> SyntheticLoad::RunInTurns(std::span<const Traffic> all) {
  std::vector<Servers> servers;
  double seconds = 0;
  for (const Traffic& traffic : all) {
    auto made = MakeServers(traffic, options_.workers);
    if (!made) return made.error();
    servers.push_back(std::move(*made));
    seconds += traffic.seconds;
  }
  const uint64_t until_ns = WorkedNs() + static_cast<uint64_t>(kSlowness * seconds * 1e9);
  std::vector<std::vector<Turn>> turns(all.size());
  for (size_t turn = 0; turn < kTurns + 1 && (turn == 0 || WorkedNs() < until_ns); turn++) {
    for (size_t i = 0; i < all.size(); i++) {
      Status status = RunTurn(servers[i], {}, all[i].seconds / kTurns, &turns[i].emplace_back());
      if (!status.ok()) return status;
    }
  }
  std::vector<LoadFigures> figures;
  for (std::vector<Turn>& of : turns) {
    const Turn& taken =
        QuantileOf(&of, TakenShare(), [](const Turn& turn) { return turn.served.BusyNs(); });
    figures.push_back(taken.served);
  }
  return figures;
}

Result<LoadFigures> SyntheticLoad::RunAlone(Traffic traffic) {
  traffic.batches = 1;
  auto servers = MakeServers(traffic, 1);
  if (!servers) return servers.error();
  auto turns = RunTurns(*servers, {}, traffic.seconds);
  if (!turns) return turns.error();
  return QuantileOf(&*turns, 0, [](const Turn& turn) { return turn.served.JobNs(); }).served;
}

Result<LoadFigures> SyntheticLoad::RunJobs(const JobTraffic& traffic, bool beside) {
  auto feeders = MakeFeeders(traffic);
  if (!feeders) return feeders.error();
  Servers servers;
  if (beside) {
    auto made = MakeServers(Traffic{}, WorkersBeside(traffic));
    if (!made) return made.error();
    servers = std::move(*made);
  }
  auto turns = RunTurns(servers, *feeders, traffic.seconds);
  if (!turns) return turns.error();
  return QuantileOf(&*turns, TakenShare(), [](const Turn& turn) { return turn.fed.WallNs(); }).fed;
}

}  // namespace weft::planner
