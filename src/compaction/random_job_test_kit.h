// compaction/random_job_test_kit.h: jobs for tests, of every kind that chance brings.
//
// Threads   one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compaction/job_test_kit.h"

namespace weft::compaction {

class RandomJob {
 public:
  RandomJob(uint64_t seed, const Comparator* user) : kit_(user), strings_(seed) {
    Job& job = kit_.job();
    kit_.host().threads = 1 + static_cast<int>(seed % 6);
    job.format.block_size = 64 + strings_.Below(2000);
    job.format.block_restart_interval = 1 + static_cast<int>(strings_.Below(20));
    job.format.compression = static_cast<Compression>(strings_.Below(3));
    job.output_bytes_max = 500 + strings_.Below(20000);
    MakeKeys();
    MakeRuns();
    job.oldest_snapshot = strings_.Below(3) == 0 ? table::kSequenceMax : strings_.Below(sequence_);
    MakeDeeper();
    MakeGrandparents();
  }

  JobKit& kit() { return kit_; }
  const std::vector<TestEntries>& runs() const { return runs_; }
  PlainCompaction Plain(const Job& job) const {
    PlainCompaction plain(job);
    for (const TestEntries& run : runs_) plain.AddAll(run);
    return plain;
  }
  table::Strings& strings() { return strings_; }
  const std::vector<std::string>& user_keys() const { return user_keys_; }

 private:
  struct Less {
    const Comparator* user;
    bool operator()(const std::string& a, const std::string& b) const {
      return user->Compare(a, b) < 0;
    }
  };

  void MakeKeys() {
    std::set<std::string, Less> keys(Less{kit_.order().user()});
    // With a beginning that all have in common, sometimes.
    const std::string start = strings_.Below(2) == 0 ? "" : strings_.Key();
    const uint64_t count = 1 + strings_.Below(400);
    while (keys.size() < count) keys.insert(start + strings_.Key());
    user_keys_.assign(keys.begin(), keys.end());
  }
  // The newest run last made, so that sequence numbers fall with the runs.
  void MakeRuns() {
    const uint64_t count = 1 + strings_.Below(7);
    for (uint64_t i = 0; i < count; i++) {
      TestEntries run;
      const uint64_t one_in = 1 + strings_.Below(4);
      for (const std::string& user_key : user_keys_) {
        if (strings_.Below(one_in) != 0) continue;
        const uint64_t versions = strings_.Below(4) == 0 ? 1 + strings_.Below(4) : 1;
        uint64_t sequence = sequence_ + versions;
        sequence_ = sequence;
        for (uint64_t version = 0; version < versions; version++, sequence--) {
          run.push_back(MakeEntry(user_key, sequence));
        }
      }
      if (!run.empty()) runs_.insert(runs_.begin(), std::move(run));
    }
    for (const TestEntries& run : runs_) kit_.AddRun(run, 1 + strings_.Below(100));
  }
  TestEntry MakeEntry(const std::string& user_key, uint64_t sequence) {
    if (strings_.Below(4) == 0) return Deletion(user_key, sequence);
    if (strings_.Below(40) == 0) {  // of a type that is none
      TestEntry entry = Put(user_key, sequence, "odd");
      entry.key[user_key.size()] = 77;
      return entry;
    }
    return Put(user_key, sequence,
               strings_.Below(2) == 0 ? strings_.Bytes(strings_.Below(200))
                                      : strings_.Compressible(strings_.Below(2000)));
  }
  // Spans of neighbouring keys, with gaps.
  std::vector<UserKeySpan> MakeSpans() {
    std::vector<UserKeySpan> spans;
    for (size_t at = strings_.Below(20); at < user_keys_.size(); at += 1 + strings_.Below(30)) {
      const size_t end = std::min<size_t>(at + strings_.Below(20), user_keys_.size() - 1);
      spans.push_back({user_keys_[at], user_keys_[end]});
      at = end;
    }
    return spans;
  }
  void MakeDeeper() {
    for (uint64_t levels = strings_.Below(4); levels != 0; levels--) {
      kit_.job().deeper.push_back(MakeSpans());
    }
  }
  void MakeGrandparents() {
    for (const UserKeySpan& span : MakeSpans()) {
      JobTable& table = kit_.job().grandparents.emplace_back();
      table.bytes = 1 + strings_.Below(1000);
      table.smallest = Put(span.smallest, strings_.Below(sequence_ + 1)).key;
      table.largest = Put(span.largest, strings_.Below(sequence_ + 1)).key;
    }
    kit_.job().grandparent_overlap_bytes_max = strings_.Below(5000);
  }

  JobKit kit_;
  table::Strings strings_;
  std::vector<std::string> user_keys_;
  std::vector<TestEntries> runs_;
  uint64_t sequence_ = 1;
};

}  // namespace weft::compaction
