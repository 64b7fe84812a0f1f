// A device's job that stops in the middle of a change, another client that changes the same key
// before the job is run again, and what must come of both: docs/design/0008-any-processor.md.
#include "base/seed_test_kit.h"
#include "pipeline/plan_runner.h"
#include "pipeline/plan_test_kit.h"
#include "processor/announce.h"
#include "processor/cpu_processor.h"

namespace weft::pipeline {
namespace {

// A processor whose one job does what it is told, lets `then` happen, and fails.
class Stopping final : public processor::Processor {
 public:
  using Part = std::function<void(const task::QueryJob&)>;
  Stopping(Part part, Part then) : part_(std::move(part)), then_(std::move(then)) {}

  const processor::Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  Status Start(processor::Job* job) override {
    job->Begin();
    part_(job->query);
    then_(job->query);
    job->Finish(Status(Code::kIoError, "it stopped"));
    return Status::Ok();
  }

 private:
  const std::unique_ptr<processor::Processor> inner_ = processor::NewCpuProcessor();
  const Part part_, then_;
};

struct Collecting : Sink {
  void Write(Batch& batch, uint32_t begin, uint32_t end, cache::Session&) override {
    for (uint32_t i = begin; i < end; i++) outcomes.push_back(batch.reply(i).outcome);
  }
  void RunOther(Batch&, uint32_t, cache::Session&) override {}
  std::vector<Outcome> outcomes;
};

// How far the first run comes with a change.
enum class Stop { kBefore, kTorn, kAnnounced, kEntered, kDone };
constexpr Stop kStops[] = {Stop::kBefore, Stop::kTorn, Stop::kAnnounced, Stop::kEntered,
                           Stop::kDone};

void RunUpTo(Stop stop, const task::QueryJob& query) {
  for (uint32_t i = 0; i < query.end; i++) {
    if (stop == Stop::kTorn) {
      task::SearchQuery(query, i, 0);
      query.columns.position[i] = ~uint64_t{0};
    }
    if (stop == Stop::kAnnounced || stop == Stop::kEntered)
      processor::AnnounceChange(query, i, stop == Stop::kEntered);
    if (stop == Stop::kDone) task::RunQuery(query, i);
  }
}

Command CommandOf(Verb verb) {
  Command command = Client::Of(verb, "key");
  if (verb == Verb::kStore) command.value = "100";
  return command;
}

// Runs the command as a batch of one whose job stops; `then` is called before it is run again.
Outcome RunStopped(cache::Store* store, const Command& command, Stop stop, Stopping::Part then) {
  Devices devices(std::make_unique<Stopping>(
      [stop](const task::QueryJob& query) { RunUpTo(stop, query); }, std::move(then)));
  TaskTimes times;
  auto runner = PlanRunner::Create(store, &times, PlanOf(kAllOnDevice), devices.list(), {});
  EXPECT_TRUE(runner.has_value());
  BatchRun* const run = (*runner)->Free();
  run->batch().Clear();
  const uint32_t source = run->batch().AddSource(kMuchRoom);
  Command hashed = command;
  hashed.hash = store->HashOf(command.key);
  run->batch().AddCommand(source, 0, hashed);
  (*runner)->Begin(run);
  Collecting sink;
  EXPECT_EQ((*runner)->Ready(), run);
  EXPECT_EQ((*runner)->counters().reruns.value(), 1u);
  (*runner)->Finish(run, sink);
  EXPECT_EQ(sink.outcomes.size(), 1u);
  return sink.outcomes.at(0);
}

// What another client does to the key.
using Turn = std::function<std::string(Client*)>;
std::string TextOf(const cache::Answer& answer) {
  return std::to_string(static_cast<int>(answer.reply.outcome)) + " " + answer.value;
}

// The same by a batch whose device works.
std::string RunOnDevice(Client* client, Command command) {
  cache::Store* const store = &client->session().store();
  Devices devices(processor::NewCpuProcessor());
  TaskTimes times;
  auto runner = PlanRunner::Create(store, &times, PlanOf(kAllOnDevice), devices.list(), {});
  EXPECT_TRUE(runner.has_value());
  BatchRun* const run = (*runner)->Free();
  run->batch().Clear();
  run->batch().AddSource(kMuchRoom);
  command.hash = store->HashOf(command.key);
  run->batch().AddCommand(0, 0, command);
  (*runner)->Begin(run);
  (*runner)->Wait();
  EXPECT_EQ((*runner)->Ready(), run);
  Collecting sink;
  (*runner)->Finish(run, sink);
  return std::to_string(static_cast<int>(sink.outcomes.at(0)));
}

std::vector<std::pair<std::string, Turn>> Turns() {
  const auto put = [](cache::StoreMode mode, const char* value) {
    return [=](Client* client) { return TextOf(client->Put(mode, "key", value)); };
  };
  const auto remove = [](Client* client) {
    return TextOf(client->Run(Client::Of(Verb::kDelete, "key")));
  };
  const auto touch = [](Client* client) {
    Command command = Client::Of(Verb::kTouch, "key");
    command.expiry = base::NowSeconds() + 1000;
    return TextOf(client->Run(command));
  };
  const auto fade = [](Client* client) {
    Command command = Client::Of(Verb::kDelete, "key");
    command.drop_value = true;
    return TextOf(client->Run(command));
  };
  return {
      {"set", put(cache::StoreMode::kSet, "20")},
      {"delete", remove},
      {"add", put(cache::StoreMode::kAdd, "30")},
      {"replace", put(cache::StoreMode::kReplace, "40")},
      {"append", put(cache::StoreMode::kAppend, "5")},
      {"increment", [](Client* client) { return TextOf(client->Count("key", 3)); }},
      {"touch", touch},
      {"drop value", fade},
      {"get", [](Client* client) { return client->Value("key"); }},
      {"set by a device",
       [](Client* client) { return RunOnDevice(client, CommandOf(Verb::kStore)); }},
      {"delete by a device",
       [](Client* client) { return RunOnDevice(client, CommandOf(Verb::kDelete)); }},
      {"gets", [](Client* client) { return TextOf(client->Gets("key")); }},
  };
}

// The change takes effect where its first run made it, before the others' turns, or in the second
// run, after them; never twice, never not at all. So answers and contents are those of a store that
// is asked in that order.
TEST(RunAgain, AChangeTakesEffectOnceWhateverOthersDoMeanwhile) {
  const auto turns = Turns();
  const size_t pairs = turns.size() * turns.size() + 1;
  const size_t stride = base::Stride(static_cast<uint32_t>(pairs));
  uint32_t cases = 0;
  for (const Verb verb : {Verb::kStore, Verb::kDelete}) {
    for (const bool is_there : {false, true}) {
      for (const Stop stop : kStops) {
        for (size_t pair = cases % stride; pair < pairs; pair += stride) {
          std::vector<const std::pair<std::string, Turn>*> taken;
          if (pair > 0)
            taken = {&turns[(pair - 1) / turns.size()], &turns[(pair - 1) % turns.size()]};
          std::string trace = (verb == Verb::kStore ? "set" : "delete") +
                              std::string(is_there ? " of a key" : " of no key") + ", stop " +
                              std::to_string(static_cast<int>(stop)) + ", others:";
          for (const auto* turn : taken) trace += " " + turn->first;
          SCOPED_TRACE(trace);
          const auto store = OpenStore(WeakHash(4)), model = OpenStore(WeakHash(4));
          Client client(store.get()), asked(model.get());
          for (Client* each : {&client, &asked}) {
            if (is_there) each->Set("key", "1");
            each->Set("another", "x");
          }
          std::string told, expected;
          const Outcome outcome =
              RunStopped(store.get(), CommandOf(verb), stop, [&](const task::QueryJob&) {
                for (const auto* turn : taken) told += turn->second(&client) + "; ";
              });
          Outcome expected_outcome = Outcome::kMiss;
          const auto change = [&] { expected_outcome = asked.Run(CommandOf(verb)).reply.outcome; };
          const bool was_done = stop == Stop::kDone && (verb == Verb::kStore || is_there);
          if (was_done) change();
          for (const auto* turn : taken) expected += turn->second(&asked) + "; ";
          if (!was_done) change();
          ASSERT_EQ(told, expected);
          ASSERT_EQ(outcome, expected_outcome);
          ASSERT_EQ(client.Value("key"), asked.Value("key"));
          ASSERT_EQ(store->ItemCount(), model->ItemCount());
          client.Delete("key");
          client.Delete("another");
          ASSERT_EQ(store->Stats().object_bytes, 0u) << "something was not released";
          cases++;
        }
      }
    }
  }
  EXPECT_GE(cases, 2 * 2 * 5 * (pairs / stride));
  EXPECT_LE(cases, 2 * 2 * 5 * ((pairs + stride - 1) / stride));  // all of them where stride is 1
}

// Others put the entry out of a full set. It was there: it is not to come back.
TEST(RunAgain, WhatWasEvictedSinceWasStored) {
  for (const Stop stop : kStops) {
    CacheOptions options = WeakHash(1);
    options.index_policy = IndexPolicy::kSetAssociative;
    const auto store = OpenStore(options);
    Client client(store.get());
    uint64_t evicted = 0;
    const Outcome outcome =
        RunStopped(store.get(), CommandOf(Verb::kStore), stop, [&](const task::QueryJob&) {
          for (int i = 0; i < 400; i++) client.Set("other" + std::to_string(i), "v");
          evicted = client.session().counters().evictions.value();
        });
    EXPECT_EQ(outcome, Outcome::kStored);
    EXPECT_GT(evicted, 100u);
    EXPECT_EQ(client.Value("key"), stop == Stop::kDone ? "(none)" : "100");
  }
}

// No segment that holds an object of a batch under way is emptied, however much is evicted: so the
// log's cleaner never takes a location away that a second run looks for.
TEST(RunAgain, TheLogMovesNothingOfABatchUnderWay) {
  CacheOptions options;
  options.memory_bytes = 8u << 20;
  options.object_bytes_max = 64u << 10;
  const auto store = OpenStore(options);
  Client client(store.get());
  const std::string value(10'000, 'v');
  for (int i = 0; i < 3000; i++) client.Set("old" + std::to_string(i), value);
  const uint64_t evicted_before = store->Stats().evictions;
  uint64_t evicted = 0;  // few: what is freed is memory again only when the batch has ended
  const Outcome outcome = RunStopped(
      store.get(), CommandOf(Verb::kStore), Stop::kDone, [&](const task::QueryJob& query) {
        for (int i = 0; i < 400 && evicted < 10; i++) {
          client.Set("new" + std::to_string(i), value);
          evicted = store->Stats().evictions - evicted_before;
        }
        EXPECT_NE(task::FindLocation(query.index, query.columns.hash[0], query.placed[0]).slot,
                  nullptr);
      });
  EXPECT_GE(evicted, 10u);
  EXPECT_EQ(outcome, Outcome::kStored);
  EXPECT_EQ(client.Value("key"), "100");
}

// A change whose batch began before a flush may come before it, whenever it is made: what it leaves
// or removes does not count any more. It must not come twice.
TEST(RunAgain, AFlushMeanwhileComesAfterTheChange) {
  for (const Verb verb : {Verb::kStore, Verb::kDelete}) {
    for (const Stop stop : kStops) {
      const auto store = OpenStore();
      Client client(store.get());
      client.Set("key", "1");
      const Outcome outcome =
          RunStopped(store.get(), CommandOf(verb), stop, [&](const task::QueryJob&) {
            client.Flush();
            EXPECT_EQ(client.Value("key"), "(none)");
          });
      EXPECT_EQ(outcome, verb == Verb::kStore ? Outcome::kStored : Outcome::kDeleted);
      EXPECT_EQ(client.Value("key"), "(none)");
    }
  }
}

// What is stored after the flush is replaced by a store that comes after it.
TEST(RunAgain, AStoreAfterAFlushIsNotLost) {
  for (const Stop stop : kStops) {
    const auto store = OpenStore();
    Client client(store.get());
    client.Set("key", "1");
    const Outcome outcome =
        RunStopped(store.get(), CommandOf(Verb::kStore), stop, [&](const task::QueryJob&) {
          EXPECT_EQ(client.Value("key"), stop == Stop::kDone ? "100" : "1");
          client.Flush();
          client.Set("key", "2");
        });
    EXPECT_EQ(outcome, Outcome::kStored);
    EXPECT_EQ(client.Value("key"), stop == Stop::kDone ? "2" : "100");
    EXPECT_EQ(store->ItemCount(), 1u);
  }
}

void Grow(cache::Store* store, Client* client) {
  for (int i = 0; i < 100 && store->index_growing(); i++) {
    client->session().Begin();
    store->index().Step(client->session().log(), 1 << 20, [](uint64_t) { FAIL(); });
    client->session().End();
  }
}

// Growth that begins during the batch does not drain before it ends, and drains then.
TEST(RunAgain, TheIndexMayBeginToGrowMeanwhile) {
  for (const Verb verb : {Verb::kStore, Verb::kDelete}) {
    for (const bool is_there : {false, true}) {
      for (const Stop stop : kStops) {
        const auto store = OpenStore();
        Client client(store.get());
        for (int i = 0; i < 1000; i++) client.Set("k" + std::to_string(i), "v");
        if (is_there) client.Set("key", "1");
        const Outcome outcome =
            RunStopped(store.get(), CommandOf(verb), stop, [&](const task::QueryJob&) {
              ASSERT_TRUE(store->index().StartGrowth().ok());
              Grow(store.get(), &client);
              EXPECT_EQ(store->index().current().insert_newer, 0u);
            });
        Grow(store.get(), &client);
        EXPECT_FALSE(store->index_growing());
        const bool stores = verb == Verb::kStore;
        EXPECT_EQ(outcome, stores     ? Outcome::kStored
                           : is_there ? Outcome::kDeleted
                                      : Outcome::kMiss);
        EXPECT_EQ(client.Value("key"), stores ? "100" : "(none)");
        for (int i = 0; i < 1000; i++) ASSERT_EQ(client.Value("k" + std::to_string(i)), "v");
        EXPECT_EQ(store->ItemCount(), stores ? 1001u : 1000u);
      }
    }
  }
}

// Where it grows already, a delete leaves no tentative word in the older table, for the drain would
// wait for it while the batch waits for its worker.
TEST(RunAgain, ADeleteWaitsForTheLastStageWhileTheIndexGrows) {
  for (const Stop stop : kStops) {
    const auto store = OpenStore();
    Client client(store.get());
    for (int i = 0; i < 1000; i++) client.Set("k" + std::to_string(i), "v");
    client.Set("key", "1");
    ASSERT_TRUE(store->index().StartGrowth().ok());
    const Outcome outcome =
        RunStopped(store.get(), CommandOf(Verb::kDelete), stop, [&](const task::QueryJob& query) {
          ASSERT_NE(query.index.newer.buckets, nullptr);
          Grow(store.get(), &client);
          EXPECT_EQ(store->index().current().insert_newer, 1u) << "it drains";
        });
    EXPECT_EQ(outcome, Outcome::kDeleted);
    Grow(store.get(), &client);
    EXPECT_FALSE(store->index_growing());
    EXPECT_EQ(client.Value("key"), "(none)");
    EXPECT_EQ(store->ItemCount(), 1000u);
  }
}

// A runner that goes with a batch under way leaves nothing half done in the index.
TEST(RunAgain, WhoGoesTakesTheGravesAlong) {
  for (const Verb verb : {Verb::kStore, Verb::kDelete}) {
    for (const Stop stop : kStops) {
      const auto store = OpenStore();
      Client client(store.get());
      if (verb == Verb::kDelete) client.Set("key", "1");
      {
        Devices devices(std::make_unique<Stopping>(
            [stop](const task::QueryJob& query) { RunUpTo(stop, query); },
            [](const task::QueryJob&) {}));
        TaskTimes times;
        auto runner =
            PlanRunner::Create(store.get(), &times, PlanOf(kAllOnDevice), devices.list(), {});
        ASSERT_TRUE(runner.has_value());
        BatchRun* const run = (*runner)->Free();
        run->batch().Clear();
        Command change = CommandOf(verb);
        change.hash = store->HashOf(change.key);
        run->batch().AddSource(kMuchRoom);
        run->batch().AddCommand(0, 0, change);
        (*runner)->Begin(run);
      }
      client.Delete("key");
      EXPECT_EQ(store->Stats().items, 0u);
      EXPECT_EQ(store->Stats().object_bytes, 0u);
      ASSERT_TRUE(store->index().StartGrowth().ok());
      Grow(store.get(), &client);
      EXPECT_FALSE(store->index_growing()) << "a word that is no entry stands in the way";
    }
  }
}

}  // namespace
}  // namespace weft::pipeline
