// weft db checkpoint: a copy of a store, in one step.
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/store_flags.h"

namespace weft::tool {

namespace {

struct Checkpoint {
  StoreFlags store;
  std::string target;

  Exit Run(const Console& console) const {
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    const std::string to = WithoutSlashes(target);
    if (console.files->FileExists(to)) {
      return Fail(console, {Code::kInvalidArgument, to + ": exists"});
    }
    auto db = store.Open(console, &*options);
    if (!db) return Fail(console, db.error());
    const Status status = (*db)->Checkpoint(to);
    if (!status.ok()) return Fail(console, status);
    console.out << to << " now holds the contents of " << store.dir() << '\n';
    return Exit::kOk;
  }
};

}  // namespace

Action DeclareCheckpoint(Arguments* arguments) {
  const auto checkpoint = std::make_shared<Checkpoint>();
  checkpoint->store.AddTo(arguments, true);
  arguments->AddWord("TARGET", "folder of the second store, which must not exist",
                     &checkpoint->target);
  return [checkpoint](const Console& console) { return checkpoint->Run(console); };
}

}  // namespace weft::tool
