#include "tool/db/damage_notes.h"

#include <utility>

namespace weft::tool {

std::shared_ptr<DamageNotes> DamageNotes::AddTo(DbOptions* options, const Console& console) {
  auto notes = std::make_shared<DamageNotes>(console.err);
  options->listeners.push_back(notes);
  return notes;
}

void DamageNotes::OnDamage(const std::string&, uint64_t bytes, const Status& what) {
  base::MutexLock lock(&mutex_);
  lines_.push_back(std::string(what.message()) + "; " + std::to_string(bytes) +
                   " bytes were skipped");
}

Exit DamageNotes::After(std::unique_ptr<Db> db, Exit exit) {
  db.reset();
  return Tell() && exit == Exit::kOk ? Exit::kDamaged : exit;
}

bool DamageNotes::Tell() {
  base::MutexLock lock(&mutex_);
  const std::vector<std::string> lines = std::exchange(lines_, {});
  for (const std::string& line : lines) err_ << "weft db: note: " << line << '\n';
  return !lines.empty();
}

}  // namespace weft::tool
