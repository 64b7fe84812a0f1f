// weft db put: stores one key.
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

struct Put {
  StoreFlags store;
  std::string key;
  std::string value;
  bool create = false;

  Exit Run(const Console& console) const {
    auto key_bytes = FromEscaped(key);
    if (!key_bytes) return Fail(console, key_bytes.error());
    auto value_bytes = FromEscaped(value);
    if (!value_bytes) return Fail(console, value_bytes.error());
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    if (Status status = store.CheckOrCreate(console.files, create, &*options); !status.ok()) {
      return Fail(console, status);
    }
    auto db = store.Open(console, &*options);
    if (!db) return Fail(console, db.error());
    const Status status = (*db)->Put({.sync = true}, *key_bytes, *value_bytes);
    return status.ok() ? Exit::kOk : Fail(console, status);
  }
};

}  // namespace

Action DeclarePut(Arguments* arguments) {
  const auto put = std::make_shared<Put>();
  put->store.AddTo(arguments, true);
  arguments->AddWord("KEY", "the key, with escapes", &put->key);
  arguments->AddWord("VALUE", "the value, with escapes", &put->value);
  arguments->AddFlag("--create", "create the store if it does not exist", &put->create);
  return [put](const Console& console) { return put->Run(console); };
}

}  // namespace weft::tool
