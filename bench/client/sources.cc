#include "bench/client/sources.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/harness/report.h"

namespace weft::bench {
namespace {

constexpr int kLoadDepth = 128;
constexpr size_t kLoadConnections = 4;
constexpr uint32_t kLoadPart = 500'000;  // between two lines of progress
constexpr uint32_t kSampleKeys = 100'000;

// One client on its own pinned thread, until the source is done.
LoadResult RunOne(const std::vector<std::unique_ptr<ClosedLoop>>& clients,
                  std::unique_ptr<RoundSource> source, int cpu) {
  std::vector<std::unique_ptr<RoundSource>> sources;
  sources.push_back(std::move(source));
  return RunSideBySide(clients, sources, cpu < 0 ? std::vector<int>{} : std::vector<int>{cpu}, 0);
}

}  // namespace

MixedSource::MixedSource(const KeyPicker& picker, size_t connections, const Options& options)
    : picker_(picker),
      options_(options),
      get_below_(static_cast<uint64_t>(options.get_share * 4294967296.0)),
      ids_(static_cast<size_t>(options.keys_per_get)) {
  for (size_t i = 0; i < connections; ++i) randoms_.emplace_back(options.seed * 1'000'003 + i);
}

void MixedSource::Fill(size_t connection, Round* round) {
  base::Random& random = randoms_[connection];
  for (int i = 0; i < options_.depth; ++i) {
    if ((random.Next() >> 32) >= get_below_) {
      round->AddSet(picker_.Next(random));
      continue;
    }
    for (uint32_t& id : ids_) id = picker_.Next(random);
    round->AddGet(ids_);
  }
}

void LoadSource::Fill(size_t, Round* round) {
  for (int i = 0; i < depth_ && next_ < end_; ++i) round->AddSet(next_++);
}

void SampleSource::Fill(size_t, Round* round) {
  for (int i = 0; i < kLoadDepth && left_ > 0; ++i, --left_)
    round->AddGet(static_cast<uint32_t>(random_.Below(keys_)));
}

Status Preload(uint16_t port, const PayloadShape& shape, uint32_t keys, int client_cpu,
               const std::string& progress_name) {
  auto client = ClosedLoop::Open(port, kLoadConnections, shape);
  if (!client) return client.error();
  std::vector<std::unique_ptr<ClosedLoop>> clients;
  clients.push_back(std::move(*client));
  for (uint32_t first = 0; first < keys; first += kLoadPart) {
    const uint32_t end = std::min(keys, first + kLoadPart);
    Progress(fmt::format("{}: storing keys {} of {}", progress_name, end, keys));
    const LoadResult part =
        RunOne(clients, std::make_unique<LoadSource>(first, end, kLoadDepth), client_cpu);
    if (part.counts.errors > 0 || part.counts.refused > 0)
      return Status(Code::kCorruption,
                    fmt::format("{}: {} sets refused, {} wrong replies ({})", progress_name,
                                part.counts.refused, part.counts.errors, part.counts.first_error));
  }
  const uint32_t sample_keys = std::min(keys, kSampleKeys);
  const LoadResult sample =
      RunOne(clients, std::make_unique<SampleSource>(keys, sample_keys, keys), client_cpu);
  if (sample.counts.errors == 0 && sample.counts.misses() == 0) return Status::Ok();
  return Status(Code::kCorruption,
                fmt::format("{}: {} of {} sampled keys missing, {} wrong replies ({})",
                            progress_name, sample.counts.misses(), sample.counts.keys,
                            sample.counts.errors, sample.counts.first_error));
}

}  // namespace weft::bench
