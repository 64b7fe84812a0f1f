// weft-record: runs queries on Weft's own cache, and tells which accesses to memory they made.
//
// Exit status 0: done; 1: it could not be; 2: the command line is wrong. stderr says why.

#include <cstdio>
#include <map>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/program.h"
#include "base/wrong_use.h"
#include "sim/base/help_column.h"
#include "sim/base/not_negative.h"
#include "sim/record/recorded_store.h"
#include "sim/trace/file_trace.h"

namespace weft::sim {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  RecordingOptions recording;
  std::string values = "128";
  std::string index = "cuckoo";
  uint64_t memory_mb = 0;
  bool no_prefetch = false;
  std::string out;
};

void AddOptions(CLI::App* app, Arguments* arguments) {
  RecordingOptions& recording = arguments->recording;
  StoreWorkloadOptions& workload = recording.workload;
  app->add_option("--records", workload.ids, "number of records that fill the store")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--key-bytes", workload.key_bytes, "bytes of a key, from 10 to 250")
      ->capture_default_str();
  app->add_option("--values", arguments->values,
                  "bytes of a value, or sizes with shares: 128:70,256:30")
      ->capture_default_str();
  app->add_option("--gets", workload.get_share,
                  "share of gets among the queries; the others are sets")
      ->capture_default_str();
  app->add_option("--misses", workload.miss_share, "share of the gets that ask for absent keys")
      ->capture_default_str();
  app->add_option("--zipf", workload.zipf_theta, "exponent of the keys' popularity; 0: uniform")
      ->capture_default_str();
  app->add_option("--seed", workload.seed, "seed of all random choices")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--ops", recording.ops, "queries of all cores")->capture_default_str();
  app->add_option("--cores", recording.cores, "number of cores, which take turns")
      ->capture_default_str();
  app->add_option("--batch", recording.batch, "queries in a batch")->capture_default_str();
  app->add_flag("--no-prefetch", arguments->no_prefetch, "the store does not prefetch");
  app->add_option("--index", arguments->index,
                  "cuckoo (a key has two buckets) or set-associative (one)")
      ->capture_default_str()
      ->check(CLI::IsMember({"cuckoo", "set-associative"}));
  app->add_option("--load", recording.load,
                  "share of the index's slots in use when the store is filled")
      ->capture_default_str();
  app->add_option("--memory-mb", arguments->memory_mb,
                  "memory of the store in MiB; 0: twice its records'")
      ->capture_default_str()
      ->check(NotNegative());
  app->add_option("--out", arguments->out, "folder for the trace (trace/file_format.h)");
  Gaps& gaps = recording.gaps;
  app->add_option("--instr-per-op", gaps.ops_total,
                  "instructions an operation; 0: only those between accesses")
      ->capture_default_str();
  app->add_option("--gap-bucket", gaps.to_bucket, "instructions before a bucket")
      ->capture_default_str();
  app->add_option("--gap-object", gaps.to_object, "instructions before an object")
      ->capture_default_str();
  app->add_option("--gap-append", gaps.to_append, "instructions before an append")
      ->capture_default_str();
  app->add_option("--gap-other", gaps.to_other, "instructions before another access")
      ->capture_default_str();
  app->add_option("--gap-in-class", gaps.in_class, "instructions before an access of the same kind")
      ->capture_default_str();
  app->add_option("--key-lead", gaps.key_lead,
                  "instructions from a key's announcement to its bucket")
      ->capture_default_str();
}

const char* NameOf(AccessClass cls) {
  switch (cls) {
    case AccessClass::kOther: return "other";
    case AccessClass::kBucket: return "bucket";
    case AccessClass::kObjectHead: return "object_head";
    case AccessClass::kObjectBody: return "object_body";
    case AccessClass::kLogAppend: return "log_append";
    case AccessClass::kStack: return "stack";
    case AccessClass::kNetworkBuffer: return "network_buffer";
  }
  return "";
}

