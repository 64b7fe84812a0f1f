// Passes stores back and forth between Weft and LevelDB's own library.
//
// Exchange: six rounds on one folder, LevelDB and Weft in turn, each playing random operations
// (durable/player.h) with other options and checking everything the other left; LevelDB with
// paranoid_checks, both with checksums verified; tables now and then renamed to .sst.
// Bytes: the same writes to both give the same log, the same table when that is recovered, and the
// same tables when all is compacted.
//
//   exchange_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/program.h"
#include "durable/player.h"

namespace weft::durable {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 6;

// LevelDB reads both endings, and so must we.
void RenameTables(const std::string& dir, Random* random) {
  std::vector<fs::path> tables;
  for (const fs::directory_entry& file : fs::directory_iterator(dir)) {
    if (file.path().extension() == ".ldb") tables.push_back(file.path());
  }
  for (const fs::path& table : tables) {
    if (random->OneIn(2)) fs::rename(table, fs::path(table).replace_extension(".sst"));
  }
}

void Exchange(const Arguments& arguments, uint64_t seed) {
  Random random(seed);
  const TempFolder folder(arguments);
  Habits habits;
  habits.keys = random.Of<size_t>({30, 300, 2000});
  habits.huge = random.OneIn(4);
  habits.leveldb_too = true;
  habits.paranoid = true;
  habits.scratch = folder.path();
  if (random.OneIn(3)) habits.comparator = LengthFirstComparator();
  const std::string dir = folder.path() + "/db";
  Engine* engines[] = {LevelDbEngine(), WeftEngine()};
  const bool weft_first = random.OneIn(2);
  Player player(engines[weft_first], habits, dir, random.Next(), seed);
  for (int round = 0; round < kRounds; ++round) {
    player.set_engine(engines[(round + weft_first) % 2]);
    player.Open();
    player.CheckEverything();
    // LevelDB prints the keys of what it compacts, a byte at a time, into its log.
    const int operations = arguments.is_long ? 2000 : 500;
    player.Play(habits.huge ? operations / 3 : operations);
    player.CheckEverything();
    player.Close();
    if (random.OneIn(3)) RenameTables(dir, &random);
  }
}

// The contents of all files in `dir` that end so, sorted.
std::vector<std::string> Contents(const std::string& dir, const std::string& extension) {
  std::vector<std::string> contents;
  for (const fs::directory_entry& file : fs::directory_iterator(dir)) {
    if (file.path().extension() != extension) continue;
    std::ifstream in(file.path(), std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::sort(contents.begin(), contents.end());
  return contents;
}

void RequireSameFiles(const std::string& ours, const std::string& theirs,
                      const std::string& extension, size_t count_min) {
  const std::vector<std::string> a = Contents(ours, extension);
  const std::vector<std::string> b = Contents(theirs, extension);
  std::string sizes = " Weft:";
  for (const std::string& file : a) sizes += " " + std::to_string(file.size());
  sizes += " LevelDB:";
  for (const std::string& file : b) sizes += " " + std::to_string(file.size());
  Require(a.size() >= count_min, "too few " + extension + " files:" + sizes);
  Require(a == b, "not the same bytes in " + extension + " files:" + sizes);
  Count("files with equal bytes", a.size());
}

Batch DrawBatch(Random* random, bool comparator_is_bytewise) {
  Batch batch;
  const uint64_t changes = random->OneIn(20) ? random->Skewed(300) : 1;
  for (uint64_t i = 0; i < changes; ++i) {
    Change change{"key" + std::to_string(random->Below(8000)), std::nullopt};
    if (random->OneIn(10)) change.key = random->Bytes(random->Skewed(100));
    if (comparator_is_bytewise && random->OneIn(10)) change.key.insert(0, "\xff\xff");
    if (!random->OneIn(6)) change.value = random->Bytes(random->Skewed(3000));
    batch.push_back(std::move(change));
  }
  return batch;
}

void Bytes(const Arguments& arguments, uint64_t seed) {
  Random random(seed + 77);
  const TempFolder folder(arguments);
  Shape shape;
  DrawShape(&random, true, &shape);
  shape.reuse_logs = false;
  shape.write_buffer_bytes = 256u << 20;  // nothing is flushed before it is told to
  shape.level0_trigger = 8;
  if (random.OneIn(3)) shape.comparator = LengthFirstComparator();
  Note("bytes: " + shape.ToString());
  const uint64_t batches = random.Skewed(arguments.is_long ? 20'000 : 6000);
  const std::string dirs[] = {folder.path() + "/weft", folder.path() + "/leveldb"};
  Engine* engines[] = {WeftEngine(), LevelDbEngine()};
  const uint64_t data_seed = random.Next();
  uint64_t changes = 0;
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<Store> store = MustOpen(engines[i], shape, dirs[i]);
    Random data(data_seed);
    for (uint64_t b = 0; b < batches; ++b) {
      const Batch batch = DrawBatch(&data, shape.comparator == nullptr);
      changes += batch.size();
      RequireOk(store->Write(batch, false), "write");
    }
  }
  RequireSameFiles(dirs[0], dirs[1], ".log", 1);
  for (int i = 0; i < 2; ++i) MustOpen(engines[i], shape, dirs[i]).reset();
  RequireSameFiles(dirs[0], dirs[1], ".ldb", changes > 0 ? 1 : 0);
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<Store> store = MustOpen(engines[i], shape, dirs[i]);
    RequireOk(store->CompactRange(nullptr, nullptr), "compact");
  }
  RequireSameFiles(dirs[0], dirs[1], ".ldb", 0);
}

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 20, 300);
  EngineNamed("leveldb");
  EngineNamed("weft");
  return RunAll(arguments, [&](uint64_t seed) {
    Exchange(arguments, seed);
    Bytes(arguments, seed);
  });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
