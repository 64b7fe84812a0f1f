// compaction/job_test_kit.h: makes jobs of made-up tables in memory, and does them the plain way.
//
// Threads   one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file_system.h"
#include "compaction/job.h"
#include "table/file_test_kit.h"
#include "table/table_builder.h"

namespace weft::compaction {

struct TestEntry {
  std::string key;  // internal
  std::string value;
};
using TestEntries = std::vector<TestEntry>;

inline TestEntry Put(std::string_view user_key, table::SequenceNumber sequence,
                     std::string_view value = "value") {
  return {table::MakeInternalKey(user_key, sequence, table::ValueType::kValue), std::string(value)};
}
inline TestEntry Deletion(std::string_view user_key, table::SequenceNumber sequence) {
  return {table::MakeInternalKey(user_key, sequence, table::ValueType::kDeletion), ""};
}

// User keys the other way round.
class BackwardsComparator final : public Comparator {
 public:
  int Compare(std::string_view a, std::string_view b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Backwards"; }
  void FindShortestSeparator(std::string*, std::string_view) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class JobKit {
 public:
  explicit JobKit(const Comparator* user = BytewiseComparator()) : order_(user) {
    job_.files = &files_;
    job_.comparator = &order_;
    job_.format.comparator = &order_;
    job_.format.compression = Compression::kNone;
    job_.oldest_snapshot = table::kSequenceMax;
    job_.grandparent_overlap_bytes_max = ~uint64_t{0};
    host_.new_output = [this] {
      const uint64_t number = next_number_++;
      return JobHost::NewFile{number, "/out" + std::to_string(number)};
    };
  }

  Job& job() { return job_; }
  JobHost& host() { return host_; }
  base::MemoryFileSystem& files() { return files_; }
  const table::InternalComparator& order() const { return order_; }

  // Writes a table of entries that are in order.
  JobTable WriteTable(const TestEntries& entries) {
    JobTable table;
    table.number = next_number_++;
    table.path = "/in" + std::to_string(table.number);
    table::StringFile file;
    table::TableBuilder builder(job_.format, &file);
    for (const TestEntry& entry : entries) builder.Add(entry.key, entry.value);
    EXPECT_TRUE(builder.Finish().ok());
    EXPECT_TRUE(files_.SetContents(table.path, file.contents()).ok());
    table.bytes = file.contents().size();
    table.smallest = entries.front().key;
    table.largest = entries.back().key;
    return table;
  }
  // Adds a run of tables with up to table_entries_max entries each; a table ends only with a user
  // key, as the picker's rule for such ends makes sure of.
  void AddRun(const TestEntries& entries, size_t table_entries_max = ~size_t{0}) {
    std::vector<JobTable> run;
    TestEntries table;
    for (const TestEntry& entry : entries) {
      if (table.size() >= table_entries_max && !SameUserKey(table.back().key, entry.key)) {
        run.push_back(WriteTable(table));
        table.clear();
      }
      table.push_back(entry);
    }
    if (!table.empty()) run.push_back(WriteTable(table));
    job_.runs.push_back(std::move(run));
  }

  JobResult Run() { return Run(job_); }
  JobResult Run(const Job& job) { return NewCpuExecutor()->Run(job, host_); }

  std::string Contents(const std::string& path) {
    Result<std::string> contents = files_.Contents(path);
    EXPECT_TRUE(contents.has_value());
    return contents ? *contents : "";
  }
  std::vector<std::string> Contents(const std::vector<OutputTable>& outputs) {
    std::vector<std::string> all;
    for (const OutputTable& output : outputs) all.push_back(Contents(output.path));
    return all;
  }
  // Files of outputs that are there.
  size_t OutputFiles() {
    const std::vector<std::string> all = files_.AllFiles();
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const std::string& path) {
      return path.find("out") != std::string::npos;
    }));
  }

  bool SameUserKey(std::string_view a, std::string_view b) const {
    return order_.CompareUser(table::UserKey(a), table::UserKey(b)) == 0;
  }

 private:
  base::MemoryFileSystem files_;
  const table::InternalComparator order_;
  Job job_;
  JobHost host_;
  uint64_t next_number_ = 1;
};

