// weft db compact: compacts a range of keys, or all.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "lsm/file_names.h"
#include "tool/db/commands.h"
#include "tool/db/store_flags.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

// A line for each table written and each compaction done.
class Listener final : public EventListener {
 public:
  explicit Listener(std::ostream& err) : err_(err) {}

  void OnFlush(const FlushEvent& event) override {
    if (!event.status.ok() || event.file_number == 0) return;
    err_ << "compact: wrote the contents of memory: " << event.keys << " entries, "
         << BytesText(event.bytes) << '\n';
  }
  void OnCompactionBegin(const CompactionEvent& event) override {
    err_ << "compact: level " << event.level << " to " << event.output_level << ": "
         << event.inputs[0].size() << " and " << event.inputs[1].size() << " tables\n";
  }
  void OnCompactionEnd(const CompactionEvent& event) override {
    err_ << "compact: level " << event.level << " to " << event.output_level << ": "
         << BytesText(event.bytes_read) << " read, " << BytesText(event.bytes_written)
         << " written in " << event.outputs.size() << " tables, " << event.keys_dropped << " of "
         << event.keys_read << " entries dropped, " << event.us / 1000 << " ms\n";
  }

 private:
  std::ostream& err_;
};

// All tables in the folder.
struct Size {
  uint64_t tables = 0;
  uint64_t bytes = 0;
};

Size SizeOf(FileSystem* files, const std::string& dir) {
  Size size;
  std::vector<std::string> names;
  if (!files->GetChildren(dir, &names).ok()) return size;
  for (const std::string& name : names) {
    lsm::ParsedFileName parsed;
    if (!lsm::ParseFileName(name, &parsed) || parsed.type != lsm::FileType::kTable) continue;
    const auto bytes = files->GetFileSize(dir + "/" + name);
    size.tables++;
    size.bytes += bytes ? bytes.value() : 0;
  }
  return size;
}

struct Compact {
  StoreFlags store;
  std::optional<std::string> from;
  std::optional<std::string> to;
  bool json = false;

  Exit Run(const Console& console) const {
    std::string begin;
    std::string end;
    for (const auto& [text, bytes] : {std::pair(&from, &begin), std::pair(&to, &end)}) {
      if (!*text) continue;
      auto key = FromEscaped(**text);
      if (!key) return Fail(console, key.error());
      *bytes = *key;
    }
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    options->listeners.push_back(std::make_shared<Listener>(console.err));
    const Size before = SizeOf(console.files, store.dir());
    auto db = store.Open(console, &*options);
    if (!db) return Fail(console, db.error());
    const std::string_view begin_view = begin;
    const std::string_view end_view = end;
    const Status status =
        (*db)->CompactRange(from ? &begin_view : nullptr, to ? &end_view : nullptr);
    db->reset();  // all lines of progress have come then
    if (!status.ok()) return Fail(console, status);
    Print(console.out, before, SizeOf(console.files, store.dir()));
    return Exit::kOk;
  }

  void Print(std::ostream& out, const Size& before, const Size& after) const {
    if (json) {
      out << "{\"tables_before\": " << before.tables << ", \"bytes_before\": " << before.bytes
          << ", \"tables_after\": " << after.tables << ", \"bytes_after\": " << after.bytes
          << "}\n";
      return;
    }
    out << "before: " << before.tables << " tables, " << BytesText(before.bytes) << '\n'
        << "after: " << after.tables << " tables, " << BytesText(after.bytes) << '\n';
  }
};

}  // namespace

Action DeclareCompact(Arguments* arguments) {
  const auto compact = std::make_shared<Compact>();
  compact->store.AddTo(arguments, true);
  arguments->AddOption("--from", "KEY", "first key, with escapes (default: the store's first)",
                       &compact->from);
  arguments->AddOption("--to", "KEY", "last key, which is included (default: the store's last)",
                       &compact->to);
  arguments->AddFlag("--json", "print the sizes as JSON", &compact->json);
  return [compact](const Console& console) { return compact->Run(console); };
}

}  // namespace weft::tool
