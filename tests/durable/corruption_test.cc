// Damages each file of a small store in each way and place, and opens and reads it.
//
// Each byte flipped (with --long; else some), each file cut to many lengths, each file deleted: the
// answer is an error that names the file, or exactly what was written; after damage to a log what
// was written up to some write. Never anything else, a crash or a hang. Then the store is repaired:
// that keeps all keys that the damaged file does not hold, and makes up no value.
//
// LevelDB is paranoid, and spared that errors name files, that iterators end at an error,
// compaction of damaged tables (it does not look at checksums then), repair of tables with damaged
// blocks, and tables that are cut (it may crash).
//
//   corruption_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
#include <filesystem>

#include "base/program.h"
#include "durable/damaged_store.h"

namespace weft::durable {
namespace {

using base::MemoryFileSystem;

constexpr uint64_t kRepairInverse = 4;  // of the damages that are also repaired
constexpr uint64_t kCompactInverse = 10;

enum class Way : uint8_t { kFlip, kCut, kDelete };

struct Damage {
  Way way;
  std::string path;
  uint64_t offset = 0;
  uint8_t mask = 0;

  std::string Name() const { return std::filesystem::path(path).filename().string(); }
  std::string ToString() const {
    const char* verb = way == Way::kFlip ? "flip " : way == Way::kCut ? "cut " : "delete ";
    return verb + Name() + " at " + std::to_string(offset) + " with " + std::to_string(mask);
  }
  bool InLog() const { return path.ends_with(".log"); }
  bool InManifest() const { return path.find("MANIFEST") != std::string::npos; }
  bool InCurrent() const { return path.ends_with("CURRENT"); }
};

class Examination {
 public:
  Examination(Engine* engine, const SmallStore& store, uint64_t seed)
      : engine_(engine), strict_(engine != LevelDbEngine()), store_(store), random_(seed) {}

  void Examine(const Damage& damage) {
    Note(damage.ToString());
    if (!strict_ && damage.way == Way::kCut && store_.HoldsKeys(damage.path)) return;
    for (const bool paranoid : {false, true}) {
      if (!paranoid && !strict_) continue;
      const std::unique_ptr<MemoryFileSystem> files = Damaged(damage);
      ReadDamaged(damage, paranoid, files.get());
      const bool some = random_.OneIn(kRepairInverse) && strict_;
      if (some || damage.way == Way::kDelete) {
        Repair(damage, paranoid, files.get());
      }
    }
    Count("damages");
  }

 private:
  std::unique_ptr<MemoryFileSystem> Damaged(const Damage& damage) {
    std::unique_ptr<MemoryFileSystem> files = store_.files().Copy();
    switch (damage.way) {
      case Way::kFlip:
        RequireOk(files->FlipBits(damage.path, damage.offset, damage.mask), "flip");
        break;
      case Way::kCut: RequireOk(files->Truncate(damage.path, damage.offset), "cut"); break;
      case Way::kDelete: RequireOk(files->RemoveFile(damage.path), "delete"); break;
    }
    return files;
  }

  Shape ShapeOn(MemoryFileSystem* files, bool paranoid) const {
    Shape shape = store_.shape();
    shape.files = files;
    shape.paranoid = paranoid;
    shape.create = false;
    return shape;
  }

  // An error must say which file. CURRENT may also be blamed by what stands in it; a manifest that
  // was cut, by the files it no longer or still names; a store without CURRENT is none.
  void RequireNames(const Damage& damage, const Status& status) {
    const std::string text = status.ToString();
    bool named = text.find(damage.Name()) != std::string::npos;
    if (damage.InCurrent()) named |= text.find(kDamagedDir) != std::string::npos;
    if (damage.InManifest() && damage.way == Way::kCut) {
      for (const char* part : {".ldb", ".sst", ".log", "CURRENT"}) {
        named |= text.find(part) != std::string::npos;
      }
    }
    Require(named || !strict_,
            "after " + damage.ToString() + " the error does not name the file: " + text);
    Count("errors");
  }

  void ReadDamaged(const Damage& damage, bool paranoid, MemoryFileSystem* files) {
    Result<std::unique_ptr<Store>> store = engine_->Open(ShapeOn(files, paranoid), kDamagedDir);
    if (!store) return RequireNames(damage, store.error());
    if (strict_ && random_.OneIn(kCompactInverse)) {
      const Status status = (*store)->CompactRange(nullptr, nullptr);
      if (!status.ok()) RequireNames(damage, status);
    }
    const bool may_lack = damage.InLog() || (damage.InManifest() && damage.way == Way::kCut);
    bool failed = false;
    for (const bool forwards : {true, false}) {
      std::vector<std::pair<std::string, std::string>> found;
      const Status status = ReadAll(store->get(), {}, forwards, &found);
      if (status.ok()) {
        RequireRight(damage, found, may_lack);
      } else {
        RequireNames(damage, status);
        if (!may_lack && strict_) RequirePart(damage, found);
        failed = true;
      }
    }
    if (!may_lack) GetAll(damage, store->get());
    if (!failed) Count("right in spite of damage");
  }

