// Lets the file system beneath a store fail, and looks at what is left (durable/fault_history.h has
// the promise).
//
// A run writes from one to four threads through several generations on one memory file system. Each
// generation ends in one of three ways: power cuts at random calls (each a copy of the files, so
// that one generation has several); calls that fail, once, from some point on or because the disk
// is full, and then a crash or a closing; or neither. Then the store is opened, sometimes with
// calls failing in that as well, and judged, and the next generation goes on from there.
//
// LevelDB is spared what it is known not to survive: failing calls; a second log (it does not sync
// the one it leaves, so that synced writes outlive earlier ones); appending to a log that was torn;
// damage within a log, or a torn one before another (it goes on behind both).
//
//   fault_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
//   fault_test --enumerate [--runs N]   run n fails the n-th call, and cuts the power there
#include <thread>

#include "base/faulty_file_system.h"
#include "base/memory_file_system.h"
#include "base/program.h"
#include "durable/fault_history.h"

namespace weft::durable {
namespace {

using base::CrashKind;
using base::FaultyFileSystem;
using base::MemoryFileSystem;

constexpr int kWritersMax = 4;
const std::string kDir = "/stores/db";

enum class Ending : uint8_t { kCuts, kFaults, kNone };

struct Generation {
  Ending ending = Ending::kNone;
  std::vector<uint64_t> calls = {};  // where the power is cut, or the one call that fails; from 1
  bool fails_from_there = false;
  uint64_t disk_bytes = 0;  // that still fit; 0: as many as there are
  int operations = 0;       // of each writer
  bool crash = true;        // after faults; else the store is closed
};

class World {
 public:
  World(Engine* engine, bool with_faults, uint64_t seed)
      : engine_(engine), with_faults_(with_faults), random_(seed), crash_random_(seed) {
    files_ = std::make_unique<MemoryFileSystem>();
    RequireOk(files_->CreateDir("/stores"), "folder");
    RequireOk(files_->SyncDir("/"), "folder");
    const auto writers = random_.OneIn(2) ? 1 : random_.Between(2, kWritersMax);
    models_.resize(writers);
  }

  // Opens, works, ends as told, and judges what is left.
  void Live(const Generation& generation) {
    FaultyFileSystem faulty(files_.get());
    std::vector<Cut> cuts;
    const std::vector<Writer> writers = Work(generation, &faulty, &cuts);
    faulty.SetHook(nullptr);
    const bool closed = generation.ending == Ending::kNone || !generation.crash;
    if (closed || cuts.empty()) {
      cuts.push_back({files_->Copy(), stamps_.fetch_add(1), stamps_.fetch_add(1)});
    }
    const size_t goes_on = random_.Below(cuts.size());
    for (size_t i = 0; i < cuts.size(); ++i) {
      const CrashKind kind = closed ? CrashKind::kProcessEnd : DrawKind();
      std::vector<Model> left = JudgeCut(writers, &cuts[i], kind);
      if (i == goes_on) models_ = std::move(left);
    }
    files_ = std::move(cuts[goes_on].files);
  }

  // Calls of the file system that a generation made.
  uint64_t calls() const { return calls_; }
  Random* random() { return &random_; }

 private:
  Shape DrawOptions(FileSystem* files) {
    Shape shape;
    DrawShape(&random_, LevelDbEngine() != nullptr, &shape);
    shape.write_buffer_bytes = random_.OneIn(4) ? 200'000 : 64u << 10;
    if (!with_faults_) shape.write_buffer_bytes = 4u << 20, shape.reuse_logs = false;
    shape.background_bytes_per_second = 0;
    shape.files = files;
    return shape;
  }

  CrashKind DrawKind() {
    CrashKind kind = base::kCrashKinds[random_.Below(std::size(base::kCrashKinds))];
    if (!with_faults_ && kind == CrashKind::kReordered) kind = CrashKind::kTorn;
    return kind;
  }

  void SetFaults(const Generation& generation, FaultyFileSystem* faulty) {
    if (generation.ending != Ending::kFaults) return;
    if (generation.disk_bytes > 0) {
      faulty->FillDiskAfter(generation.disk_bytes);
    } else if (generation.fails_from_there) {
      faulty->FailFrom(generation.calls[0]);
    } else {
      faulty->FailCall(generation.calls[0]);
    }
  }

