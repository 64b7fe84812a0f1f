// weft db get: one key's value.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tool/db/commands.h"
#include "tool/db/damage_notes.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

struct Get {
  StoreFlags store;
  std::string key;
  bool raw = false;

  Exit Run(const Console& console) const {
    auto bytes = FromEscaped(key);
    if (!bytes) return Fail(console, bytes.error());
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    options->ignore_damaged_logs = true;
    const auto notes = DamageNotes::AddTo(&*options, console);
    auto db = Db::OpenReadOnly(*options, store.dir());
    if (!db) return Fail(console, db.error());
    const Exit exit = Print(console, db->get(), *bytes);
    return notes->After(std::move(*db), exit);
  }

  Exit Print(const Console& console, Db* db, std::string_view name) const {
    std::string value;
    ReadOptions read;
    read.verify_checksums = true;
    const Status status = db->Get(read, name, &value);
    if (status.code() == Code::kNotFound) {
      console.err << "weft db: there is no key '" << Escaped(name) << "'\n";
      return Exit::kDamaged;
    }
    if (!status.ok()) return Fail(console, status);
    if (raw) {
      console.out << value;
    } else {
      console.out << Escaped(value) << '\n';
    }
    return Exit::kOk;
  }
};

}  // namespace

Action DeclareGet(Arguments* arguments) {
  const auto get = std::make_shared<Get>();
  get->store.AddTo(arguments, false);
  arguments->AddWord("KEY", "the key, with escapes", &get->key);
  arguments->AddFlag("--raw", "print only the bytes of the value, without escapes", &get->raw);
  return [get](const Console& console) { return get->Run(console); };
}

}  // namespace weft::tool
