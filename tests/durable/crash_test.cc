// Kills a process that writes to a store, with SIGKILL, and looks at what it left.
//
// A run is ten kills on one folder: at a random time, after a random number of writes, or in the
// middle of a chosen call of the file system; while opening, recovering, flushing, compacting.
// Then: every acknowledged write is there, the one that was under way in each thread is there whole
// or not at all, and nothing else is. Recovery itself is killed too. Where LevelDB is there, it
// looks as well.
//
//   crash_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "base/program.h"
#include "durable/crash_child.h"
#include "durable/store.h"

namespace weft::durable {
namespace {

constexpr uint64_t kKillsPerRun = 10;
constexpr auto kPatience = std::chrono::seconds(120);  // without a write that is acknowledged

using Clock = std::chrono::steady_clock;

class Killings {
 public:
  Killings(const Arguments& arguments, Engine* engine, uint64_t seed)
      : arguments_(arguments),
        engine_(engine),
        seed_(seed),
        random_(seed),
        leveldb_too_(arguments.store == "leveldb" || (LevelDbEngine() != nullptr && seed % 2 == 0)),
        folder_(arguments, true),
        progress_(MapProgress(folder_.path() + "/progress")) {}
  ~Killings() { munmap(progress_, sizeof(*progress_)); }

  void Run() {
    for (uint64_t round = 0; round < kKillsPerRun; ++round) {
      const CrashOrders orders = DrawOrders(seed_, round, leveldb_too_, false);
      LetDie(orders);
      const uint64_t recoveries = random_.OneIn(2) ? random_.Below(4) : 0;
      uint64_t acknowledged[kWritersMax];
      for (int i = 0; i < kWritersMax; ++i) acknowledged[i] = progress_->acknowledged[i].load();
      for (uint64_t i = 0; i < recoveries; ++i) {
        LetDie(DrawOrders(seed_, round * 100 + i, leveldb_too_, true));
      }
      Check(orders, acknowledged);
    }
  }

