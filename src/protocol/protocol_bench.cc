// Nanoseconds per request: parsing the commands that matter, writing their replies.
#include <benchmark/benchmark.h>

#include <string>

#include "protocol/parse.h"
#include "protocol/reply.h"

namespace weft::protocol {
namespace {

constexpr int kRequests = 64;

ParseContext Context() {
  static char scratch[kScratchBytes];
  ParseContext context;
  context.now_s = 1'700'000'000;
  context.scratch = scratch;
  return context;
}

// A pipeline of requests with a 20-byte key each, in place of the %.
std::string Pipeline(const std::string& request) {
  std::string input;
  for (int i = 0; i < kRequests; ++i) {
    const size_t key_at = request.find('%');
    const std::string number = std::to_string(100'000 + i);
    input += request.substr(0, key_at) + "user:profile::" + number + request.substr(key_at + 1);
  }
  return input;
}

void ParsePipeline(benchmark::State& state, const std::string& request) {
  const std::string input = Pipeline(request);
  const ParseContext context = Context();
  Request parsed;
  for (auto _ : state) {
    std::string_view rest = input;
    while (!rest.empty()) {
      rest.remove_prefix(Parse(rest, context, &parsed).consumed_bytes);
      benchmark::DoNotOptimize(parsed);
    }
  }
  state.SetItemsProcessed(state.iterations() * kRequests);
}

void ParseMultiGet(benchmark::State& state) {
  std::string input = "get";
  for (int i = 0; i < state.range(0); ++i) input += " user:profile::" + std::to_string(100'000 + i);
  input += "\r\n";
  const ParseContext context = Context();
  Request request;
  for (auto _ : state) {
    Parse(input, context, &request);
    std::string_view key = request.command.key;
    do benchmark::DoNotOptimize(key);
    while (NextKey(&request.keys, &key));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Write(benchmark::State& state, const std::string& input, Outcome outcome) {
  const ParseContext context = Context();
  Request request;
  Parse(input, context, &request);
  cache::Reply reply;
  reply.outcome = outcome;
  reply.client_flags = 5;
  reply.cas = 123'456'789;
  const std::string value(100, 'v');
  reply.value = value;
  char out[1024];
  for (auto _ : state) {
    benchmark::DoNotOptimize(WriteReply(request, request.command.key, reply, out));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(ParsePipeline, get, "get %\r\n");
BENCHMARK_CAPTURE(ParsePipeline, gets, "gets %\r\n");
BENCHMARK_CAPTURE(ParsePipeline, set_100, "set % 0 3600 100\r\n" + std::string(100, 'v') + "\r\n");
BENCHMARK_CAPTURE(ParsePipeline, delete, "delete %\r\n");
BENCHMARK_CAPTURE(ParsePipeline, incr, "incr % 1\r\n");
BENCHMARK_CAPTURE(ParsePipeline, mg_v, "mg % v\r\n");
BENCHMARK_CAPTURE(ParsePipeline, mg_s_v_f_t_O, "mg % s v f t O123456\r\n");
BENCHMARK_CAPTURE(ParsePipeline, ms_100, "ms % 100 T3600\r\n" + std::string(100, 'v') + "\r\n");
BENCHMARK(ParseMultiGet)->Arg(2)->Arg(16)->Arg(100);
BENCHMARK_CAPTURE(Write, value_100, "get user:profile::100000\r\n", Outcome::kHit);
BENCHMARK_CAPTURE(Write, value_100_cas, "gets user:profile::100000\r\n", Outcome::kHit);
BENCHMARK_CAPTURE(Write, stored, "set user:profile::100000 0 0 1\r\nx\r\n", Outcome::kStored);
BENCHMARK_CAPTURE(Write, va_100, "mg user:profile::100000 v\r\n", Outcome::kHit);
BENCHMARK_CAPTURE(Write, va_100_s_f_t_O, "mg user:profile::100000 s v f t O123456\r\n",
                  Outcome::kHit);

}  // namespace
}  // namespace weft::protocol

BENCHMARK_MAIN();
