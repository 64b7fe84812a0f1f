// Makes histories with a running memcached-protocol server and has them checked.
//
//   net_histories ADDRESS [--evicting] [--histories N] [--seed S] [--seconds-max T] [--long]
//
// ADDRESS is host:port or a Unix socket's path. Each history has two to six connections, each on
// its own thread with one to four requests in flight. --evicting: the server may drop keys.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/program.h"
#include "linearizability/driver.h"
#include "linearizability/net_client.h"
#include "linearizability/workload.h"

namespace weft::linearizability {
namespace {

constexpr int kOperationsPerProcess = 50;

void Converse(const std::string& address, const WorkloadShape& shape, int process, uint64_t seed,
              std::atomic<int>* ready, History* history) {
  NetClient client(address, seed + static_cast<uint64_t>(process) * 1000003);
  Workload workload(shape, process, seed);
  ready->fetch_sub(1);
  while (ready->load() > 0) std::this_thread::yield();
  while (static_cast<int>(history->size()) < kOperationsPerProcess) {
    std::vector<Operation> ops(1 + workload.Draw(4));
    for (Operation& op : ops) op = workload.Next();
    client.Execute(ops);
    for (Operation& op : ops) {
      workload.Learn(op);
      history->push_back(std::move(op));
    }
  }
}

// A server that breaks the protocol ends the driver: there is no history to judge.
void RunProcess(const std::string& address, const WorkloadShape& shape, int process, uint64_t seed,
                std::atomic<int>* ready, History* history) {
  try {
    Converse(address, shape, process, seed, ready, history);
  } catch (const ProtocolError& error) {
    std::printf("seed %llu, connection %d: %s\n", static_cast<unsigned long long>(seed), process,
                error.what());
    std::fflush(stdout);
    std::_Exit(1);
  }
}

MadeHistory MakeHistory(const std::string& address, bool evicting, const std::string& without,
                        uint64_t seed) {
  std::mt19937_64 rng(seed);
  WorkloadShape shape;
  shape.name = "h" + std::to_string(seed);
  shape.registers = 2 + static_cast<int>(rng() % 3);
  shape.without = without;
  shape.padding_bytes = rng() % 4 == 0 ? 20000 : 0;
  const int threads = 2 + static_cast<int>(rng() % 5);
  std::atomic<int> ready = threads;
  std::vector<History> parts(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(RunProcess, address, std::cref(shape), i, seed, &ready, &parts[i]);
  }
  for (std::thread& thread : running) thread.join();
  MadeHistory made;
  made.evicting = evicting;
  made.setting = std::to_string(threads) + " connections to " + address;
  for (History& part : parts) {
    made.history.insert(made.history.end(), part.begin(), part.end());
  }
  return made;
}

int Main(int argc, char** argv) {
  const DriverOptions options = ParseArguments(argc, argv);
  std::string address;
  bool evicting = false;
  for (const std::string& argument : options.rest) {
    if (argument == "--evicting") {
      evicting = true;
    } else if (address.empty() && !argument.starts_with("--")) {
      address = argument;
    } else {
      std::fprintf(stderr, "unknown argument %s\n", argument.c_str());
      return 2;
    }
  }
  if (address.empty()) {
    std::fprintf(stderr, "usage: net_histories ADDRESS [--evicting] [--histories N] [--seed S]\n");
    return 2;
  }
  return RunHistories(options, [&](uint64_t seed) {
    return MakeHistory(address, evicting, options.without, seed);
  });
}

}  // namespace
}  // namespace weft::linearizability

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::linearizability::Main(argc, argv);
}
