#include "durable/crash_child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "durable/killing_files.h"
#include "durable/store.h"

namespace weft::durable {
namespace {

constexpr int kChildFailed = 3;
constexpr uint64_t kOperationsBetweenIngests = 64;

class Child {
 public:
  Child(Engine* engine, const CrashOrders& orders, const std::string& folder)
      : engine_(engine), orders_(orders), progress_(MapProgress(folder + "/progress")) {
    Random random(orders.seed * 31 + orders.round);
    DrawShape(&random, orders.leveldb_too, &shape_);
    shape_.write_buffer_bytes = random.Of<size_t>({64u << 10, 64u << 10, 200'000, 1u << 20});
    if (orders.die_at_call > 0) {
      files_ = NewKillingFileSystem(PosixFileSystem(), orders.die_at_call,
                                    static_cast<KillMoment>(orders.die_moment));
      shape_.files = files_.get();
    }
    dir_ = folder + "/db";
  }

  int Work() {
    Result<std::unique_ptr<Store>> store = engine_->Open(shape_, dir_);
    if (!store) GiveUp("open", store.error());
    store_ = std::move(*store);
    progress_->opened.store(1);
    if (!orders_.only_open) Write();
    store_.reset();
    return 0;
  }

 private:
  [[noreturn]] void GiveUp(const std::string& what, const Status& status) {
    if (progress_->failed.fetch_add(1) == 0) {
      std::snprintf(progress_->failure, sizeof(progress_->failure), "%s: %s", what.c_str(),
                    status.ToString().c_str());
    }
    _exit(kChildFailed);
  }

  void Write() {
    std::vector<std::thread> writers;
    std::vector<std::thread> others;
    for (int i = 0; i < orders_.writers; ++i) writers.emplace_back([this, i] { WriteAs(i); });
    if (orders_.reader) others.emplace_back([this] { ReadShared(); });
    if (orders_.compactor) others.emplace_back([this] { Compact(); });
    for (std::thread& thread : writers) thread.join();
    ended_.store(true);
    for (std::thread& thread : others) thread.join();
  }

  void WriteAs(int thread) {
    CrashWorkload workload(orders_.seed, orders_.round, thread);
    for (uint64_t i = 0; i < orders_.operations_max; ++i) {
      const CrashOperation operation = workload.Next();
      Status status(Code::kUnsupported, "");
      if (i % kOperationsBetweenIngests == 0) status = Ingest(thread, i, operation.batch);
      if (status.code() == Code::kUnsupported) {
        status = operation.batch.size() == 1 ? store_->WriteOne(operation.batch[0], operation.sync)
                                             : store_->Write(operation.batch, operation.sync);
      }
      if (!status.ok()) GiveUp("write", status);
      progress_->acknowledged[thread].store(i + 1, std::memory_order_release);
    }
  }

  // The same as a table, where nothing in it is deleted.
  Status Ingest(int thread, uint64_t number, const Batch& batch) {
    Model table;
    for (const Change& change : batch) {
      if (!change.value) return Status(Code::kUnsupported, "tables have no deletions");
      table[change.key] = *change.value;
    }
    const std::vector<std::pair<std::string, std::string>> entries(table.begin(), table.end());
    return store_->Ingest(entries, dir_ + "-table-" + std::to_string(thread), number % 2 == 0);
  }

  // A checkpoint must show the shared keys equal, too.
  void Checkpoint(uint64_t number) {
    const std::string dir = dir_ + "-checkpoint-" + std::to_string(orders_.round) + "-" +
                            std::to_string(number) + (orders_.only_open ? "o" : "w");
    const Status made = store_->Checkpoint(dir);
    if (made.code() == Code::kUnsupported) return;
    if (!made.ok()) GiveUp("checkpoint", made);
    Result<std::unique_ptr<Store>> copy = engine_->OpenReadOnly(shape_, dir);
    if (!copy) GiveUp("opening a checkpoint", copy.error());
    std::vector<Lookup> lookups(kSharedKeys);
    for (int i = 0; i < kSharedKeys; ++i) lookups[static_cast<size_t>(i)].key = SharedKey(i);
    (*copy)->MultiGet({}, lookups);
    for (const Lookup& lookup : lookups) {
      if (lookup.status.code() != lookups[0].status.code() || lookup.value != lookups[0].value) {
        GiveUp("a checkpoint tears a batch", lookup.status);
      }
    }
    copy->reset();
    if (Status gone = engine_->Destroy(shape_, dir); !gone.ok()) GiveUp("destroying", gone);
  }

  // The shared keys are only ever written together: every view must show them equal.
  void ReadShared() {
    std::vector<Lookup> lookups(kSharedKeys);
    for (int i = 0; i < kSharedKeys; ++i) lookups[static_cast<size_t>(i)].key = SharedKey(i);
    while (!ended_.load()) {
      store_->MultiGet({}, lookups);
      for (const Lookup& lookup : lookups) {
        if (lookup.status.code() != lookups[0].status.code() || lookup.value != lookups[0].value) {
          GiveUp("multiget tears a batch", lookup.status);
        }
      }
      const std::unique_ptr<Iterator> it = store_->NewIterator({});
      std::string first;
      int seen = 0;
      for (it->Seek("s/"); it->Valid(); it->Next(), ++seen) {
        if (seen == 0) first = it->value();
        if (it->value() != first) GiveUp("an iterator tears a batch", it->status());
      }
      if (!it->status().ok()) GiveUp("iterator", it->status());
      if (seen != 0 && seen != kSharedKeys) GiveUp("an iterator shows half a batch", Status());
    }
  }

  void Compact() {
    Random random(orders_.seed + orders_.round);
    for (uint64_t number = 0; !ended_.load(); ++number) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Below(20)));
      if (random.OneIn(4)) Checkpoint(number);
      const std::string from = std::to_string(random.Below(kWritersMax));
      const std::string_view begin = from;
      const Status status =
          random.OneIn(2) ? store_->Flush() : store_->CompactRange(&begin, nullptr);
      if (!status.ok() && status.code() != Code::kUnsupported) GiveUp("compact", status);
    }
  }