  void RequireRight(const Damage& damage,
                    const std::vector<std::pair<std::string, std::string>>& found, bool may_lack) {
    if (may_lack && store_.IsPrefix({found.begin(), found.end()})) return;
    const std::string difference = Difference(store_.state(), found);
    Require(difference.empty(), "wrong data after " + damage.ToString() + ": " + difference +
                                    (may_lack ? " (and no prefix of the writes)" : ""));
  }

  // What an iterator gave before it failed.
  void RequirePart(const Damage& damage,
                   const std::vector<std::pair<std::string, std::string>>& found) {
    for (const auto& [key, value] : found) {
      const auto wanted = store_.state().find(key);
      Require(wanted != store_.state().end() && wanted->second == value,
              "wrong data before the error after " + damage.ToString() + ": " + Shown(key) + " = " +
                  Shown(value));
    }
  }

  void GetAll(const Damage& damage, Store* store) {
    for (const auto& [key, wanted] : store_.state()) {
      std::string value;
      const Status status = store->Get({}, key, &value);
      if (status.ok()) {
        Require(value == wanted, "wrong value of " + Shown(key) + " after " + damage.ToString());
      } else {
        Require(status.code() != Code::kNotFound,
                Shown(key) + " is not found after " + damage.ToString());
        RequireNames(damage, status);
      }
    }
  }

  void Repair(const Damage& damage, bool paranoid, MemoryFileSystem* files) {
    Shape shape = ShapeOn(files, paranoid);
    RequireOk(engine_->Repair(shape, kDamagedDir), "repair after " + damage.ToString());
    const std::unique_ptr<Store> store = MustOpen(engine_, shape, kDamagedDir);
    std::vector<std::pair<std::string, std::string>> found;
    RequireOk(ReadAll(store.get(), {}, true, &found), "reading what was repaired");
    const Model left(found.begin(), found.end());
    Random random(1);
    CheckAll(store.get(), {}, left, &random, "repaired");
    for (const auto& [key, value] : left) {
      Require(store_.EverHad(key, value), "repair after " + damage.ToString() + " made up " +
                                              Shown(key) + " = " + Shown(value));
    }
    const std::set<std::string> held = store_.KeysOf(damage.path);
    size_t lost = 0;
    for (const auto& [key, value] : store_.state()) {
      const auto at = left.find(key);
      const bool same = at != left.end() && at->second == value;
      Require(same || held.contains(key),
              "repair after " + damage.ToString() + " lost " + Shown(key) + ", which is not in it");
      lost += !same;
    }
    for (const auto& [key, value] : left) {
      Require(held.contains(key) || store_.state().contains(key),
              "repair after " + damage.ToString() + " brought back " + Shown(key));
    }
    RequireLittleLost(damage, held.size(), lost);
    Count("repairs");
    Count("keys lost in repairs", lost);
  }

  // Damage to one block of a table costs that block. Blocks are in the first half of the file.
  void RequireLittleLost(const Damage& damage, size_t held, size_t lost) {
    if (damage.way != Way::kFlip || !store_.HoldsKeys(damage.path) || damage.InLog()) return;
    const Result<std::string> whole = store_.files().Contents(damage.path);
    if (!whole || damage.offset > whole.value().size() / 2) return;
    Require(lost <= held / 2, "repair after " + damage.ToString() + " lost " +
                                  std::to_string(lost) + " of " + std::to_string(held) + " keys");
  }

  Engine* engine_;
  const bool strict_;
  const SmallStore& store_;
  Random random_;
};

void Run(const Arguments& arguments, Engine* engine, uint64_t seed) {
  const SmallStore store(engine, seed, arguments.is_long ? 60 : 150);
  Examination examination(engine, store, seed);
  Random random(seed);
  for (const std::string& path : store.files().AllFiles()) {
    examination.Examine({Way::kDelete, path});
    const Result<std::string> contents = store.files().Contents(path);
    const uint64_t bytes = contents.value().size();
    const bool small = bytes < 600;
    const uint64_t stride = arguments.is_long || small ? 1 : 1 + bytes / 150;
    for (uint64_t at = random.Below(stride); at < bytes; at += stride) {
      const auto mask = static_cast<uint8_t>(1u << random.Below(8));
      examination.Examine({Way::kFlip, path, at, random.OneIn(8) ? uint8_t{0xff} : mask});
    }
    const uint64_t cut_stride = small ? 1 : 1 + bytes / (arguments.is_long ? 600 : 40);
    for (uint64_t at = random.Below(cut_stride); at < bytes; at += cut_stride) {
      examination.Examine({Way::kCut, path, at});
    }
  }
}

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 2, 6);
  Engine* engine = EngineNamed(arguments.store);
  return RunAll(arguments, [&](uint64_t seed) { Run(arguments, engine, seed); });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