  // Copies the files at the chosen calls; the store goes on meanwhile.
  void SetCuts(const Generation& generation, FaultyFileSystem* faulty, std::vector<Cut>* cuts) {
    if (generation.ending != Ending::kCuts) return;
    faulty->SetHook([this, &generation, faulty, cuts](const base::FileCall&) {
      const uint64_t call = faulty->calls();
      base::MutexLock lock(&cuts_mutex_);
      if (cuts->size() < generation.calls.size() && call >= generation.calls[cuts->size()]) {
        Cut cut;
        cut.before = stamps_.fetch_add(1);
        cut.files = files_->Copy();
        cut.behind = stamps_.fetch_add(1);
        cuts->push_back(std::move(cut));
      }
      return Status();
    });
  }

  std::vector<Writer> Work(const Generation& generation, FaultyFileSystem* faulty,
                           std::vector<Cut>* cuts) {
    std::vector<Writer> writers;
    for (size_t i = 0; i < models_.size(); ++i) {
      writers.emplace_back(static_cast<int>(i), random_.Next(), models_[i], &stamps_);
    }
    const Shape shape = DrawOptions(faulty);
    Note(shape.ToString());
    const bool faults = generation.ending == Ending::kFaults;
    SetFaults(generation, faulty);
    SetCuts(generation, faulty, cuts);
    Result<std::unique_ptr<Store>> store = engine_->Open(shape, kDir);
    if (!store) {
      Require(faults, "open: " + store.error().ToString());
      Note("open failed: " + store.error().ToString());
    } else {
      const WriterHabits habits{generation.operations, faults, with_faults_};
      std::vector<std::thread> threads;
      for (Writer& writer : writers) {
        threads.emplace_back([&] { writer.Work(store->get(), habits); });
      }
      for (std::thread& thread : threads) thread.join();
    }
    if (faults && generation.crash) {
      cuts->push_back({files_->Copy(), stamps_.fetch_add(1), stamps_.fetch_add(1)});
    } else if (generation.disk_bytes == 0 && random_.OneIn(2)) {
      faulty->Heal();
    }
    if (store) store->reset();
    calls_ = faulty->calls();
    Count("faults", faulty->faults());
    return writers;
  }

  // Recovery on a file system that fails here and there, until it is left alone.
  void TryToOpen(Cut* cut, CrashKind kind) {
    FaultyFileSystem faulty(cut->files.get());
    const Shape shape = DrawOptions(&faulty);
    if (random_.OneIn(2)) {
      faulty.FailCall(1 + random_.Skewed(100));
    } else {
      faulty.FailFrom(1 + random_.Skewed(100));
    }
    Note("open with faults");
    Result<std::unique_ptr<Store>> store = engine_->Open(shape, kDir);
    if (store) store->reset();
    if (random_.OneIn(2)) cut->files->Crash(&crash_random_, kind);
  }

  static void NoteFiles(MemoryFileSystem* files) {
    std::string line = "left:";
    for (const std::string& path : files->AllFiles()) {
      Result<uint64_t> bytes = files->GetFileSize(path);
      line += " " + path.substr(path.rfind('/') + 1) + "=" + std::to_string(bytes ? *bytes : 0);
    }
    Note(line);
  }

  // Those that were acknowledged before the crash.
  void JudgeCheckpoints(const std::vector<Writer>& writers, const Cut& cut) {
    for (const Writer& writer : writers) {
      for (const Copied& copied : writer.checkpoints()) {
        if (copied.ended >= cut.before) continue;
        const Shape shape = DrawOptions(cut.files.get());
        Result<std::unique_ptr<Store>> store = engine_->OpenReadOnly(shape, copied.dir);
        if (!store) Fail("checkpoint " + copied.dir + ": " + store.error().ToString());
        std::vector<std::pair<std::string, std::string>> found;
        RequireOk(ReadAll(store->get(), {}, true, &found), "reading a checkpoint");
        std::erase_if(found,
                      [&](const auto& entry) { return !entry.first.starts_with(writer.prefix()); });
        const std::string difference = Difference(copied.model, found);
        Require(difference.empty(), "checkpoint " + copied.dir + ": " + difference);
        Count("checkpoints");
      }
    }
  }

