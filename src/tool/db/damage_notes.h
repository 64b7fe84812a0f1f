// tool/db/damage_notes.h: tells of damage that a command read past.
//
// A command that changes nothing shows what a damaged store still has, but never without a word:
// a line for each file on the console's `err`, and the exit status of a damaged store.
//
// Threads   the store's listener; all else is done when the store is closed: all have come then.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tool/console.h"
#include "weft/db.h"

namespace weft::tool {

class DamageNotes final : public EventListener {
 public:
  explicit DamageNotes(std::ostream& err) : err_(err) {}
  // Tells of what nobody asked about.
  ~DamageNotes() override { (void)Tell(); }
  // Has the store that is opened with `options` tell of it. `console` must outlive both.
  static std::shared_ptr<DamageNotes> AddTo(DbOptions* options, const Console& console);

  void OnDamage(const std::string& file, uint64_t bytes, const Status& what) override;
  // Closes the store. How a command ends that would else end with `exit`.
  Exit After(std::unique_ptr<Db> db, Exit exit);

 private:
  // Whether there was anything to tell.
  bool Tell();

  std::ostream& err_;
  base::Mutex mutex_;
  std::vector<std::string> lines_ WEFT_GUARDED_BY(mutex_);
};

}  // namespace weft::tool
