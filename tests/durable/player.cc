#include "durable/player.h"

#include <algorithm>
#include <set>

namespace weft::durable {

Player::Player(Engine* engine, const Habits& habits, std::string dir, uint64_t operations_seed,
               uint64_t options_seed)
    : engine_(engine),
      habits_(habits),
      dir_(std::move(dir)),
      random_(operations_seed),
      options_(options_seed * 77 + 5),
      model_(KeyLess{habits.comparator}) {
  std::set<std::string> distinct;
  while (distinct.size() < habits_.keys) distinct.insert(DrawNewKey());
  keys_.assign(distinct.begin(), distinct.end());
}

Player::~Player() { Close(); }

void Player::Open() {
  DrawShape(&options_, habits_.leveldb_too, &shape_);
  shape_.comparator = habits_.comparator;
  shape_.files = habits_.files;
  shape_.paranoid |= habits_.paranoid;
  Note(std::string("open with ") + engine_->Name() + ": " + shape_.ToString());
  store_ = MustOpen(engine_, shape_, dir_);
}

void Player::Close() {
  DropSnapshots();
  store_.reset();
}

void Player::Play(int operations) {
  for (int i = 0; i < operations; ++i) PlayOne();
  Count("operations", static_cast<uint64_t>(operations));
}

void Player::PlayOne() {
  struct Move {
    uint64_t weight;
    void (Player::*play)();
    bool weft_only;
  };
  static constexpr Move kMoves[] = {
      {500, &Player::WriteSome, false}, {120, &Player::WriteBatch, false},
      {15, &Player::Fill, false},       {120, &Player::GetOne, false},
      {50, &Player::GetMany, false},    {40, &Player::ReadRange, false},
      {40, &Player::Walk, false},       {40, &Player::TakeOrDropSnapshot, false},
      {6, &Player::Compact, false},     {10, &Player::FlushOrNot, true},
      {5, &Player::Reopen, false},      {2, &Player::CheckCheckpoint, true},
      {6, &Player::TakeIn, true},       {15, &Player::AskAround, false},
      {1, &Player::RepairWhole, true},  {2, &Player::CheckReadOnly, true},
  };
  uint64_t weights = 0;
  for (const Move& move : kMoves) weights += move.weight;
  uint64_t draw = random_.Below(weights);
  for (const Move& move : kMoves) {
    if (draw < move.weight) {
      if (!(move.weft_only && engine_ == LevelDbEngine())) (this->*move.play)();
      return;
    }
    draw -= move.weight;
  }
}

std::string Player::DrawNewKey() {
  switch (random_.Below(8)) {
    case 0: {  // few bytes of any kind
      std::string key(random_.Below(4), '\0');
      for (char& c : key) c = static_cast<char>(random_.Next());
      return key;
    }
    case 1: return std::string(random_.Below(12), '\xff');
    case 2: return "prefix/that/many/keys/share/" + std::to_string(random_.Below(1000));
    case 3: return "\x80\xfe" + std::to_string(random_.Below(100)) + "\xff";
    case 4:
      if (habits_.huge && random_.OneIn(20)) {
        return random_.Bytes(random_.Between(1000, random_.OneIn(10) ? 1'500'000 : 50'000));
      }
      return random_.Bytes(random_.Skewed(200));
    default: return "key" + std::to_string(random_.Below(10'000));
  }
}

std::string Player::DrawValue() {
  if (random_.OneIn(8)) return "";
  if (habits_.huge && random_.OneIn(150)) {
    return random_.Bytes(random_.Between(100'000, 3'000'000));
  }
  return random_.Bytes(random_.Skewed(5000));
}

Change Player::DrawChange() {
  if (random_.OneIn(4)) return {DrawKey(), std::nullopt};
  return {DrawKey(), DrawValue()};
}

// A view of the state now or of a snapshot, and what it must show.
View Player::DrawView(const Model** model) {
  View view;
  *model = &model_;
  view.fill_cache = !random_.OneIn(4);
  const uint64_t draw = random_.Next();
  if (!kept_.empty() && draw % 2 == 0) {
    const Kept& kept = kept_[draw / 2 % kept_.size()];
    view.snapshot = kept.snapshot;
    *model = &kept.model;
  }
  return view;
}

void Player::WriteSome() {
  const Change change = DrawChange();
  RequireOk(store_->WriteOne(change, random_.OneIn(50)), "write of " + Shown(change.key));
  Apply({change}, &model_);
}

void Player::WriteBatch() {
  Batch batch;
  const uint64_t changes = random_.OneIn(10) ? 0 : random_.Skewed(60);
  for (uint64_t i = 0; i < changes; ++i) batch.push_back(DrawChange());
  RequireOk(store_->Write(batch, random_.OneIn(20)),
            "write of " + std::to_string(changes) + " changes");
  Apply(batch, &model_);
}

// Much at once, so that memtables fill.
void Player::Fill() {
  const uint64_t writes = random_.Between(10, 200);
  for (uint64_t i = 0; i < writes; ++i) {
    const Change change{DrawKey(), random_.Bytes(random_.Between(100, 2000))};
    RequireOk(store_->WriteOne(change, false), "write of " + Shown(change.key));
    Apply({change}, &model_);
  }
}

void Player::GetOne() {
  const Model* model = nullptr;
  const View view = DrawView(&model);
  const std::string key = random_.OneIn(4) ? DrawNewKey() : DrawKey();
  std::string value = "as before";
  const Status status = store_->Get(view, key, &value);
  const auto wanted = model->find(key);
  if (wanted == model->end()) {
    Require(status.code() == Code::kNotFound,
            "get of absent " + Shown(key) + ": " + status.ToString());
    Require(value == "as before", "get of absent " + Shown(key) + " changed the value");
    return;
  }
  RequireOk(status, "get of " + Shown(key));
  Require(value == wanted->second,
          "get of " + Shown(key) + " gave " + Shown(value) + ", not " + Shown(wanted->second));
}

void Player::GetMany() {
  const Model* model = nullptr;
  const View view = DrawView(&model);
  std::vector<Lookup> lookups(random_.Skewed(100));
  for (Lookup& lookup : lookups) lookup.key = random_.OneIn(5) ? DrawNewKey() : DrawKey();
  store_->MultiGet(view, lookups);
  for (const Lookup& lookup : lookups) {
    const auto wanted = model->find(lookup.key);
    if (wanted == model->end()) {
      Require(lookup.status.code() == Code::kNotFound,
              "multiget of absent " + Shown(lookup.key) + ": " + lookup.status.ToString());
      continue;
    }
    RequireOk(lookup.status, "multiget of " + Shown(lookup.key));
    Require(lookup.value == wanted->second, "multiget of " + Shown(lookup.key) + " gave " +
                                                Shown(lookup.value) + ", not " +
                                                Shown(wanted->second));
  }
}

namespace {

// The part of a model that bounds leave.
std::pair<Model::const_iterator, Model::const_iterator> Within(const Model& model,
                                                               const View& view) {
  const KeyLess less = model.key_comp();
  const auto first = view.lower ? model.lower_bound(*view.lower) : model.begin();
  if (view.lower && view.upper && !less(*view.lower, *view.upper)) return {first, first};
  return {first, view.upper ? model.lower_bound(*view.upper) : model.end()};
}

}  // namespace

void Player::ReadRange() {
  const Model* model = nullptr;
  View view = DrawView(&model);
  const std::string lower = DrawNewKey();
  const std::string upper = DrawNewKey();
  if (random_.OneIn(2)) view.lower = lower;
  if (random_.OneIn(2)) view.upper = upper;
  const auto [first, last] = Within(*model, view);
  const bool forwards = random_.OneIn(2);
  std::vector<std::pair<std::string, std::string>> found;
  RequireOk(ReadAll(store_.get(), view, forwards, &found), "reading a range");
  const Model expected(first, last, model->key_comp());
  const std::string difference = Difference(expected, found);
  Require(difference.empty(), std::string("reading a range ") +
                                  (forwards ? "forwards" : "backwards") +
                                  (view.lower ? " from " + Shown(lower) : "") +
                                  (view.upper ? " up to " + Shown(upper) : "") + ": " + difference);
}

void Player::CheckPosition(const Iterator& it, const Model& model, Model::const_iterator at,
                           const View& view, const std::string& after) {
  RequireOk(it.status(), "iterator after " + after);
  const auto [first, last] = Within(model, view);
  const KeyLess less = model.key_comp();
  const bool in = at != model.end() && first != last &&
                  !(view.lower && less(at->first, *view.lower)) &&
                  !(view.upper && !less(at->first, *view.upper));
  Require(it.Valid() == in,
          std::string("iterator is ") + (in ? "not " : "") + "valid after " + after);
  if (!in) return;
  Require(it.key() == at->first && it.value() == at->second,
          "iterator is at " + Shown(it.key()) + " = " + Shown(it.value()) + " and not at " +
              Shown(at->first) + " = " + Shown(at->second) + " after " + after);
}

// Moves an iterator about, while the store changes beneath it.
void Player::Walk() {
  const Model* now = nullptr;
  View view = DrawView(&now);
  const std::string lower = DrawNewKey();
  const std::string upper = DrawNewKey();
  if (random_.OneIn(3)) view.lower = lower;
  if (random_.OneIn(3)) view.upper = upper;
  const Model model = *now;
  const auto [first, last] = Within(model, view);
  const std::unique_ptr<Iterator> it = store_->NewIterator(view);
  Require(!it->Valid(), "iterator is valid before it was positioned");
  auto at = model.end();
  bool placed = false;
  const uint64_t steps = random_.Between(1, 60);
  for (uint64_t i = 0; i < steps; ++i) {
    const uint64_t draw = random_.Below(20);
    std::string after;
    if (draw == 0) {
      it->SeekToFirst(), at = first == last ? model.end() : first, after = "SeekToFirst";
    } else if (draw == 1) {
      it->SeekToLast(), at = first == last ? model.end() : std::prev(last), after = "SeekToLast";
    } else if (draw < 5 || !placed) {
      const std::string target = random_.OneIn(2) ? DrawKey() : DrawNewKey();
      it->Seek(target), after = "Seek to " + Shown(target);
      at = model.lower_bound(target);
      if (view.lower && model.key_comp()(target, *view.lower)) at = first;
      if (first == last) at = model.end();
    } else if (draw < 12) {
      it->Next(), ++at, after = "Next";
    } else if (draw < 18) {
      it->Prev(), after = "Prev";
      at = at == model.begin() ? model.end() : std::prev(at);
    } else {
      WriteSome(), after = "a write";
    }
    CheckPosition(*it, model, at, view, after);
    placed = it->Valid();
  }
}

void Player::TakeOrDropSnapshot() {
  if (!habits_.snapshots) return;
  if (kept_.size() < 4 && (kept_.empty() || random_.OneIn(2))) {
    kept_.push_back({store_->GetSnapshot(), model_});
    return;
  }
  const size_t which = random_.Below(kept_.size());
  if (random_.OneIn(2)) {
    const View view{.snapshot = kept_[which].snapshot};
    CheckAll(store_.get(), view, kept_[which].model, &random_, "snapshot");
  }
  store_->ReleaseSnapshot(kept_[which].snapshot);
  kept_.erase(kept_.begin() + static_cast<ptrdiff_t>(which));
}

void Player::DropSnapshots() {
  for (const Kept& kept : kept_) store_->ReleaseSnapshot(kept.snapshot);
  kept_.clear();
}

void Player::CheckEverything() {
  Random random(1);
  CheckAll(store_.get(), {}, model_, &random, "state now");
  for (const Kept& kept : kept_) {
    CheckAll(store_.get(), View{.snapshot = kept.snapshot}, kept.model, &random, "snapshot");
  }
}

void Player::Compact() {
  const std::string begin = DrawNewKey();
  const std::string end = DrawNewKey();
  const std::string_view views[] = {begin, end};
  const bool from = random_.OneIn(2);
  const bool to = random_.OneIn(2);
  Note("compact");
  RequireOk(store_->CompactRange(from ? &views[0] : nullptr, to ? &views[1] : nullptr), "compact");
}

void Player::FlushOrNot() { RequireOk(store_->Flush(), "flush"); }

void Player::Reopen() {
  Close();
  Open();
  CheckEverything();
}

void Player::CheckCheckpoint() {
  const std::string dir = habits_.scratch + "/checkpoint" + std::to_string(files_made_++);
  Note("checkpoint");
  RequireOk(store_->Checkpoint(dir), "checkpoint");
  const Model then = model_;
  WriteBatch();  // must not show in it
  std::unique_ptr<Store> copy = MustOpen(engine_, shape_, dir);
  CheckAll(copy.get(), {}, then, &random_, "checkpoint");
  RequireOk(copy->WriteOne({"only in the copy", ""}, true), "write to a checkpoint");
  copy.reset();
  RequireOk(engine_->Destroy(shape_, dir), "destroy of a checkpoint");
}

// Keys of a table of our own, some of them in the store already.
void Player::TakeIn() {
  Model table(KeyLess{habits_.comparator});
  const uint64_t keys = random_.Between(1, 100);
  for (uint64_t i = 0; i < keys; ++i) table[DrawKey()] = DrawValue();
  const std::vector<std::pair<std::string, std::string>> entries(table.begin(), table.end());
  const std::string path = habits_.scratch + "/table" + std::to_string(files_made_++);
  Note("ingest " + std::to_string(entries.size()));
  RequireOk(store_->Ingest(entries, path, random_.OneIn(2)), "ingest");
  for (const auto& [key, value] : table) model_[key] = value;
}

void Player::AskAround() {
  for (const char* name : {"stats", "approximate-memory-usage", "num-files-at-level0"}) {
    Require(!store_->Property(name).empty(), std::string("no property ") + name);
  }
  // LevelDB prints the tables' ends with one snprintf a byte: a second for keys of megabytes.
  if (!habits_.huge || engine_ != LevelDbEngine() || random_.OneIn(50)) {
    Require(!store_->Property("sstables").empty(), "no property sstables");
  }
  store_->ApproximateBytes(DrawNewKey(), DrawNewKey());
}

// Repair must keep a whole store whole.
void Player::RepairWhole() {
  Close();
  Note("repair");
  RequireOk(engine_->Repair(shape_, dir_), "repair of a whole store");
  Open();
  CheckEverything();
}

void Player::CheckReadOnly() {
  Close();
  {
    Note("open read-only");
    Result<std::unique_ptr<Store>> store = engine_->OpenReadOnly(shape_, dir_);
    if (!store) Fail("cannot open read-only: " + store.error().ToString());
    CheckAll(store->get(), {}, model_, &random_, "read-only");
    const Status status = (*store)->WriteOne({"k", "v"}, false);
    Require(status.code() == Code::kInvalidArgument,
            "a read-only store took a write: " + status.ToString());
  }
  Open();
}

}  // namespace weft::durable
