// weft db delete: deletes one key.
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/damage_notes.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

struct Delete {
  StoreFlags store;
  std::string key;

  Exit Run(const Console& console) const {
    auto bytes = FromEscaped(key);
    if (!bytes) return Fail(console, bytes.error());
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    if (Status status = store.CheckStore(console.files); !status.ok()) {
      return Fail(console, status);
    }
    (void)DamageNotes::AddTo(&*options, console);
    auto db = Db::Open(*options, store.dir());
    if (!db) return Fail(console, db.error());
    const Status status = (*db)->Delete({.sync = true}, *bytes);
    return status.ok() ? Exit::kOk : Fail(console, status);
  }
};

}  // namespace

Command AddDelete(CommandLine* line) {
  const auto remove = std::make_shared<Delete>();
  Arguments arguments = line->AddCommand("delete", "delete a key (no error where there is none)");
  remove->store.AddTo(&arguments, true);
  arguments.AddWord("KEY", "the key, with escapes", &remove->key);
  return {arguments, [remove](const Console& console) { return remove->Run(console); }};
}

}  // namespace weft::tool
