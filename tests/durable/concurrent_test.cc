// Writers, readers and housekeeping on one store at once, with options at random. Whatever a reader
// sees, it sees whole and in order:
//
//   bank/T/N     accounts of writer T, moved between in batches: their sum stays what it was
//   pair/N/x, y  always written, and deleted, together: equal, and both there or both not
//   last/T       a number that its writer raises: what was acknowledged before a read is seen by it
//   group/N      taken in as tables, all with one number: equal
//
// in every iterator, in every multiget and in every snapshot, and in checkpoints.
//
//   concurrent_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/program.h"
#include "durable/kit.h"
#include "durable/store.h"

namespace weft::durable {
namespace {

constexpr int kWriters = 3;
constexpr int kReaders = 2;
constexpr int kAccounts = 20;
constexpr int64_t kSum = 20'000;
constexpr int kPairs = 200;
constexpr int kGroup = 30;

std::string Account(int writer, int account) {
  return "bank/" + std::to_string(writer) + "/" + std::to_string(account);
}
std::string Padded(int64_t number, Random* random) {
  return std::to_string(number) + " " + random->Bytes(random->Skewed(3000));
}
int64_t NumberOf(std::string_view value) {
  return std::strtoll(std::string(value).c_str(), nullptr, 10);
}

class Bustle {
 public:
  Bustle(const Arguments& arguments, Engine* engine, uint64_t seed)
      : engine_(engine), seed_(seed), folder_(arguments) {
    Random random(seed);
    DrawShape(&random, arguments.store == "leveldb", &shape_);
    shape_.write_buffer_bytes = random.Of<size_t>({64u << 10, 64u << 10, 300'000});
    operations_ = arguments.is_long ? 20'000 : 4000;
    Note(shape_.ToString());
    store_ = MustOpen(engine, shape_, folder_.path() + "/db");
    Batch first;
    for (int w = 0; w < kWriters; ++w) {
      for (int a = 0; a < kAccounts; ++a) {
        first.push_back({Account(w, a), std::to_string(kSum / kAccounts)});
      }
    }
    RequireOk(store_->Write(first, false), "first write");
  }

  void Run() {
    std::vector<std::thread> writers;
    std::vector<std::thread> others;
    for (int i = 0; i < kWriters; ++i) writers.emplace_back([this, i] { Write(i); });
    for (int i = 0; i < kReaders; ++i) others.emplace_back([this, i] { Read(i); });
    others.emplace_back([this] { KeepHouse(); });
    for (std::thread& thread : writers) thread.join();
    ended_.store(true);
    for (std::thread& thread : others) thread.join();
    CheckAllAtOnce(store_.get(), {}, "at the end");
    store_.reset();
    store_ = MustOpen(engine_, shape_, folder_.path() + "/db");
    CheckAllAtOnce(store_.get(), {}, "reopened");
    for (int i = 0; i < kWriters; ++i) {
      std::string value;
      RequireOk(store_->Get({}, "last/" + std::to_string(i), &value), "last number");
      Require(NumberOf(value) == acknowledged_[i].load(), "the last number is lost");
    }
  }

 private:
  void Write(int writer) {
    Random random(seed_ * 100 + static_cast<uint64_t>(writer));
    std::vector<int64_t> accounts(kAccounts, kSum / kAccounts);
    const std::string last = "last/" + std::to_string(writer);
    for (int64_t i = 1; i <= operations_; ++i) {
      Batch batch;
      const uint64_t draw = random.Below(4);
      if (draw == 0) {
        const size_t from = random.Below(kAccounts);
        const size_t to = random.Below(kAccounts);
        const auto amount = static_cast<int64_t>(random.Below(100));
        accounts[from] -= amount;
        accounts[to] += amount;
        for (const size_t a : {from, to}) {
          batch.push_back({Account(writer, static_cast<int>(a)), Padded(accounts[a], &random)});
        }
      } else if (draw == 1) {
        const std::string pair = "pair/" + std::to_string(random.Below(kPairs));
        std::optional<std::string> value;
        if (!random.OneIn(4)) value = std::to_string(writer) + ":" + std::to_string(i);
        batch = {{pair + "/x", value}, {pair + "/y", value}};
      } else {
        batch = {{last, Padded(i, &random)}};
      }
      const bool sync = random.OneIn(500);
      RequireOk(batch.size() == 1 ? store_->WriteOne(batch[0], sync) : store_->Write(batch, sync),
                "write");
      if (batch.size() == 1) acknowledged_[writer].store(i);
    }
    Count("writes", static_cast<uint64_t>(operations_));
  }

  void Read(int reader) {
    Random random(seed_ * 1000 + static_cast<uint64_t>(reader));
    std::vector<int64_t> seen(kWriters, 0);
    while (!ended_.load()) {
      for (int i = 0; i < kWriters; ++i) ReadLast(i, &seen[static_cast<size_t>(i)]);
      ReadPairs(&random);
      if (random.OneIn(8)) {
        View view;
        view.fill_cache = random.OneIn(2);
        CheckAllAtOnce(store_.get(), view, "now");
      }
      if (random.OneIn(8)) {
        View view;
        view.snapshot = store_->GetSnapshot();
        for (int times = 0; times < 3; ++times) CheckAllAtOnce(store_.get(), view, "in a snapshot");
        store_->ReleaseSnapshot(view.snapshot);
      }
    }
  }

  void ReadLast(int writer, int64_t* seen) {
    const int64_t least = std::max(*seen, acknowledged_[writer].load());
    std::string value;
    const Status status = store_->Get({}, "last/" + std::to_string(writer), &value);
    if (status.code() == Code::kNotFound && least == 0) return;
    RequireOk(status, "get");
    *seen = NumberOf(value);
    Require(*seen >= least, "read " + std::to_string(*seen) + " after " + std::to_string(least) +
                                " was acknowledged or seen");
  }

  void ReadPairs(Random* random) {
    std::vector<Lookup> lookups(2 * random->Between(1, 16));
    for (size_t i = 0; i < lookups.size(); i += 2) {
      const std::string pair = "pair/" + std::to_string(random->Below(kPairs));
      lookups[i].key = pair + "/x";
      lookups[i + 1].key = pair + "/y";
    }
    store_->MultiGet({}, lookups);
    for (size_t i = 0; i < lookups.size(); i += 2) {
      const Lookup& x = lookups[i];
      const Lookup& y = lookups[i + 1];
      Require(x.status.ok() || x.status.code() == Code::kNotFound, x.status.ToString());
      Require(x.status.code() == y.status.code() && x.value == y.value,
              "multiget tears " + x.key + ": " + Shown(x.value) + " and " + Shown(y.value));
    }
  }

  // One iterator over everything, either way.
  static void CheckAllAtOnce(Store* store, const View& view, const std::string& when) {
    static std::atomic<uint64_t> turn = 0;
    std::vector<std::pair<std::string, std::string>> found;
    RequireOk(ReadAll(store, view, turn.fetch_add(1) % 2 == 0, &found), when);
    int64_t sums[kWriters] = {};
    std::string group;
    size_t group_size = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      const auto& [key, value] = found[i];
      Require(i == 0 || found[i - 1].first < key, when + ": keys out of order at " + key);
      if (key.starts_with("bank/")) sums[key[5] - '0'] += NumberOf(value);
      if (key.starts_with("group/")) {
        Require(group_size++ == 0 || group == value, when + ": a table taken in is torn");
        group = value;
      }
      if (!key.starts_with("pair/")) continue;
      const bool is_x = key.ends_with("/x");
      const size_t other = is_x ? i + 1 : i - 1;
      Require(other < found.size() && found[other].second == value &&
                  found[other].first == key.substr(0, key.size() - 1) + (is_x ? "y" : "x"),
              when + ": an iterator tears " + key);
    }
    Require(group_size == 0 || group_size == kGroup, when + ": half a table was taken in");
    for (const int64_t sum : sums) {
      Require(sum == kSum, when + ": the accounts add up to " + std::to_string(sum));
    }
    Count("full checks");
  }

  void KeepHouse() {
    Random random(seed_ * 7);
    int64_t made = 0;
    while (!ended_.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random.Below(10)));
      Status status;
      ++made;
      switch (random.Below(4)) {
        case 0: status = store_->Flush(); break;
        case 1: {
          const std::string from = random.Of<std::string>({"", "bank/1", "last", "pair/5"});
          const std::string to = random.Of<std::string>({"bank/2", "last/9", "pair/7", "z"});
          const std::string_view ends[] = {from, to};
          status = store_->CompactRange(random.OneIn(2) ? &ends[0] : nullptr,
                                        random.OneIn(2) ? &ends[1] : nullptr);
          break;
        }
        case 2: status = TakeIn(made, random.OneIn(2)); break;
        case 3: status = CheckCopy(made); break;
      }
      Require(status.ok() || status.code() == Code::kUnsupported, status.ToString());
    }
  }

