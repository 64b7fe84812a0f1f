// weft db get: one key's value.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tool/db_command.h"
#include "tool/store_flags.h"
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
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    if (Status status = store.CheckStore(console.files); !status.ok()) {
      return Fail(console, status);
    }
    auto db = Db::OpenReadOnly(*options, store.dir());
    if (!db) return Fail(console, db.error());
    std::string value;
    ReadOptions read;
    read.verify_checksums = true;
    const Status status = (*db)->Get(read, *bytes, &value);
    if (status.code() == Code::kNotFound) {
      console.err << "weft db: there is no key '" << Escaped(*bytes) << "'\n";
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

Command AddGet(CLI::App* db) {
  const auto get = std::make_shared<Get>();
  CLI::App* const app = db->add_subcommand("get", "print a key's value");
  get->store.AddTo(app, false);
  app->add_option("KEY", get->key, "the key, with escapes")->required();
  app->add_flag("--raw", get->raw, "the value's bytes as they are, and nothing else");
  return {app, [get](const Console& console) { return get->Run(console); }};
}

}  // namespace weft::tool