// A job of several outputs, for calls that fail.
inline void FillForFaults(JobKit* kit) {
  TestEntries entries;
  for (int i = 0; i < 400; i++) {
    entries.push_back(Put("key" + std::to_string(1000 + i), 5, std::string(100, 'v')));
  }
  kit->AddRun(entries, 100);
  kit->AddRun({Put("key1010", 2), Put("key1399", 2)});
  kit->job().output_bytes_max = 15000;
}

// What a job's outputs must be, found without any of what finds it in earnest: all entries go into
// a map, and the rules are those of LevelDB, as its description has them.
class PlainCompaction {
 public:
  explicit PlainCompaction(const Job& job) : job_(job) {}

  void AddAll(const TestEntries& entries) {
    for (const TestEntry& entry : entries) all_.emplace_back(entry);
  }
  // The bytes of each output.
  std::vector<std::string> Outputs() {
    const auto& order = *job_.comparator;
    std::stable_sort(all_.begin(), all_.end(), [&](const TestEntry& a, const TestEntry& b) {
      return order.Compare(a.key, b.key) < 0;
    });
    for (size_t i = 0; i < all_.size(); i++) {
      if (!InRange(all_[i].key)) continue;
      if (CutBefore(all_[i].key)) EndTable();
      if (!Hidden(i) && !UselessDeletion(i)) Keep(all_[i]);
    }
    EndTable();
    return outputs_;
  }
  const TestEntries& kept() const { return kept_; }

 private:
  std::string_view User(size_t i) const { return table::UserKey(all_[i].key); }
  bool Parses(size_t i) const {
    table::ParsedKey parsed;
    return table::ParseInternalKey(all_[i].key, &parsed);
  }
  bool InRange(std::string_view key) const {
    const std::string_view user_key = table::UserKey(key);
    const auto& order = *job_.comparator;
    return (!job_.first_user_key || order.CompareUser(user_key, *job_.first_user_key) >= 0) &&
           (!job_.end_user_key || order.CompareUser(user_key, *job_.end_user_key) < 0);
  }
  // By the entry right before, of the same user key.
  bool Hidden(size_t i) const {
    if (i == 0 || !Parses(i) || !Parses(i - 1)) return false;
    return job_.comparator->CompareUser(User(i - 1), User(i)) == 0 &&
           ((table::Trailer(all_[i - 1].key) >> 8) <= job_.oldest_snapshot ||
            all_[i - 1].key == all_[i].key);
  }
  bool UselessDeletion(size_t i) const {
    table::ParsedKey parsed;
    if (!table::ParseInternalKey(all_[i].key, &parsed)) return false;
    if (parsed.type != table::ValueType::kDeletion) return false;
    if (parsed.sequence > job_.oldest_snapshot) return false;
    for (const auto& level : job_.deeper) {
      for (const UserKeySpan& span : level) {
        if (job_.comparator->CompareUser(parsed.user_key, span.smallest) >= 0 &&
            job_.comparator->CompareUser(parsed.user_key, span.largest) <= 0) {
          return false;
        }
      }
    }
    return true;
  }
  bool CutBefore(std::string_view key) {
    while (grandparent_ < job_.grandparents.size() &&
           job_.comparator->Compare(key, job_.grandparents[grandparent_].largest) > 0) {
      if (any_key_) overlap_ += job_.grandparents[grandparent_].bytes;
      grandparent_++;
    }
    any_key_ = true;
    if (overlap_ <= job_.grandparent_overlap_bytes_max) return false;
    overlap_ = 0;
    return true;
  }
  void Keep(const TestEntry& entry) {
    kept_.push_back(entry);
    if (builder_ == nullptr) {
      file_ = std::make_unique<table::StringFile>();
      builder_ = std::make_unique<table::TableBuilder>(job_.format, file_.get());
    }
    builder_->Add(entry.key, entry.value);
    if (builder_->flushed_bytes() >= job_.output_bytes_max) EndTable();
  }
  void EndTable() {
    if (builder_ == nullptr) return;
    EXPECT_TRUE(builder_->Finish().ok());
    outputs_.push_back(file_->contents());
    builder_.reset();
  }

  const Job& job_;
  TestEntries all_;
  TestEntries kept_;
  std::vector<std::string> outputs_;
  std::unique_ptr<table::StringFile> file_;
  std::unique_ptr<table::TableBuilder> builder_;
  size_t grandparent_ = 0;
  bool any_key_ = false;
  uint64_t overlap_ = 0;
};

}  // namespace weft::compaction
