// weft db repair: makes what is whole of a damaged store openable again.
#include <memory>
#include <string>

#include "lsm/checked_options.h"
#include "lsm/repair.h"
#include "tool/db/commands.h"
#include "tool/db/store_flags.h"

namespace weft::tool {

namespace {

void PrintRepair(std::ostream& out, const lsm::RepairReport& report, bool json) {
  const struct {
    const char* name;
    uint64_t value;
    const char* text;
  } lines[] = {
      {"logs", report.logs, "logs read"},
      {"log_bytes_dropped", report.log_bytes_dropped, "bytes of logs given up"},
      {"tables_whole", report.tables_whole, "tables whole"},
      {"tables_salvaged", report.tables_salvaged, "tables damaged, of which blocks were kept"},
      {"tables_lost", report.tables_lost, "tables of which nothing was kept"},
      {"tables_missing", report.tables_missing, "tables that the manifest names, and are missing"},
      {"table_bytes_dropped", report.table_bytes_dropped,
       "bytes of damaged tables not copied (their index and filter included)"},
      {"table_blocks_dropped", report.table_blocks_dropped,
       "blocks of damaged tables given up (damaged ones, and ones that do not fit)"},
      {"table_entries_dropped", report.table_entries_dropped,
       "entries of damaged tables given up that could be read, and do not fit"},
      {"unreadable_bytes", report.unreadable_bytes, "bytes that the disk does not give"},
      {"tables_merged", report.tables_merged, "tables merged, because they overlap"},
      {"last_sequence", report.last_sequence, "last sequence number"},
  };
  if (json) {
    out << "{\"manifest_read\": " << (report.manifest_read ? "true" : "false")
        << ", \"manifest_whole\": " << (report.manifest_whole ? "true" : "false");
    for (const auto& line : lines) out << ", \"" << line.name << "\": " << line.value;
    out << "}\n";
    return;
  }
  if (report.manifest_whole) {
    out << "the manifest was whole\n";
  } else if (report.manifest_read) {
    out << "the manifest was read, but something of it, or a file that it names, is lost\n";
  } else {
    out << "no manifest could be read: every table was taken\n";
  }
  for (const auto& line : lines) out << line.text << ": " << line.value << '\n';
}

struct Repair {
  StoreFlags store;
  bool json = false;

  Exit Run(const Console& console) const {
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    auto checked = lsm::CheckedOptions(*options);
    if (!checked) return Fail(console, checked.error());
    const auto say = [&](const std::string& line) { console.err << "repair: " << line << '\n'; };
    lsm::Repair repair(*checked, store.dir(), say);
    if (Status status = repair.Run(); !status.ok()) return Fail(console, status);
    PrintRepair(console.out, repair.report(), json);
    return Exit::kOk;
  }
};

}  // namespace

Action DeclareRepair(Arguments* arguments) {
  const auto repair = std::make_shared<Repair>();
  repair->store.AddTo(arguments, true);
  arguments->AddFlag("--json", "the report as JSON", &repair->json);
  return [repair](const Console& console) { return repair->Run(console); };
}

}  // namespace weft::tool