const char* NameOf(RecordKind kind) {
  switch (kind) {
    case RecordKind::kRead: return "read";
    case RecordKind::kWrite: return "write";
    case RecordKind::kPrefetch: return "prefetch";
    case RecordKind::kOpBegin: return "op_begin";
    case RecordKind::kOpEnd: return "op_end";
    case RecordKind::kKey: return "key";
    case RecordKind::kHit: return "hit";
    case RecordKind::kSlot: return "slot";
    case RecordKind::kChain: return "chain";
  }
  return "";
}

// The source, with its records counted by kind, and its accesses by class, on their way.
class Counted final : public TraceSource {
 public:
  explicit Counted(TraceSource* source) : source_(*source) {}

  int cores() const override { return source_.cores(); }
  const StoreShape& shape() const override { return source_.shape(); }
  TableImage InitialTable() const override { return source_.InitialTable(); }
  Result<bool> Next(int core, Record* record) override {
    Result<bool> next = source_.Next(core, record);
    if (next && next.value()) {
      ++counts_[record->IsAccess() ? fmt::format("{} {}", NameOf(record->kind), NameOf(record->cls))
                                   : NameOf(record->kind)];
    }
    return next;
  }
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

 private:
  TraceSource& source_;
  std::map<std::string, uint64_t> counts_;
};

// All of it, the cores in turns.
Status Drain(TraceSource& source) {
  Record record;
  for (bool has_any = true; has_any;) {
    has_any = false;
    for (int core = 0; core < source.cores(); ++core) {
      const Result<bool> next = source.Next(core, &record);
      if (!next) return next.error();
      has_any |= next.value();
    }
  }
  return Status::Ok();
}

Status Run(Arguments arguments) {
  RecordingOptions& options = arguments.recording;
  const Result<std::vector<ValueClass>> values = ParseValues(arguments.values);
  if (!values) return values.error();
  options.workload.values = values.value();
  options.prefetches = !arguments.no_prefetch;
  options.memory_bytes = arguments.memory_mb << 20;
  if (arguments.index == "set-associative") options.policy = IndexPolicy::kSetAssociative;
  const auto opened = RecordedStore::Open(options);
  if (!opened) return opened.error();
  RecordedStore& store = *opened.value();
  Counted counted(&store);
  const Status status =
      arguments.out.empty() ? Drain(counted) : WriteTrace(counted, arguments.out, UINT64_MAX);
  if (!status.ok()) return status;
  const RecordedStore::Answers& answers = store.answers();
  const StoreShape& shape = store.shape();
  const Json summary = {
      {"records", counted.counts()},
      {"gets", answers.gets},
      {"hits", answers.hits},
      {"sets", answers.sets},
      {"stored", answers.stored},
      {"buckets", shape.buckets},
      {"log_base", shape.log_base},
      {"log_limit", shape.log_limit},
      {"instructions", store.recorder().instructions()},
      {"gaps", "assumed"},
      {"accesses_left_out", store.recorder().left_out()},
  };
  std::fputs((summary.dump(2) + "\n").c_str(), stdout);
  std::fputs("weft-record: gaps assumed\n", stderr);
  if (!store.is_repeatable())
    std::fputs(
        "weft-record: the recording took over a minute, so another run may record different "
        "reads\n",
        stderr);
  return Status::Ok();
}

int Main(int argc, char** argv) {
  CLI::App app("Records the memory accesses of Weft's own cache.", "weft-record");
  app.get_formatter()->column_width(kHelpColumn);
  Arguments arguments;
  AddOptions(&app, &arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return base::AnswerParseError(app, error);
  }
  const Status status = Run(std::move(arguments));
  if (status.ok()) return 0;
  std::fprintf(stderr, "weft-record: %s\n", status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace weft::sim

int main(int argc, char** argv) {
  weft::base::StartProgram("weft-record");
  return weft::base::EndProgram(weft::sim::Main(argc, argv));
}
