// tests/durable/player.h: plays random operations on a store and checks all answers by a std::map.
//
// One source of randomness draws the operations, another the options. So the same operations can be
// played under other options, and must give the same answers.
//
// Threads   one for a Player. The store works on its own threads beside it.
// Errors    any wrong answer and any error ends the program (Fail).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "durable/kit.h"
#include "durable/store.h"

namespace weft::durable {

struct Habits {
  size_t keys = 300;         // in use
  bool huge = false;         // now and then keys and values of megabytes
  bool leveldb_too = false;  // only options that LevelDB knows
  bool paranoid = false;     // always, not now and then
  bool snapshots = true;
  std::string scratch;  // a folder for checkpoints and tables to take in
  const Comparator* comparator = nullptr;
  FileSystem* files = nullptr;
};

class Player {
 public:
  // The state in `dir` must be `model`.
  Player(Engine* engine, const Habits& habits, std::string dir, uint64_t operations_seed,
         uint64_t options_seed);
  ~Player();

  // Opens the store with options newly drawn.
  void Open();
  void Play(int operations);
  // Checks everything: the state now and every snapshot.
  void CheckEverything();
  void Close();

  // Another engine may go on after one has closed.
  void set_engine(Engine* engine) { engine_ = engine; }
  const Model& model() const { return model_; }
  Model* mutable_model() { return &model_; }
  Store* store() { return store_.get(); }
  const Shape& shape() const { return shape_; }

 private:
  struct Kept {
    const void* snapshot;
    Model model;
  };

  void PlayOne();
  std::string DrawNewKey();
  const std::string& DrawKey() { return random_.Of(keys_); }
  std::string DrawValue();
  Change DrawChange();
  View DrawView(const Model** model);

  void WriteSome();
  void WriteBatch();
  void Fill();
  void GetOne();
  void GetMany();
  void ReadRange();
  void Walk();
  void CheckPosition(const Iterator& it, const Model& model, Model::const_iterator at,
                     const View& view, const std::string& after);
  void TakeOrDropSnapshot();
  void DropSnapshots();
  void Compact();
  void FlushOrNot();
  void Reopen();
  void CheckCheckpoint();
  void TakeIn();
  void AskAround();
  void RepairWhole();
  void CheckReadOnly();

  Engine* engine_;
  const Habits habits_;
  const std::string dir_;
  Random random_;   // of operations
  Random options_;  // of options
  Shape shape_;
  std::vector<std::string> keys_;
  Model model_;
  std::vector<Kept> kept_;
  std::unique_ptr<Store> store_;
  int files_made_ = 0;
};

}  // namespace weft::durable
