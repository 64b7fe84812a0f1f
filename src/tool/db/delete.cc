// weft db delete: deletes one key.
#include <memory>
#include <string>

#include "tool/db/commands.h"
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
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    auto db = store.Open(console, &*options);
    if (!db) return Fail(console, db.error());
    const Status status = (*db)->Delete({.sync = true}, *bytes);
    return status.ok() ? Exit::kOk : Fail(console, status);
  }
};

}  // namespace

Action DeclareDelete(Arguments* arguments) {
  const auto remove = std::make_shared<Delete>();
  remove->store.AddTo(arguments, true);
  arguments->AddWord("KEY", "the key, with escapes", &remove->key);
  return [remove](const Console& console) { return remove->Run(console); };
}

}  // namespace weft::tool
