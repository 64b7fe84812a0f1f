// weft db verify: is every file of the store whole?
#include <memory>
#include <string>

#include "tool/db/commands.h"
#include "tool/db/store_flags.h"
#include "tool/db/verifier.h"
#include "tool/text_form.h"

namespace weft::tool {

namespace {

std::string JsonList(const std::vector<std::string>& lines) {
  std::string json = "[";
  for (const std::string& line : lines) {
    if (json.size() > 1) json += ", ";
    json += JsonString(Escaped(line));
  }
  return json + "]";
}

void PrintVerified(std::ostream& out, const VerifyReport& report, bool json) {
  if (json) {
    out << "{\"whole\": " << (report.problems.empty() ? "true" : "false")
        << ", \"tables\": " << report.tables << ", \"table_bytes\": " << report.table_bytes
        << ", \"entries\": " << report.entries << ", \"logs\": " << report.logs
        << ", \"log_records\": " << report.log_records
        << ", \"problems\": " << JsonList(report.problems)
        << ", \"notes\": " << JsonList(report.notes) << "}\n";
    return;
  }
  for (const std::string& note : report.notes) out << "note: " << note << '\n';
  for (const std::string& problem : report.problems) out << "damage: " << problem << '\n';
  out << report.tables << " tables of " << BytesText(report.table_bytes) << " with "
      << report.entries << " entries, " << report.logs << " logs with " << report.log_records
      << " batches: ";
  if (report.problems.empty()) {
    out << "whole\n";
  } else {
    out << report.problems.size() << " problems\n";
  }
}

struct Verify {
  StoreFlags store;
  bool json = false;

  Exit Run(const Console& console) const {
    auto options = store.OptionsOfStore(console.files);
    if (!options) return Fail(console, options.error());
    Verifier verifier(console, *options, store.dir());
    if (Status status = verifier.Run(); !status.ok()) return Fail(console, status);
    PrintVerified(console.out, verifier.report(), json);
    return verifier.report().problems.empty() ? Exit::kOk : Exit::kDamaged;
  }
};

}  // namespace

Action DeclareVerify(Arguments* arguments) {
  const auto verify = std::make_shared<Verify>();
  verify->store.AddTo(arguments, false);
  arguments->AddFlag("--json", "print the findings as JSON", &verify->json);
  return [verify](const Console& console) { return verify->Run(console); };
}

}  // namespace weft::tool
