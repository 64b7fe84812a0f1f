// weft db dump: all keys and values, or one file's contents.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tool/db/commands.h"
#include "tool/db/damage_notes.h"
#include "tool/db/dump_file.h"
#include "tool/db/dump_line.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

struct Dump {
  StoreFlags store;
  std::string file;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::string values = "escaped";
  DumpStyle style;
  bool json = false;

  Exit Run(const Console& console) {
    auto options = store.Options(console.files);
    if (!options) return Fail(console, options.error());
    style.values = values == "hex" ? Form::kHex : Form::kEscaped;
    if (!file.empty()) {
      if (from || to || json) {
        return Fail(console,
                    {Code::kInvalidArgument,
                     "--file prints a whole file as text, without --from, --to or --json"});
      }
      const bool is_path = file.find('/') != std::string::npos || store.dir().empty();
      return DumpFile(console, is_path ? file : store.dir() + "/" + file, style);
    }
    if (store.dir().empty()) {
      return Fail(console, {Code::kInvalidArgument,
                            "nothing to dump: give DIR, the store's folder, or --file FILE"});
    }
    if (Status status = store.CheckStore(console.files); !status.ok()) {
      return Fail(console, status);
    }
    if (style.layout_only) {
      return Fail(console,
                  {Code::kInvalidArgument, "--layout needs --file FILE, which must be a table"});
    }
    return DumpStore(console, *options);
  }

  Exit DumpStore(const Console& console, DbOptions options) const {
    std::string lower;
    std::string upper;
    ReadOptions read;
    read.verify_checksums = true;
    read.fill_cache = false;
    if (from) {
      auto key = FromEscaped(*from);
      if (!key) return Fail(console, key.error());
      lower = *key;
      read.lower_bound = lower;
    }
    if (to) {
      auto key = FromEscaped(*to);
      if (!key) return Fail(console, key.error());
      upper = *key;
      read.upper_bound = upper;
    }
    options.ignore_damaged_logs = true;
    const auto notes = DamageNotes::AddTo(&options, console);
    auto db = Db::OpenReadOnly(options, store.dir());
    if (!db) return Fail(console, db.error());
    const Exit exit = DumpEntries(console, (*db)->NewIterator(read));
    return notes->After(std::move(*db), exit);
  }

  Exit DumpEntries(const Console& console, std::unique_ptr<Iterator> entries) const {
    uint64_t left = style.entries_max;
    for (entries->SeekToFirst(); entries->Valid() && left > 0; entries->Next(), left--) {
      Print(console.out, entries->key(), entries->value());
    }
    return entries->status().ok() ? Exit::kOk : Fail(console, entries->status());
  }

  void Print(std::ostream& out, std::string_view key, std::string_view value) const {
    const std::string_view* const shown = style.keys_only ? nullptr : &value;
    out << (json ? JsonLine(key, shown, style.values) : TextLine(key, shown, style.values)) << '\n';
  }
};

}  // namespace

Action DeclareDump(Arguments* arguments) {
  const auto dump = std::make_shared<Dump>();
  dump->store.AddToOptional(arguments);
  arguments->AddOption(
      "--file", "FILE",
      "print this file instead: a log's batches, a table's blocks and entries, or a manifest's "
      "edits. Damage is reported and skipped. A bare name is looked up in DIR",
      &dump->file);
  arguments->AddOption("--from", "KEY", "first key, with escapes", &dump->from);
  arguments->AddOption("--to", "KEY", "key to stop before, with escapes", &dump->to);
  arguments->AddOption("--limit", "N", "print at most N entries", &dump->style.entries_max);
  arguments->AddFlag("--keys", "print keys without values", &dump->style.keys_only);
  arguments->AddChoice("--values", "FORM", "form of printed values: escaped (default) or hex",
                       &dump->values, {"escaped", "hex"});
  arguments->AddFlag("--layout", "print only the blocks of a table file", &dump->style.layout_only);
  arguments->AddFlag("--json",
                     "print one object a line, with key, and value or value_hex, as escaped text",
                     &dump->json);
  return [dump](const Console& console) { return dump->Run(console); };
}

}  // namespace weft::tool
