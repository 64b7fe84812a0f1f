#include "server/server.h"

#include <pthread.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/clock.h"
#include "base/for_ever.h"
#include "base/patience.h"
#include "base/thread.h"
#include "pipeline/route.h"
#include "pipeline/task_times.h"
#include "server/buffer_rooms.h"
#include "server/log.h"
#include "server/notify.h"
#include "server/process.h"

namespace weft::server {

namespace {

uint64_t IdleTimeoutMs(const ServerOptions& options) {
  return std::min<uint64_t>(options.idle_timeout_s, UINT32_MAX) * 1000;
}

}  // namespace

Server::Server(const ServerOptions& options)
    : options_(options),
      started_s_(base::NowSeconds()),
      admission_(options.connections_max),
      watch_({.allowed = options.allow_watch,
              .workers = options.threads,
              .worker_bytes = options.worker_logbuf_bytes,
              .watcher_bytes = options.watcher_logbuf_bytes,
              .idle_timeout_ms = IdleTimeoutMs(options)}),
      rooms_{net::Room(InputRoom(options)), net::Room(OutputRoom(options))},
      verbosity_(options.verbosity),
      detail_enabled_(options.detail_enabled) {}

Server::~Server() {
  Shutdown(false);  // of a server that never ran: threads that wait for nobody
  Join();
  watch_.End();
  // A start that fails must not spend what was kept. A server that ran ends by SaveMemory.
  if (!ran_ && restart_ != nullptr && restart_->restored_items() != 0) SaveMemory();
  if (devices_ != nullptr && !devices_->Detach())
    base::KeepForEver(std::shared_ptr<cache::Store>(std::move(store_)));
}

Result<std::unique_ptr<Server>> Server::Create(const ServerOptions& options) {
  // The constructor is private so that no server exists half made; owned at once.
  auto server = std::unique_ptr<Server>(new Server(options));
  if (Status status = server->Init(); !status.ok()) return status;
  return server;
}

Status Server::Init() {
  auto devices = DeviceSet::Open(options_.devices);
  if (!devices) return About("--device", devices.error());
  devices_ = std::move(devices.value());
  std::optional<FoundCalibration> found;  // nothing: the plan stays
  if (MayPlan()) {
    auto calibration = FindCalibration(options_, *devices_->guards().front());
    if (!calibration) return About("--calibration", calibration.error());
    found = std::move(calibration.value());
    warnings_.insert(warnings_.end(), found->warnings.begin(), found->warnings.end());
    info_ = found->info;
  }
  if (Status status = OpenStore(); !status.ok()) return status;
  if (Status status = OpenTier(); !status.ok()) return status;
  if (Status status = ReadPasswords(); !status.ok()) return status;
  if (Status status = OpenTls(); !status.ok()) return status;
  if (Status status = OpenListeners(); !status.ok()) return status;
  // Once little can go wrong any more: then it must be saved again (the destructor does).
  if (restart_ != nullptr)
    if (Status status = restart_->Restore(store_.get(), tier_.get()); !status.ok())
      return About("-e", status);
  if (Status status = devices_->Attach(store_.get()); !status.ok()) return status;
  if (found) MakePlanner(std::move(*found));
  for (uint32_t i = 0; i < options_.threads; i++)
    if (Status status = OpenWorker(i); !status.ok()) return status;
  std::vector<net::EventLoop*> group;
  for (const auto& loop : loops_) group.push_back(loop.get());
  loops_.front()->ShareWith(group);
  return About(fmt::format("-t {}", options_.threads), StartThreads());
}

Status Server::OpenStore() {
  CacheOptions cache;
  cache.memory_bytes = options_.memory_bytes;
  // The protocol bounds items by memcached's rule; the store must only not be stricter.
  cache.object_bytes_max =
      static_cast<uint32_t>(std::min<uint64_t>(options_.item_bytes_max, options_.memory_bytes / 2));
  cache.evict = options_.evict;
  cache.index_policy = options_.index_policy;
  cache.expected_items = options_.expected_items;
  cache.append_lanes = options_.threads;
  auto restart = WarmRestart::Open(options_);
  if (!restart) return About("-e", restart.error());
  restart_ = std::move(*restart);
  if (restart_ != nullptr && devices_->pages() != cache::SystemPages())
    return {Code::kUnsupported, "-e cannot be used with a --device in whose memory the items lie"};
  cache::PageSource* const objects = restart_ == nullptr ? nullptr : restart_->objects();
  auto store = cache::Store::Open(cache, devices_->pages(), objects);
  if (!store) return About(MemoryFlags(), store.error());
  store_ = std::move(store.value());
  if (options_.devices.empty() && options_.data_dir.empty()) store_->AllowFilling();
  return Status::Ok();
}

// What a store that can't be had was asked for with.
std::string Server::MemoryFlags() const {
  std::string flags = fmt::format("-m {}", options_.memory_bytes >> 20);
  if (options_.item_bytes_max != ServerOptions().item_bytes_max)
    flags += fmt::format(" -I {}", options_.item_bytes_max);
  return options_.expected_items == 0 ? flags : flags + " with -o hashpower";
}

// The first loop's thread is that which runs the server. The others are there before anybody is
// told that it serves, for the system may refuse them.
Status Server::StartThreads() {
  results_.resize(loops_.size());
  for (size_t i = 1; i < loops_.size(); i++) {
    auto thread = base::StartThread([this, i] { RunLoop(i); });
    if (!thread) return thread.error();
    threads_.push_back(std::move(*thread));
  }
  return Status::Ok();
}

// Whether a planner is to choose the plan.
bool Server::MayPlan() {
  if (options_.plan || !options_.data_dir.empty() || devices_->guards().empty()) return false;
  if (devices_->guards().size() > 1)
    warnings_.emplace_back("--plan auto uses only gpu0; a --plan of your own can use the others");
  // A worker that may use a device has a session more for each batch that may be under way.
  const uint32_t sessions = 1 + pipeline::PlanRunner::Options{}.batches;
  if (options_.threads * sessions < cache::Epochs::kSlotsMax) return true;
  warnings_.emplace_back(
      "there are too many threads to choose plans; all queries run in one stage on the cpu");
  return false;
}

// With figures, or with somebody who measures them once the server serves.
void Server::MakePlanner(FoundCalibration found) {
  if (found.calibration) {
    planner_ = NewPlanner(options_, &*found.calibration, store_.get());
    calibrated_ = found.calibration->date;
    return;
  }
  planner_ = NewPlanner(options_, nullptr, store_.get());
  BackgroundCalibrator::Options how;
  how.path = std::move(found.path);
  how.workers = options_.threads;
  how.memory_bytes = options_.memory_bytes;
  how.open_device = [this] { return devices_->OpenAgain(0); };
  how.activity = [this] {
    uint64_t batches = 0;
    for (const auto& loop : loops_) batches += loop->Stats().batches;
    return batches;
  };
  calibrator_ =
      std::make_unique<BackgroundCalibrator>(std::move(how), store_.get(), planner_.get());
}

void Server::SayHowItRuns() const {
  devices_->Tell();
  if (restart_ != nullptr) restart_->Tell();
  if (!info_.empty()) spdlog::info("{}", info_);
  for (const std::string& warning : warnings_) spdlog::warn("{}", warning);
  // A plan is carried out where a device can't do all of its part, but its user should know.
  if (!options_.plan) return;
  auto route = pipeline::RouteOf(*options_.plan, devices_->guards());
  if (!route) return;  // the workers would not have been opened
  for (const pipeline::Task task : route->left)
    spdlog::warn(
        "plan: {} runs on the cpu in the last stage, because its device works on a copy of the "
        "store",
        pipeline::TaskName(task));
}

Status Server::OpenTier() {
  if (options_.data_dir.empty()) return {};
  tier::TierOptions options;
  options.dir = options_.data_dir;
  options.sync_ms = options_.sync_ms;
  options.compaction_device = options_.compaction_device;
  options.compaction_direct_io = options_.compaction_direct_io;
  options.on_failure = [](const Status& status) {
    spdlog::error("the durable store no longer accepts changes: {}", status.message());
  };
  options.on_loss = [](const Status& what) {
    spdlog::warn("the durable store lost a part of a log, which is kept in lost/: {}",
                 what.message());
  };
  options.on_read_error = [](const Status& why, uint64_t keys) {
    spdlog::error("could not read {} from the durable store: {}",
                  keys == 1 ? "a key" : std::to_string(keys) + " keys", why.message());
  };
  auto opened = tier::DiskTier::Open(options, store_.get());
  // A server that was killed just now may still have its lock, or the system's descriptors.
  for (base::Patience patience;
       !opened && opened.error().code() == Code::kRetryLater && patience.Wait();)
    opened = tier::DiskTier::Open(options, store_.get());
  if (!opened) return opened.error();
  tier_ = std::move(opened.value());
  auto pool = tier::LookupPool::Open(tier_.get(), options_.lookup_threads);
  if (!pool)
    return About(fmt::format("--lookup-threads {}", options_.lookup_threads), pool.error());
  pool_ = std::move(*pool);
  return {};
}

Status Server::OpenListeners() {
  net::ListenerOptions listener;
  listener.backlog = options_.backlog;
  listener.unix_mask = options_.unix_mask;
  if (!options_.unix_path.empty()) {
    auto opened = net::Listener::OpenUnix(options_.unix_path, listener);
    if (!opened) return About("-s", opened.error());
    doors_.push_back({std::move(opened.value()), {options_.dialect, gate()}});
    return Status::Ok();
  }
  for (const ListenAt& where : options_.tcp) {
    auto opened = net::Listener::OpenTcp(where, where.tls, listener);
    if (!opened)
      return About(fmt::format("-l {} -p {}", options_.listen_text, options_.tcp_port),
                   opened.error());
    for (auto& one : opened.value()) doors_.push_back({std::move(one), {where.dialect, gate()}});
  }
  return Status::Ok();
}

Status Server::OpenWorker(uint32_t number) {
  net::LoopOptions loop;
  if (number == 0)
    for (const Door& door : doors_) loop.listeners.push_back(door.listener.get());
  loop.admission = &admission_;
  loop.idle_timeout_ms = IdleTimeoutMs(options_);
  loop.rooms = &rooms_;
  loop.tls = tls_.get();
  loop.unknown_bytes_max = protocol::ParseContext{}.read_line_bytes_max;
  WorkerOptions worker;
  worker.item_bytes_max = static_cast<uint32_t>(options_.item_bytes_max);
  worker.start_s = base::NowSeconds();
  worker.shutdown_enabled = options_.allow_shutdown;
  worker.prefix_delimiter = options_.prefix_delimiter;
  for (const Door& door : doors_) worker.terms.push_back(door.terms);
  worker.output_high_bytes = loop.output_high_bytes;
  worker.plan = options_.plan.value_or(pipeline::Plan::OneStageCpu());
  worker.planner = planner_.get();
  worker.number = number;
  worker.watch = watch_.post(number);
  worker.devices = devices_->guards();
  worker.device_batch_min = options_.device_batch_min;
  if (planner_ == nullptr && worker.device_batch_min == 0)
    worker.device_batch_min = kDeviceBatchMinDefault;
  worker.steal = options_.steal;
  auto created = Worker::Create(store_.get(), this, worker, {tier_.get(), pool_.get()});
  if (!created) return created.error();
  workers_.push_back(std::move(created.value()));
  if (planner_ != nullptr)
    planner_->Watch(number, &workers_.back()->times(), workers_.back()->runner_counters());
  auto opened = net::EventLoop::Create(options_.net_kind, loop, workers_.back().get());
  if (!opened)
    return About(options_.net_kind == net::EventLoop::Kind::kUring
                     ? "--net io_uring"
                     : fmt::format("-t {}", options_.threads),
                 opened.error());
  loops_.push_back(std::move(opened.value()));
  workers_.back()->RunsOn(loops_.back().get());
  return Status::Ok();
}

void Server::RunLoop(size_t number) {
  const auto worker = static_cast<uint32_t>(number);
  clockid_t cpu_clock;
  if (planner_ != nullptr && pthread_getcpuclockid(pthread_self(), &cpu_clock) == 0)
    planner_->TimeBy(worker, cpu_clock);
  results_[number] = loops_[number]->Run();
  // A loop that ends by itself ends the server: the others would go on giving it clients.
  if (!results_[number].ok()) Stop();
  if (planner_ != nullptr) planner_->TimeBy(worker, std::nullopt);
}

Status Server::Run() {
  ran_ = true;
  if (calibrator_ != nullptr) calibrator_->Start();
  serves_ = true;
  RunLoop(0);
  serves_ = false;
  if (calibrator_ != nullptr) calibrator_->Stop();
  Join();
  for (const Status& status : results_)
    if (!status.ok()) return status;
  return Status::Ok();
}

// After lookups, and after the devices: all of them look into the store, or change it.
void Server::SaveMemory() {
  if (restart_ == nullptr) return;
  pool_.reset();
  if (devices_->Detach())
    restart_->Save(store_.get(), tier_.get());
  else
    spdlog::error("-e: the next server starts empty: a device has not ended its work");
}

void Server::Join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Server::Stop() {
  serves_ = false;
  NotifyStopping();
  watch_.Close();
  for (const auto& loop : loops_) loop->Stop(kGraceMs);
}

void Server::Reload() {
  reload_asked_.store(true);
  loops_.front()->Wake();
}

void Server::RunErrands() {
  if (restart_ != nullptr) restart_->TellOfShortage(store_->log().shortage());
  if (!reload_asked_.load(std::memory_order_relaxed) || !reload_asked_.exchange(false)) return;
  NotifyReloading();
  const auto say = [](std::string_view what, const Status& status) {
    if (status.ok()) return spdlog::info("{} were read again", what);
    spdlog::error("{} stay as they were: {}", what, OneLine(status.message()));
  };
  if (gate() != protocol::Gate::kOpen) say("users and passwords", ReadPasswords());
  if (tls_ != nullptr) say("the certificate and its key", tls_->Reload());
  NotifyReady();
}

Status Server::OpenTls() {
  if (!options_.tls) return {};
  auto tls = net::TlsServer::Create(*options_.tls);
  if (!tls) return About("-Z", tls.error());
  tls_ = std::move(*tls);
  return {};
}

std::string Server::RefreshCerts() {
  if (tls_ == nullptr) return std::string(protocol::kNoTlsText);
  const Status status = tls_->Reload();
  return status.ok() ? std::string(protocol::kOkText) : OneLine(status.message()) + "\r\n";
}

protocol::Gate Server::gate() const {
  if (options_.sasl) return protocol::Gate::kSasl;
  return options_.auth_path.empty() ? protocol::Gate::kOpen : protocol::Gate::kToken;
}

Status Server::ReadPasswords() {
  if (gate() == protocol::Gate::kOpen) return {};
  const bool by_environment = options_.sasl && !options_.sasl_path.empty();
  const std::string& path = by_environment ? options_.sasl_path : options_.auth_path;
  if (path.empty())
    return {Code::kInvalidArgument,
            "-S: neither MEMCACHED_SASL_PWDB nor -Y names a file of users and passwords"};
  auto file = PasswordFile::Read(
      path, by_environment ? PasswordFile::Form::kSasl : PasswordFile::Form::kToken);
  if (!file) return About(by_environment ? "MEMCACHED_SASL_PWDB" : "-Y", file.error());
  base::MutexLock lock(&passwords_mutex_);
  passwords_ = std::make_shared<const PasswordFile>(std::move(*file));
  return {};
}

bool Server::Admits(std::string_view user, std::string_view password) const {
  std::shared_ptr<const PasswordFile> passwords;
  {
    base::MutexLock lock(&passwords_mutex_);
    passwords = passwords_;
  }
  return passwords != nullptr && passwords->Admits(user, password);
}

void Server::Shutdown(bool graceful) {
  serves_ = false;
  NotifyStopping();
  watch_.Close();
  for (const auto& loop : loops_) loop->Stop(graceful ? kGraceMs : 0);
}

void Server::SetVerbosity(uint32_t level) {
  verbosity_ = static_cast<int>(level);
  SetLogLevel(static_cast<int>(level));
}

std::vector<net::SocketAddress> Server::Addresses() const {
  std::vector<net::SocketAddress> addresses;
  for (const Door& door : doors_) addresses.push_back(door.listener->address());
  return addresses;
}

std::string Server::Stats(std::string_view arguments) {
  const ServerSnapshot now =
      Snapshot({StatsNeedsConnections(arguments), StatsNeedsLatency(arguments)});
  switch (StatsActionOf(arguments)) {
    case StatsAction::kReset:
      baseline_.Reset(now);
      for (const auto& worker : workers_) worker->prefixes().Clear();
      break;
    case StatsAction::kDetailDump: {
      if (!options_.allow_dump) break;
      PrefixCounts sum(options_.prefix_delimiter);
      for (const auto& worker : workers_) worker->prefixes().AddTo(&sum);
      return sum.ToText();
    }
    case StatsAction::kDetailOn: detail_enabled_ = options_.allow_dump; break;
    case StatsAction::kDetailOff: detail_enabled_ = false; break;
    case StatsAction::kNone: break;
  }
  return StatsText(arguments, baseline_.Since(now), options_);
}

ServerSnapshot Server::Snapshot(Parts parts) const {
  ServerSnapshot snapshot;
  snapshot.FillProcess();
  snapshot.uptime_s = snapshot.now_s - started_s_;
  snapshot.threads = workers_.size();
  snapshot.net_kind = net_kind();
  snapshot.verbosity = verbosity_;
  snapshot.detail_enabled = detail_enabled_;
  snapshot.connections_max = admission_.connections_max();
  snapshot.connections_rejected = admission_.refused();
  for (const auto& worker : workers_) {
    snapshot.Add(worker->counters());
    snapshot.Add(worker->times());
    snapshot.conn_yields += worker->yields().value();
    if (parts.latency) worker->latency().AddTo(&snapshot.latency);
    if (worker->runner_counters() != nullptr) snapshot.Add(*worker->runner_counters());
  }
  for (const auto& loop : loops_) snapshot.Add(loop->Stats());
  if (tls_ != nullptr) snapshot.tls = tls_->Stats();
  snapshot.plan = options_.plan.value_or(pipeline::Plan::OneStageCpu()).ToText();
  if (planner_ != nullptr) {
    snapshot.planner = planner_->Stats();
    snapshot.calibration = calibrator_ != nullptr ? calibrator_->State() : calibrated_;
    snapshot.AddChanges(snapshot.planner->last_changes, base::NowNs());
    if (devices_->guards().front()->usable())
      snapshot.plan = snapshot.planner->decision.candidate.plan.ToText();
  }
  for (const processor::Guard* guard : devices_->guards()) snapshot.Add(*guard);
  cache::SessionCounters sessions;
  store_->SumCounters(&sessions);
  snapshot.Add(sessions);
  snapshot.cache = store_->Stats();
  if (tier_ != nullptr) snapshot.data = tier_->Stats();
  snapshot.limit_bytes = store_->memory_limit();
  snapshot.index_bytes = store_->index_bytes();
  snapshot.index_growing = store_->index_growing();
  snapshot.memory_file_refusals = store_->log().shortage().refused;
  snapshot.watch = watch_.Count();
  if (!parts.connections) return snapshot;
  snapshot.watching = watch_.Connections();
  for (const Door& door : doors_) {
    const net::Listener& listener = *door.listener;
    snapshot.listeners.push_back(
        {listener.fd(), listener.transport(), listener.address().ToString()});
  }
  for (const auto& loop : loops_)
    loop->ForEachConnection([&snapshot](const net::ConnectionInfo& connection) {
      snapshot.connections.push_back(connection);
    });
  return snapshot;
}

}  // namespace weft::server