  Engine* engine_;
  const CrashOrders orders_;
  CrashProgress* progress_;
  Shape shape_;
  std::string dir_;
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<Store> store_;
  std::atomic<bool> ended_ = false;
};

}  // namespace

CrashOrders DrawOrders(uint64_t seed, uint64_t round, bool leveldb_too, bool only_open) {
  Random random(seed * 7919 + round * 13 + only_open);
  CrashOrders orders;
  orders.seed = seed;
  orders.round = round;
  orders.only_open = only_open;
  orders.leveldb_too = leveldb_too;
  orders.writers = static_cast<int>(random.Between(1, kWritersMax));
  orders.operations_max = random.OneIn(5) ? random.Skewed(500) : 100'000;
  orders.reader = random.OneIn(2);
  orders.compactor = random.OneIn(3);
  if (random.OneIn(2)) orders.die_at_call = 1 + random.Skewed(only_open ? 60 : 4000);
  orders.die_moment = static_cast<int>(random.Below(3));
  return orders;
}

CrashProgress* MapProgress(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  Require(fd >= 0 && ftruncate(fd, sizeof(CrashProgress)) == 0, "cannot make " + path);
  void* mapped = mmap(nullptr, sizeof(CrashProgress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  Require(mapped != MAP_FAILED, "cannot map " + path);
  close(fd);
  return static_cast<CrashProgress*>(mapped);
}

pid_t StartChild(const Arguments& arguments, const CrashOrders& orders, const std::string& folder) {
  std::vector<std::string> words = {"crash_test",
                                    "--child",
                                    folder,
                                    "--store",
                                    arguments.store,
                                    "--seed",
                                    std::to_string(orders.seed),
                                    std::to_string(orders.round),
                                    orders.leveldb_too ? "leveldb" : "weft",
                                    orders.only_open ? "open" : "write"};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  Require(child >= 0, "cannot fork");
  if (child == 0) {
    execv("/proc/self/exe", pointers.data());
    _exit(127);
  }
  return child;
}

int RunAsChild(const Arguments& arguments) {
  if (arguments.rest.size() != 5 || arguments.rest[0] != "--child") return -1;
  const CrashOrders orders =
      DrawOrders(arguments.seed, std::strtoull(arguments.rest[2].c_str(), nullptr, 10),
                 arguments.rest[3] == "leveldb", arguments.rest[4] == "open");
  return Child(EngineNamed(arguments.store), orders, arguments.rest[1]).Work();
}

}  // namespace weft::durable
