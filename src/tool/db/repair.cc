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
      {"log_bytes_dropped", report.log_bytes_dropped, "bytes of logs dropped"},
      {"tables_whole", report.tables_whole, "undamaged tables"},
      {"tables_salvaged", report.tables_salvaged, "damaged tables with blocks that were kept"},
      {"tables_lost", report.tables_lost, "damaged tables with nothing that could be kept"},
      {"tables_missing", report.tables_missing, "missing tables that the manifest names"},
      {"table_bytes_dropped", report.table_bytes_dropped,
       "bytes of damaged tables that were not copied (including index and filter)"},
      {"table_blocks_dropped", report.table_blocks_dropped,
       "blocks of damaged tables dropped (damaged or contradictory)"},
      {"table_entries_dropped", report.table_entries_dropped,
       "readable entries of damaged tables dropped (contradictory)"},
      {"unreadable_bytes", report.unreadable_bytes, "bytes that could not be read from disk"},
      {"tables_merged", report.tables_merged, "tables merged because they overlap"},
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
    out << "the manifest was read, but a part of it or a file that it names is lost\n";
  } else {
    out << "no manifest could be read: every table was used\n";
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
  arguments->AddFlag("--json", "print the report as JSON", &repair->json);
  return [repair](const Console& console) { return repair->Run(console); };
}

}  // namespace weft::tool
