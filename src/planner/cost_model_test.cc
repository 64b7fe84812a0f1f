// Equations and whole plans against values worked out by hand, on the machine of
// machine_test_kit.h.
#include "planner/cost_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/machine_test_kit.h"
#include "planner/popularity.h"

namespace weft::planner {
namespace {

using pipeline::Plan;

constexpr const char* kReads =
    "[RV PP MM]cpu -> [IN.search KC RD]gpu0 -> [IN.insert IN.delete WR SD]cpu";
constexpr const char* kReadsOnMirror =
    "[RV PP MM]cpu -> [IN.search KC RD]gpu1 -> [IN.insert IN.delete WR SD]cpu";
constexpr const char* kMegaKv =
    "[RV PP MM]cpu -> [IN.search IN.insert IN.delete]gpu0 -> [KC RD WR SD]cpu";

// Objects of 8 + 16 + 64 = 88 bytes, in 2 lines.
Profile Reads() {
  Profile profile;
  profile.batch_queries = 1000;
  return profile;
}

Conditions TwoWorkers() {
  Conditions conditions;
  conditions.workers = 2;
  conditions.steal = false;
  return conditions;
}

Estimate EstimateOf(const char* text, const Profile& profile, const Conditions& conditions,
                    const Calibration& machine = TestMachine()) {
  auto plan = text == nullptr ? Plan::OneStageCpu() : Plan::Parse(text);
  EXPECT_TRUE(plan);
  auto estimate = EstimatePlan(machine, profile, *plan, conditions);
  EXPECT_TRUE(estimate) << estimate.error().ToString();
  return *estimate;
}

TEST(Equation1, AddsInstructionsAndAccesses) {
  EXPECT_DOUBLE_EQ(UnitNs({3, 0.5, 10, 2, 1}, {1.5, 4, 7}, 16), 3 + 8 + 15 + 8 + 7);
  EXPECT_DOUBLE_EQ(UnitNs({}, {1, 1, 1}, 16), 0);
}

// The workers need 9 ns, the device 11, the workers for all of the device's 16.5: they take
// 2 / 27.5 of it.
TEST(Equation3, BalancesBothSides) {
  const Stolen stolen = Steal(11, 9, 16.5);
  EXPECT_NEAR(stolen.share, 2 / 27.5, 1e-12);
  EXPECT_NEAR(stolen.time, 10.2, 1e-12);
  EXPECT_NEAR(stolen.time, 11 * (1 - stolen.share), 1e-12);
  // As the paper writes it: T_B + T_A^C (T_A^G - T_B) / (T_A^C + T_A^G).
  EXPECT_NEAR(stolen.time, 9 + 16.5 * (11 - 9) / (16.5 + 11), 1e-12);
}

TEST(Equation3, TakesNothingFromAFasterDevice) {
  EXPECT_EQ(Steal(8, 9, 16).share, 0);
  EXPECT_EQ(Steal(8, 9, 16).time, 9);
}

// 3 + 11 against the workers' 9: of the 11 they take 5 / 27.5. Of 40 nobody takes anything: they
// take all of the 11, and it is 40 still.
TEST(Equation3, LeavesTheDeviceWhatIsItsAlone) {
  const Stolen stolen = Steal(11, 9, 16.5, 3);
  EXPECT_NEAR(stolen.share, 5 / 27.5, 1e-12);
  EXPECT_NEAR(stolen.time, 9 + 3, 1e-12);
  EXPECT_NEAR(stolen.time, 11 * (1 - stolen.share) + 3, 1e-12);
  EXPECT_EQ(Steal(11, 9, 16.5, 40).share, 1);
  EXPECT_EQ(Steal(11, 9, 16.5, 40).time, 40);
  EXPECT_EQ(Steal(0, 9, 0, 40).time, 40);
  EXPECT_EQ(Steal(4, 9, 16.5, 3).share, 0);
}

// 1,160 bytes are 19 lines; a core asks for five of them at once.
TEST(AccessesOf, LongObjectsHaveLinesThatWait) {
  Profile profile;
  profile.key_bytes = 128;
  profile.value_bytes = 1024;
  profile.hit_share = 0.5;
  const Accesses write = AccessesOf(Work::kWrite, profile, 64, 0.2, true);
  EXPECT_DOUBLE_EQ(write.stream, 0.8 * 0.5 * 5);
  EXPECT_DOUBLE_EQ(write.far, 0.8 * 0.5 * 14);
  EXPECT_DOUBLE_EQ(write.cache, 0.2 * 0.5 * 19);
  const Accesses gathered = AccessesOf(Work::kWriteGathered, profile, 64, 0.2, true);
  EXPECT_DOUBLE_EQ(gathered.stream, 0.5 * 5);
  EXPECT_DOUBLE_EQ(gathered.far, 0.5 * 11);
  EXPECT_DOUBLE_EQ(UnitNs({0, 0, 0, 2, 0, 3}, write, 0), 2 * 2 + 3 * 5.6);
}

TEST(AccessesOf, AnObjectThatWasReadIsInTheCache) {
  Profile profile;
  profile.key_bytes = 32;
  profile.value_bytes = 256;  // 296 bytes in 5 lines
  const Accesses alone = AccessesOf(Work::kWrite, profile, 64, 0, false);
  EXPECT_DOUBLE_EQ(alone.memory, 1);
  EXPECT_DOUBLE_EQ(alone.stream, 4);
  const Accesses behind = AccessesOf(Work::kWrite, profile, 64, 0, true);
  EXPECT_DOUBLE_EQ(behind.memory, 0);
  EXPECT_DOUBLE_EQ(behind.stream, 5);
  EXPECT_DOUBLE_EQ(behind.cache, 0);
}

TEST(AccessesOf, PopularObjectsAreInTheCache) {
  const Accesses search = AccessesOf(Work::kSearch, Profile(), 64, 0.4, false);
  EXPECT_DOUBLE_EQ(search.memory, 0.9);
  EXPECT_DOUBLE_EQ(search.stream, 1.2);
  EXPECT_DOUBLE_EQ(search.cache, 1.4);
  Profile misses;
  misses.hit_share = 0.5;
  EXPECT_DOUBLE_EQ(AccessesOf(Work::kCompare, misses, 64, 0, false).memory, 0.5);
}

// 4,864 bytes hold 32 objects of 88 bytes with a line of the index each; of 1,000 keys with
// exponent 1 the first 32 have H(32) / H(1000) = 4.0584952 / 7.4854709 of the accesses.
TEST(CachedShare, IsThatOfTheHead) {
  ProcessorCosts costs = TestMachine().cpu;
  costs.cache_bytes = 32 * 152;
  Profile profile;
  profile.objects = 1000;
  profile.zipf = 1;
  EXPECT_NEAR(CachedShare(costs, profile, 1), 4.0584952 / 7.4854709, 1e-5);
  EXPECT_NEAR(CachedShare(costs, profile, 8), 4.0584952 / 7.4854709, 1e-5);
  // Half of the accesses write, and of two workers each makes half: the next access to a key after
  // one's own is one's own with 1/2, and if not leaves the line with 1/2 ...: 1/2 + 1/2 1/2 1/2 +
  // ... = 1/2 / (1 - 1/4) = 2/3.
  profile.get_share = 0.5;
  EXPECT_NEAR(CachedShare(costs, profile, 2), 4.0584952 / 7.4854709 * 2 / 3, 1e-5);
}

// 1 + (2 + 8) + (4 + 15) + (3 + 10) + (5 + 2) = 50 ns of one of two workers.
TEST(OneStage, OfReads) {
  const Estimate estimate = EstimateOf(nullptr, Reads(), TwoWorkers());
  ASSERT_EQ(estimate.stages.size(), 1u);
  EXPECT_NEAR(estimate.stages[0].ns, 50, 1e-9);
  EXPECT_NEAR(estimate.queries_per_s, 4e7, 1);
  EXPECT_EQ(estimate.bound, Bound::kWorkers);
  EXPECT_NEAR(estimate.latency_us, 50, 1e-9);  // 1,000 queries of 50 ns
}

// Half of them stores, each with two looks at victims: 1 + 10 + 19 + 13 for each; 7 for each GET;
// 10 + 2 x 8 = 26, 20 + 10 = 30 and 2 x (5 + 10) = 30 for each store: 43 + 3.5 + 43 = 89.5.
TEST(OneStage, OfStoresInAFullStore) {
  Profile profile = Reads();
  profile.get_share = 0.5;
  profile.looks_per_store = 2;
  EXPECT_NEAR(EstimateOf(nullptr, profile, TwoWorkers()).stages[0].ns, 89.5, 1e-9);
  profile.get_share = 0.25;
  profile.delete_share = 0.25;
  // 43 + 0.25 x 7 + 0.5 x 86 + 0.25 x (8 + 10)
  EXPECT_NEAR(EstimateOf(nullptr, profile, TwoWorkers()).stages[0].ns, 92.25, 1e-9);
}

// A machine on which changes take more than reads do.
Calibration WithChanges() {
  Calibration machine = TestMachine();
  machine.cpu.unit(Work::kReceiveValue) = {2, 0, 0, 4, 0};  // 6 for 64 bytes
  machine.cpu.unit(Work::kParseChange) = {6, 0, 0, 0, 0};
  machine.cpu.unit(Work::kCompareChange) = {8, 0, 0, 0, 0};
  machine.cpu.unit(Work::kAnswerChange) = {3, 0, 0, 0, 0};
  return machine;
}

// As above, and 6 for each store, 6 + 8 + 3 for each change: 89.5 + 0.5 x 23, 92.25 + 0.5 x 6 +
// 0.75 x 17.
TEST(OneStage, OfChangesTakesMore) {
  Profile profile = Reads();
  profile.get_share = 0.5;
  profile.looks_per_store = 2;
  const Calibration machine = WithChanges();
  EXPECT_NEAR(EstimateOf(nullptr, profile, TwoWorkers(), machine).stages[0].ns, 101, 1e-9);
  profile.get_share = 0.25;
  profile.delete_share = 0.25;
  EXPECT_NEAR(EstimateOf(nullptr, profile, TwoWorkers(), machine).stages[0].ns, 108, 1e-9);
  EXPECT_NEAR(EstimateOf(nullptr, Reads(), TwoWorkers(), machine).stages[0].ns, 50, 1e-9);
}

// Whoever makes a change compares its key: on the device that is its own; stolen, it takes the 8.
TEST(MegaKv, OfChangesTakesMore) {
  Profile profile = Reads();
  profile.get_share = 0;
  const Estimate with = EstimateOf(kMegaKv, profile, TwoWorkers(), WithChanges());
  const Estimate without = EstimateOf(kMegaKv, profile, TwoWorkers());
  EXPECT_NEAR(with.worker_ns, without.worker_ns + 6 + 6 + 3, 1e-9);
  EXPECT_NEAR(with.device_ns, without.device_ns, 1e-9);
  EXPECT_NEAR(with.stolen_task_ns[static_cast<size_t>(pipeline::Task::kInsert)], 43 + 8, 1e-9);
}

// 4,096 bytes hold 64 objects of 64 bytes with their part of a bucket; of objects of 128 bytes,
// where it grows by the square of their size, four times as much, and so 128.
TEST(CachedShare, GrowsWithTheObjects) {
  ProcessorCosts costs = TestMachine().cpu;
  costs.cache_bytes = 4096;
  Profile profile;
  profile.objects = 1e6;
  profile.zipf = 0.99;
  profile.key_bytes = 8;
  profile.value_bytes = 48;  // 8 + 8 + 48 and a line
  costs.cache_growth = 0;
  EXPECT_NEAR(CachedShare(costs, profile, 1), HeadShare(32, 1e6, 0.99), 1e-9);
  costs.cache_growth = 2;
  EXPECT_NEAR(CachedShare(costs, profile, 1), HeadShare(128, 1e6, 0.99), 1e-9);
  // No further than was measured: of 64 KiB it holds what it holds of the largest.
  profile.value_bytes = 65'536;
  const double held = 4096 * std::pow(kCacheObjectBytesMax / kCacheObjectBytes, 2);
  EXPECT_NEAR(CachedShare(costs, profile, 1),
              HeadShare(held / CachedObjectBytes(profile, 64), 1e6, 0.99), 1e-9);
}

// What is changed, and who is emptied, costs the same however popular the key is.
TEST(AccessesOf, ChangesAreOfMemory) {
  for (const Work work : {Work::kInsert, Work::kDelete, Work::kEmpty}) {
    EXPECT_EQ(AccessesOf(work, Profile(), 64, 0.9, false).cache, 0);
    EXPECT_EQ(AccessesOf(work, Profile(), 64, 0.9, false).memory, 1);
  }
}

// A machine whose workers find lines in the device's caches.
Calibration WithVisits() {
  Calibration machine = TestMachine();
  const auto unit = [&machine](Work work) -> UnitCost& {
    return machine.devices[0].worker_units[static_cast<size_t>(work)];
  };
  unit(Work::kReceive) = {2, 0, 0, 0, 0};
  unit(Work::kParse) = {3, 0.5, 0, 0, 0};
  unit(Work::kCompareFound) = {9, 0, 20, 0, 0};
  unit(Work::kWrite) = {7, 0, 0, 3, 0};
  unit(Work::kFinish) = {5, 0, 0, 0, 0};
  unit(Work::kWriteGathered) = {4, 0, 0, 1, 0};
  machine.devices[0].worker_job = 5000;  // 5 a query of 1,000
  return machine;
}

// (2 + 11 + 1 + 5) + (5 + 4 + 1); of what is stolen, 39, the last two are saved.
TEST(Visits, CostTheWorkersMore) {
  const Calibration machine = WithVisits();
  Conditions conditions = TwoWorkers();
  const Estimate reads = EstimateOf(kReads, Reads(), conditions, machine);
  EXPECT_NEAR(reads.worker_ns, 29, 1e-9);
  EXPECT_NEAR(reads.stolen_task_ns[static_cast<size_t>(pipeline::Task::kWrite)], 7 - 5, 1e-9);
  EXPECT_NEAR(reads.stolen_task_ns[static_cast<size_t>(pipeline::Task::kCompare)], 13 - 5, 1e-9);
  // (2 + 11 + 1 + 5) + (9 + 20) + (7 + 2 x 3)
  EXPECT_NEAR(EstimateOf(kMegaKv, Reads(), conditions, machine).worker_ns, 61, 1e-9);
  // Where a worker has searched it has what KC looks at: 19 + 19 + 13, and 5 + 5 at the end.
  EXPECT_NEAR(EstimateOf("[RV PP MM IN.search KC]cpu -> [RD]gpu0 -> [IN.insert IN.delete WR SD]cpu",
                         Reads(), conditions, machine)
                  .worker_ns,
              61, 1e-9);
  // Whose keys the device has compared, a worker looks at for the first time: as Mega-KV's.
  EXPECT_NEAR(EstimateOf("[RV PP MM]cpu -> [IN.search KC]gpu0 -> [RD IN.insert IN.delete WR SD]cpu",
                         Reads(), conditions, machine)
                  .worker_ns,
              61, 1e-9);
}

TEST(Visits, CostNothingInOneStageOrOnAnotherDevice) {
  for (const char* plan : {static_cast<const char*>(nullptr), kReadsOnMirror}) {
    EXPECT_EQ(EstimateOf(plan, Reads(), TwoWorkers(), WithVisits()).worker_ns,
              EstimateOf(plan, Reads(), TwoWorkers()).worker_ns);
  }
}

// Workers: 1 + 10 + 1, and 2 + (3 + 1) = 18 ns. The device: (1 + 3) + (1 + 2) + (1 + 2), and its
// 1,000 ns a job: 11.
TEST(ReadsOnADevice, AreBoundByTheSlowerSide) {
  const Estimate estimate = EstimateOf(kReads, Reads(), TwoWorkers());
  ASSERT_EQ(estimate.stages.size(), 3u);
  EXPECT_NEAR(estimate.stages[0].ns, 12, 1e-9);
  EXPECT_NEAR(estimate.stages[1].ns, 10, 1e-9);
  EXPECT_NEAR(estimate.stages[2].ns, 6, 1e-9);
  EXPECT_NEAR(estimate.worker_ns, 18, 1e-9);
  EXPECT_NEAR(estimate.device_ns, 11, 1e-9);
  EXPECT_EQ(estimate.bound, Bound::kDevice);
  EXPECT_NEAR(estimate.queries_per_s, 1e9 / 11, 1);
  // 2 workers x 3 batches x 1,000 queries of 11 ns
  EXPECT_NEAR(estimate.latency_us, 66, 1e-9);
}

// What is stolen costs 19 + 13 + 7 and saves the 6 of a gathered value: 33, of two workers 16.5.
TEST(ReadsOnADevice, AreStolen) {
  Conditions conditions = TwoWorkers();
  conditions.steal = true;
  const Estimate estimate = EstimateOf(kReads, Reads(), conditions);
  EXPECT_NEAR(estimate.stolen_share, 2 / 27.5, 1e-9);
  EXPECT_NEAR(estimate.longest_ns, 10.2, 1e-9);
  EXPECT_NEAR(estimate.worker_ns, 20.4, 1e-9);
}

// Both slow each other down by what the other is busy.
TEST(Interference, GrowsWithWhatTheOtherDoes) {
  Calibration machine = TestMachine();
  machine.cpu.interference = 1;
  const Estimate estimate = EstimateOf(kReads, Reads(), TwoWorkers(), machine);
  // The device has work all the time, so the workers take twice their 9 ns and are the bound; then
  // the device works 11 ns of theirs. t = 9 (1 + 11 / t): t = 14.415...
  const double t = (9 + std::sqrt(81 + 4 * 99)) / 2;
  EXPECT_NEAR(estimate.longest_ns, t, t * 0.02);
  EXPECT_EQ(estimate.bound, Bound::kWorkers);
}

// Search on the device costs 1 + 3, an insert 10 + 4 for half of the queries: 11, and 1 for the
// job. The workers: 12 + 0.5 x 26; 0.5 x 13 for KC of a GET, 0.5 x 7 and 0.5 x 2: 36.
TEST(MegaKv, OfHalfStores) {
  Profile profile = Reads();
  profile.get_share = 0.5;
  const Estimate estimate = EstimateOf(kMegaKv, profile, TwoWorkers());
  EXPECT_NEAR(estimate.device_ns, 12, 1e-9);
  EXPECT_NEAR(estimate.worker_ns, 36, 0.01);  // a few reads are of keys that the batch writes
  EXPECT_EQ(estimate.bound, Bound::kWorkers);
}

// Who takes a store from the device compares its key, too: 13 + 30 for each, and 19 for its Search.
TEST(MegaKv, StolenStoresAreCompared) {
  Profile profile = Reads();
  profile.get_share = 0;
  const Estimate estimate = EstimateOf(kMegaKv, profile, TwoWorkers());
  EXPECT_NEAR(estimate.stolen_task_ns[static_cast<size_t>(pipeline::Task::kSearch)], 19, 1e-9);
  EXPECT_NEAR(estimate.stolen_task_ns[static_cast<size_t>(pipeline::Task::kInsert)], 43, 1e-9);
  EXPECT_EQ(estimate.stolen_task_ns[static_cast<size_t>(pipeline::Task::kCompare)], 0);
}

// A store costs a worker the same in whichever of its stages, but for the 2 of settling it.
TEST(TwoStages, CompareAStoreOnce) {
  Profile profile = Reads();
  profile.get_share = 0;
  const Estimate early = EstimateOf(
      "[RV PP MM IN.search KC RD IN.insert]cpu -> [IN.delete WR SD]cpu", profile, TwoWorkers());
  const Estimate late = EstimateOf(
      "[RV PP MM IN.search KC RD]cpu -> [IN.insert IN.delete WR SD]cpu", profile, TwoWorkers());
  EXPECT_NEAR(early.worker_ns, late.worker_ns + 2, 1e-9);
}

// A mirror follows a twentieth of stores with two changes of 40 ns and 88 bytes of 0.1 ns each:
// 4.44 ns, and what the device does comes behind it.
TEST(Mirror, FollowsTheStore) {
  Profile profile = Reads();
  profile.get_share = 0.95;
  profile.looks_per_store = 2;
  profile.objects = 1e12;  // nobody reads what was just written
  const Estimate estimate = EstimateOf(kReadsOnMirror, profile, TwoWorkers());
  EXPECT_NEAR(estimate.following_ns, 0.05 * (2 * 40 + 8.8), 1e-9);
  Calibration slow = TestMachine();
  slow.devices[1].change = 4000;
  const Estimate following = EstimateOf(kReadsOnMirror, profile, TwoWorkers(), slow);
  EXPECT_EQ(following.bound, Bound::kFollowing);
  EXPECT_NEAR(following.longest_ns, following.device_ns + 0.05 * (2 * 4000 + 8.8), 1e-9);
}

// Whose workers may steal follows it in more parts: twice 4.44 ns.
TEST(Mirror, FollowsTwiceWhereJobsAreShared) {
  Profile profile = Reads();
  profile.get_share = 0.95;
  profile.looks_per_store = 2;
  profile.objects = 1e12;
  Conditions conditions = TwoWorkers();
  conditions.steal = true;
  EXPECT_NEAR(EstimateOf(kReadsOnMirror, profile, conditions).following_ns,
              2 * 0.05 * (2 * 40 + 8.8), 1e-9);
  // With nothing to follow and nothing to steal it takes a bit longer all the same.
  conditions.steal = false;
  const double without = EstimateOf(kReadsOnMirror, Reads(), conditions).longest_ns;
  conditions.steal = true;
  Calibration quick = TestMachine();
  for (UnitCost& unit : quick.devices[1].units) unit = {};
  quick.devices[1].job = 0;
  const double with = EstimateOf(kReadsOnMirror, Reads(), conditions, quick).longest_ns;
  conditions.steal = false;
  EXPECT_GT(without, 0);
  EXPECT_NEAR(
      with,
      (1 + kStealingTakes) * EstimateOf(kReadsOnMirror, Reads(), conditions, quick).longest_ns,
      1e-9);
}

// A key that is not there is looked for once more: 32 for a tenth of the reads, which have no value
// to write, 1, and no access to note, 1 of 8.
TEST(Mirror, LeavesMisses) {
  Profile profile = Reads();
  const double of_hits = EstimateOf(kReadsOnMirror, profile, TwoWorkers()).worker_ns;
  profile.hit_share = 0.9;
  const Estimate estimate = EstimateOf(kReadsOnMirror, profile, TwoWorkers());
  EXPECT_NEAR(estimate.worker_ns, of_hits + 0.1 * (32 - 1 - 8.0 / kNoteRows), 1e-9);
  // On the host's own memory a device's miss is a miss.
  EXPECT_LE(EstimateOf(kReads, profile, TwoWorkers()).worker_ns,
            EstimateOf(kReads, Reads(), TwoWorkers()).worker_ns);
}

// Half of the queries store: every fourth ends a row of gathered values, for 40 and 20.
TEST(ReadsOnADevice, HaveRowsThatChangesEnd) {
  Profile profile = Reads();
  profile.get_share = 0.5;
  profile.objects = 1e12;
  Calibration machine = TestMachine();
  const double without = EstimateOf(kReads, profile, TwoWorkers(), machine).worker_ns;
  const double mega_kv = EstimateOf(kMegaKv, profile, TwoWorkers(), machine).worker_ns;
  machine.devices[0].worker_units[static_cast<size_t>(Work::kCompareRow)].instructions = 40;
  machine.devices[0].worker_units[static_cast<size_t>(Work::kWriteRow)].instructions = 20;
  EXPECT_NEAR(EstimateOf(kReads, profile, TwoWorkers(), machine).worker_ns,
              without + 0.25 * (40 + 20), 1e-9);
  EXPECT_NEAR(EstimateOf(kMegaKv, profile, TwoWorkers(), machine).worker_ns, mega_kv, 1e-9);
}

// Changes that a plan gives to a mirror are the last stage's.
TEST(Mirror, LeavesChangesToTheLastStage) {
  Profile profile = Reads();
  profile.get_share = 0.5;
  const Estimate with =
      EstimateOf("[RV PP MM]cpu -> [IN.search KC RD IN.insert]gpu1 -> [IN.delete WR SD]cpu",
                 profile, TwoWorkers());
  const Estimate without = EstimateOf(kReadsOnMirror, profile, TwoWorkers());
  EXPECT_DOUBLE_EQ(with.longest_ns, without.longest_ns);
}

// Popular keys that were written since are not on the mirror as they are: the CPU reads them.
TEST(Mirror, LeavesWhatWasJustWritten) {
  Profile profile = Reads();
  profile.get_share = 0.95;
  const double uniform = EstimateOf(kReadsOnMirror, profile, TwoWorkers()).worker_ns;
  profile.zipf = 0.99;
  EXPECT_GT(EstimateOf(kReadsOnMirror, profile, TwoWorkers()).worker_ns, uniform + 3);
}

// The largest batch within the interval: with 6 batches under way of 11 ns a query, 1,000 us.
TEST(Batches, FillTheInterval) {
  Profile profile = Reads();
  profile.batch_queries = 0;
  Conditions conditions = TwoWorkers();
  conditions.queries_max = 1 << 20;
  const Estimate estimate = EstimateOf(kReads, profile, conditions);
  EXPECT_TRUE(estimate.fits);
  EXPECT_LE(estimate.latency_us, 1000);
  EXPECT_GT(estimate.latency_us, 990);
  EXPECT_EQ(static_cast<uint64_t>(estimate.batch_queries) % 64, 0u);
  conditions.queries_max = 4096;
  EXPECT_EQ(EstimateOf(kReads, profile, conditions).batch_queries, 4096);
}

// One batch of 64 at a time: 64 x 18 ns of the worker, 64 x 10 of the device, 6,000 for the job.
TEST(Batches, TooFewUnderWayKeepNobodyBusy) {
  Profile profile = Reads();
  profile.batch_queries = 64;
  Conditions conditions = TwoWorkers();
  conditions.workers = 1;
  conditions.batches = 1;
  const Estimate estimate = EstimateOf(kReads, profile, conditions);
  EXPECT_EQ(estimate.bound, Bound::kLatency);
  EXPECT_NEAR(estimate.latency_us, (64 * 28 + 6000) * 1e-3, 1e-9);
  EXPECT_NEAR(estimate.queries_per_s, 64e9 / (64 * 28 + 6000), 1);
}

TEST(Batches, AnIntervalThatNothingFits) {
  Profile profile = Reads();
  profile.batch_queries = 0;
  Conditions conditions = TwoWorkers();
  conditions.interval_us = 5;
  const Estimate estimate = EstimateOf(kReads, profile, conditions);
  EXPECT_FALSE(estimate.fits);
  EXPECT_EQ(estimate.batch_queries, 64);
}

TEST(EstimatePlan, OfNoKnownCostIsANumber) {
  Calibration nothing = TestMachine();
  for (ProcessorCosts* costs : {&nothing.cpu, &nothing.devices[0]}) {
    costs->units = {};
    costs->job = costs->job_latency = 0;
  }
  const Estimate estimate = EstimateOf(kReads, Reads(), TwoWorkers(), nothing);
  EXPECT_TRUE(std::isfinite(estimate.queries_per_s));
  EXPECT_TRUE(std::isfinite(estimate.device_ns));
}

TEST(EstimatePlan, RefusesUnknownProcessors) {
  for (const char* text :
       {"[RV PP MM]cpu -> [IN.search KC RD]gpu2 -> [IN.insert IN.delete WR SD]cpu",
        "[RV PP MM]cpu -> [IN.search KC RD]tpu -> [IN.insert IN.delete WR SD]cpu",
        "[RV PP MM]cpu -> [IN.search]gpu0 -> [KC RD]gpu1 -> [IN.insert IN.delete WR SD]cpu"}) {
    auto plan = Plan::Parse(text);
    ASSERT_TRUE(plan);
    const auto estimate = EstimatePlan(TestMachine(), Reads(), *plan, TwoWorkers());
    ASSERT_FALSE(estimate) << text;
    EXPECT_EQ(estimate.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace weft::planner
