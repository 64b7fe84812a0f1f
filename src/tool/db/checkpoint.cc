// weft db checkpoint: a copy of a store, in one step.
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/damage_notes.h"
#include "tool/db/store_flags.h"

namespace weft::tool {

namespace {

struct Checkpoint {
  StoreFlags store;
  std::string target;

  Exit Run(const Console& console) const {
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    if (Status status = store.CheckStore(console.files); !status.ok()) {
      return Fail(console, status);
    }
    const std::string to = WithoutSlashes(target);
    if (console.files->FileExists(to)) {
      return Fail(console, {Code::kInvalidArgument, to + ": exists"});
    }
    (void)DamageNotes::AddTo(&*options, console);
    auto db = Db::Open(*options, store.dir());
    if (!db) return Fail(console, db.error());
    const Status status = (*db)->Checkpoint(to);
    if (!status.ok()) return Fail(console, status);
    console.out << to << " holds what " << store.dir() << " holds\n";
    return Exit::kOk;
  }
};

}  // namespace

Command AddCheckpoint(CommandLine* line) {
  const auto checkpoint = std::make_shared<Checkpoint>();
  Arguments arguments =
      line->AddCommand("checkpoint", "make a second store that holds what this one holds now");
  checkpoint->store.AddTo(&arguments, true);
  arguments.AddWord("TARGET", "its folder, which must not exist", &checkpoint->target);
  return {arguments, [checkpoint](const Console& console) { return checkpoint->Run(console); }};
}

}  // namespace weft::tool