  // Crashes, recovers and judges. What each writer's keys hold then.
  std::vector<Model> JudgeCut(const std::vector<Writer>& writers, Cut* cut, CrashKind kind) {
    Note("crash kind " + std::to_string(static_cast<int>(kind)));
    cut->files->Crash(&crash_random_, kind);
    NoteFiles(cut->files.get());
    JudgeCheckpoints(writers, *cut);
    while (with_faults_ && random_.OneIn(4)) TryToOpen(cut, kind);
    Shape shape = DrawOptions(cut->files.get());
    // LevelDB goes on behind a log that is torn, with the next one: a hole of its own making.
    const bool torn = kind == CrashKind::kReordered || kind == CrashKind::kTorn;
    const bool leveldb = random_.OneIn(8) && LevelDbEngine() != nullptr && !torn;
    Engine* engine = leveldb ? LevelDbEngine() : engine_;
    // To a strict LevelDB bytes that got lost before others are damage.
    if (torn && engine == LevelDbEngine()) shape.paranoid = false;
    Note(std::string("recover with ") + engine->Name() + ": " + shape.ToString());
    const std::unique_ptr<Store> store = MustOpen(engine, shape, kDir);
    std::vector<std::pair<std::string, std::string>> found;
    RequireOk(ReadAll(store.get(), {}, true, &found), "reading what is left");
    Judge(writers, *cut, kind == CrashKind::kProcessEnd, found);
    const Model all(found.begin(), found.end());
    CheckAll(store.get(), {}, all, &random_, "what is left");
    std::vector<Model> left(writers.size());
    for (const auto& [key, value] : all) left[static_cast<size_t>(key[0] - 'a')][key] = value;
    Count("crashes");
    return left;
  }

  Engine* engine_;
  const bool with_faults_;
  Random random_;
  std::mt19937_64 crash_random_;
  std::unique_ptr<MemoryFileSystem> files_;
  std::vector<Model> models_;  // of each writer, at the beginning of a generation
  Stamps stamps_ = 1;
  base::Mutex cuts_mutex_;
  uint64_t calls_ = 0;
};

void Run(Engine* engine, bool with_faults, uint64_t seed) {
  World world(engine, with_faults, seed);
  Random* random = world.random();
  const uint64_t generations = random->Between(1, 3);
  for (uint64_t i = 0; i < generations; ++i) {
    Generation generation;
    generation.operations = static_cast<int>(random->Between(10, 250));
    const uint64_t calls_about = static_cast<uint64_t>(generation.operations) * 3 + 50;
    const uint64_t draw = random->Below(10);
    if (draw < 5) {
      generation.ending = Ending::kCuts;
      const uint64_t cuts = random->Between(1, 3);
      for (uint64_t c = 0; c < cuts; ++c) {
        const uint64_t before = c == 0 ? 0 : generation.calls.back();
        generation.calls.push_back(before + 1 + random->Skewed(calls_about));
      }
    } else if (draw < 9 && with_faults) {
      generation.ending = Ending::kFaults;
      generation.calls = {1 + random->Skewed(calls_about)};
      generation.fails_from_there = random->OneIn(2);
      if (random->OneIn(3)) generation.disk_bytes = 1 + random->Skewed(600'000);
      generation.crash = random->OneIn(2);
    }
    Note("generation " + std::to_string(i) + ", ending " +
         std::to_string(static_cast<int>(generation.ending)) + " at call " +
         (generation.calls.empty() ? "-" : std::to_string(generation.calls[0])) + ", disk " +
         std::to_string(generation.disk_bytes));
    world.Live(generation);
  }
}

// The same work each time; what changes is the call that fails, in each way a call can.
void Enumerate(Engine* engine, uint64_t n) {
  constexpr uint64_t kSeed = 7;
  for (int way = 0; way < 4; ++way) {
    World world(engine, true, kSeed);
    Generation generation;
    generation.operations = 40;
    world.Live(generation);
    generation.operations = 150;
    generation.ending = way == 0 ? Ending::kCuts : Ending::kFaults;
    generation.calls = {n};
    generation.fails_from_there = way == 2;
    generation.crash = way != 3;
    Note("call " + std::to_string(n) + ", way " + std::to_string(way));
    world.Live(generation);
    if (world.calls() < n) Count("beyond the last call");
  }
}

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 300, 10'000);
  Engine* engine = EngineNamed(arguments.store);
  const bool enumerate = arguments.Has("--enumerate");
  const bool with_faults = arguments.store != "leveldb";  // which LevelDB does not always survive
  return RunAll(arguments, [&](uint64_t seed) {
    enumerate ? Enumerate(engine, seed) : Run(engine, with_faults, seed);
  });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