  Status TakeIn(int64_t number, bool move) {
    std::map<std::string, std::string> table;
    for (int i = 0; i < kGroup; ++i) table["group/" + std::to_string(i)] = std::to_string(number);
    const std::vector<std::pair<std::string, std::string>> entries(table.begin(), table.end());
    return store_->Ingest(entries, folder_.path() + "/table" + std::to_string(number), move);
  }

  Status CheckCopy(int64_t number) {
    const std::string dir = folder_.path() + "/copy" + std::to_string(number);
    if (Status status = store_->Checkpoint(dir); !status.ok()) return status;
    std::unique_ptr<Store> copy = MustOpen(engine_, shape_, dir);
    CheckAllAtOnce(copy.get(), {}, "in a checkpoint");
    copy.reset();
    return engine_->Destroy(shape_, dir);
  }

  Engine* engine_;
  const uint64_t seed_;
  TempFolder folder_;
  Shape shape_;
  int64_t operations_ = 0;
  std::unique_ptr<Store> store_;
  std::atomic<int64_t> acknowledged_[kWriters] = {};
  std::atomic<bool> ended_ = false;
};

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 6, 100);
  Engine* engine = EngineNamed(arguments.store);
  return RunAll(arguments, [&](uint64_t seed) { Bustle(arguments, engine, seed).Run(); });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
