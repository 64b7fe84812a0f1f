// Plays the same random operations under many options: every answer must be that of a std::map.
// Eight runs in a row play one sequence. Of three sequences one has a comparator of its own and one
// keys and values of megabytes.
//
//   metamorphic_test [--runs N] [--seed S] [--long]      (durable/kit.h has the rest)
#include "base/program.h"
#include "durable/player.h"

namespace weft::durable {
namespace {

constexpr uint64_t kRunsPerSequence = 8;

void Run(const Arguments& arguments, Engine* engine, uint64_t seed) {
  const uint64_t sequence = seed / kRunsPerSequence;
  Random random(sequence);
  const TempFolder folder(arguments);
  Habits habits;
  habits.keys = random.Of<size_t>({3, 30, 300, 1000});
  habits.huge = sequence % 3 == 2;
  habits.leveldb_too = arguments.store == "leveldb";
  habits.scratch = folder.path();
  if (sequence % 3 == 1 || sequence % 6 == 5) habits.comparator = LengthFirstComparator();
  Player player(engine, habits, folder.path() + "/db", random.Next(), seed);
  player.Open();
  player.Play(arguments.is_long ? 4000 : 1200);
  player.CheckEverything();
  player.Close();
  player.Open();
  player.CheckEverything();
  player.Close();
  RequireOk(engine->Destroy(player.shape(), folder.path() + "/db"), "destroy");
}

int Main(int argc, char** argv) {
  const Arguments arguments = ParseArguments(argc, argv, 24, 500);
  Engine* engine = EngineNamed(arguments.store);
  return RunAll(arguments, [&](uint64_t seed) { Run(arguments, engine, seed); });
}

}  // namespace
}  // namespace weft::durable

int main(int argc, char** argv) {
  (void)weft::base::OpenStandardStreams();
  return weft::durable::Main(argc, argv);
}