 private:
  // Starts the child and sees that it dies.
  void LetDie(const CrashOrders& orders) {
    std::memset(static_cast<void*>(progress_), 0, sizeof(*progress_));
    Note("round " + std::to_string(orders.round) + (orders.only_open ? ", recovery" : "") + ", " +
         std::to_string(orders.writers) + " writers, dies at call " +
         std::to_string(orders.die_at_call));
    const uint64_t after = random_.OneIn(3) ? 0 : random_.Skewed(30'000);
    const auto delay = std::chrono::microseconds(random_.Skewed(after > 0 ? 3000 : 60'000));
    const pid_t child = StartChild(arguments_, orders, folder_.path());
    const auto started = Clock::now();
    auto moved = started;
    uint64_t written = 0;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      const auto now = Clock::now();
      if (Acknowledged() > written) {
        written = Acknowledged();
        moved = now;
      }
      // One that should have died by itself has ended its work or is slow.
      const bool due = orders.die_at_call > 0 ? now - started > std::chrono::seconds(1)
                                              : Acknowledged() >= after;
      if (now - moved > kPatience) {
        kill(child, SIGKILL);
        Fail("the writer made no headway behind " + std::to_string(written) + " writes");
      }
      if (due) {
        std::this_thread::sleep_for(delay);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    JudgeEnd(status);
  }

  void JudgeEnd(int status) {
    if (progress_->failed.load() != 0)
      Fail(std::string("the writer failed: ") + progress_->failure);
    const bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    Require(ended || killed, "the writer ended with status " + std::to_string(status));
    Count(ended ? "ends" : "kills");
  }

  uint64_t Acknowledged() const {
    uint64_t sum = 0;
    for (const auto& one : progress_->acknowledged) sum += one.load();
    return sum;
  }

  void Check(const CrashOrders& orders, const uint64_t* acknowledged) {
    const bool by_leveldb = leveldb_too_ && LevelDbEngine() != nullptr && random_.OneIn(4);
    Engine* engine = by_leveldb ? LevelDbEngine() : engine_;
    Shape shape;
    DrawShape(&random_, leveldb_too_, &shape);
    // A log that ends in the middle of a record is what a crash leaves: no damage.
    shape.paranoid = random_.OneIn(2);
    // LevelDB goes on behind the torn end of a manifest that it reuses, and then opens it no more.
    // Half of a record before zeros, which a call that dies leaves in a mapped log (kill -9 does
    // not: base/posix_log.h), is damage to it where it is paranoid.
    if (by_leveldb) shape.reuse_logs = shape.paranoid = false;
    const std::unique_ptr<Store> store = MustOpen(engine, shape, folder_.path() + "/db");
    std::vector<std::pair<std::string, std::string>> found;
    RequireOk(ReadAll(store.get(), {}, true, &found), "reading what is left");
    Model own[kWritersMax];
    std::vector<std::string> shared;
    for (const auto& [key, value] : found) {
      const int owner = OwnerOf(key);
      owner < 0 ? shared.push_back(value) : (void)own[owner].emplace(key, value);
      Require(owner >= 0 || key.starts_with("s/"), "a key never written: " + Shown(key));
    }
    std::set<std::string> candidates;
    bool overwritten = false;
    for (int i = 0; i < orders.writers; ++i) {
      overwritten |= Advance(orders, i, acknowledged[i], own[i], &candidates);
    }
    for (int i = orders.writers; i < kWritersMax; ++i) RequireSame(models_[i], own[i], i, 0);
    if (!overwritten) candidates.insert(shared_);
    CheckShared(shared, candidates);
    Model all;
    for (const Model& model : models_) all.insert(model.begin(), model.end());
    for (int i = 0; i < kSharedKeys && !shared_.empty(); ++i) all[SharedKey(i)] = shared_;
    CheckAll(store.get(), {}, all, &random_, "what is left");
    Count(by_leveldb ? "checks by leveldb" : "checks");
  }

  // Plays what a writer had acknowledged onto its model, and the write under way where that is
  // there. Adds the values its shared keys may have; true where it overwrote those for sure.
  bool Advance(const CrashOrders& orders, int writer, uint64_t acknowledged, const Model& found,
               std::set<std::string>* candidates) {
    CrashWorkload workload(orders.seed, orders.round, writer);
    Model& model = models_[writer];
    std::string last_shared;
    for (uint64_t i = 0; i < acknowledged; ++i) {
      const CrashOperation operation = workload.Next();
      if (operation.shared) {
        last_shared = *operation.batch[0].value;
      } else {
        Apply(operation.batch, &model);
      }
    }
    if (!last_shared.empty()) candidates->insert(last_shared);
    Count("acknowledged writes", acknowledged);
    if (acknowledged < orders.operations_max) {
      const CrashOperation under_way = workload.Next();
      if (under_way.shared) {
        candidates->insert(*under_way.batch[0].value);
      } else if (model != found) {
        Model with = model;
        Apply(under_way.batch, &with);
        if (with == found) model = with;
      }
    }
    RequireSame(model, found, writer, acknowledged);
    return !last_shared.empty();
  }

  void RequireSame(const Model& model, const Model& found, int writer, uint64_t acknowledged) {
    if (model == found) return;
    const std::vector<std::pair<std::string, std::string>> entries(found.begin(), found.end());
    Fail("writer " + std::to_string(writer) + ", " + std::to_string(acknowledged) +
         " writes acknowledged: " + Difference(model, entries) + ", in " + folder_.path());
  }

  void CheckShared(const std::vector<std::string>& found, const std::set<std::string>& candidates) {
    const std::string value = found.empty() ? "" : found[0];
    Require(found.empty() || found.size() == kSharedKeys, "half a batch of shared keys is there");
    for (const std::string& one : found) Require(one == value, "a batch of shared keys is torn");
    if (!candidates.contains(value)) {
      std::string list;
      for (const std::string& candidate : candidates) list += " " + Shown(candidate);
      Fail("the shared keys hold " + Shown(value) + ", which is none of" + list);
    }
    shared_ = value;
  }

  const Arguments& arguments_;
  Engine* engine_;
  const uint64_t seed_;
  Random random_;
  const bool leveldb_too_;
  TempFolder folder_;
  CrashProgress* progress_;
  Model models_[kWritersMax];
  std::string shared_;
};

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 3, 100);
  if (const int status = RunAsChild(arguments); status >= 0) return status;
  Engine* engine = EngineNamed(arguments.store);
  return RunAll(arguments, [&](uint64_t seed) { Killings(arguments, engine, seed).Run(); });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
