// The memory of connections: BufferPool, PartialInput, OutputQueue.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "base/seed_test_kit.h"
#include "net/buffer_pool.h"
#include "net/output_queue.h"
#include "net/partial_input.h"

namespace weft::net {
namespace {

std::string Sent(OutputQueue& queue, size_t n, BufferPool& pool) {
  std::string bytes;
  iovec pieces[64];
  const int count = queue.Gather(pieces, 64);
  for (int i = 0; i < count; ++i) {
    bytes.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  }
  bytes.resize(std::min(bytes.size(), n));
  queue.Advance(bytes.size(), pool);
  return bytes;
}

void Put(OutputQueue& queue, std::string_view bytes, OutputArena& arena, BufferPool& pool) {
  char* const space = queue.Reserve(bytes.size() + 8, arena, pool);
  ASSERT_NE(space, nullptr);
  std::copy(bytes.begin(), bytes.end(), space);
  queue.Commit(bytes.size(), arena);
}

TEST(BufferPool, GivenBlocksAreTakenAgainAndCounted) {
  BufferPool pool;
  size_t bytes = 1000;
  char* const block = pool.Take(&bytes);
  EXPECT_EQ(bytes, 1024u);
  EXPECT_EQ(pool.in_use_bytes(), 1024u);
  pool.Give(block, bytes);
  EXPECT_EQ(pool.in_use_bytes(), 0u);
  EXPECT_EQ(pool.Take(&bytes), block);
  pool.Give(block, bytes);
}

TEST(BufferPool, KeepsOnlySoMuch) {
  BufferPool pool;
  std::vector<char*> blocks;
  size_t bytes = BufferPool::kBlockBytesKeptMax;
  for (int i = 0; i < 8; ++i) blocks.push_back(pool.Take(&bytes));
  for (char* block : blocks) pool.Give(block, bytes);
  EXPECT_LE(pool.kept_bytes(), BufferPool::kKeepBytes);
  size_t huge = BufferPool::kBlockBytesKeptMax + 1;
  pool.Give(pool.Take(&huge), huge);
  EXPECT_LE(pool.kept_bytes(), BufferPool::kKeepBytes);
}

TEST(BufferPool, BlocksAreAtMostAQuarterLargerThanAsked) {
  BufferPool pool;
  for (size_t asked = 256; asked < (size_t{5} << 20); asked += asked / 7 + 1) {
    size_t bytes = asked;
    char* const block = pool.Take(&bytes);
    ASSERT_NE(block, nullptr);
    EXPECT_GE(bytes, asked);
    EXPECT_LE(bytes, asked + std::max<size_t>(asked / 4, 4096)) << asked;
    EXPECT_EQ(bytes, BufferPool::BlockBytes(asked));
    EXPECT_EQ(bytes, BufferPool::BlockBytes(bytes));
    block[bytes - 1] = 'x';
    pool.Give(block, bytes);
  }
  EXPECT_EQ(pool.in_use_bytes(), 0u);
}

TEST(BufferPool, TrimGivesBackWhatNobodyNeedsAnyMore) {
  BufferPool pool;
  std::vector<std::pair<char*, size_t>> blocks;
  for (size_t bytes : {300, 5000, 70000, 70000, 500000}) {
    char* const block = pool.Take(&bytes);
    blocks.emplace_back(block, bytes);
  }
  for (const auto& [block, bytes] : blocks) pool.Give(block, bytes);
  const size_t kept = pool.kept_bytes();
  EXPECT_GT(kept, 500000u);
  pool.Trim();  // all of it was in use since the last time
  EXPECT_EQ(pool.kept_bytes(), kept);
  size_t bytes = 70000;
  char* const used = pool.Take(&bytes);
  pool.Give(used, bytes);
  pool.Trim();
  EXPECT_GE(pool.kept_bytes(), bytes);
  EXPECT_LT(pool.kept_bytes(), 2 * bytes);
  pool.Trim();
  EXPECT_EQ(pool.kept_bytes(), 0u);
}

TEST(PartialInput, GrowsByWhatArrivesNotByWhatIsAnnounced) {
  BufferPool pool;
  PartialInput input;
  ASSERT_TRUE(input.Append(pool, "0123456789", size_t{1} << 30));
  EXPECT_EQ(input.held_bytes(), BufferPool::kBlockBytesMin);
  ASSERT_TRUE(input.Append(pool, std::string(5000, 'x'), size_t{1} << 30));
  EXPECT_LE(input.held_bytes(), 16384u);
  input.Release(pool);
  EXPECT_EQ(pool.in_use_bytes(), 0u);
}

TEST(PartialInput, DroppingMovesTheRestToASmallBlock) {
  BufferPool pool;
  PartialInput input;
  ASSERT_TRUE(input.Append(pool, std::string(100000, 'x') + "rest", 0));
  input.DropFront(pool, 100000);
  EXPECT_EQ(std::string_view(input.data(), input.size()), "rest");
  EXPECT_EQ(input.held_bytes(), BufferPool::kBlockBytesMin);
  input.DropFront(pool, 4);
  EXPECT_EQ(pool.in_use_bytes(), 0u);
}

// Bytes that moved: `kept` of them each time that they are not where they were.
class MoveCounter {
 public:
  void Look(const char* data, size_t kept) {
    if (data != expected_) moved_ += kept;
    expected_ = data;
  }
  void Dropped(size_t n) { expected_ += n; }
  size_t moved() const { return moved_; }

 private:
  const char* expected_ = nullptr;
  size_t moved_ = 0;
};

TEST(PartialInput, TakingLongInputOffPieceByPieceMovesItSeldom) {
  constexpr size_t kBytes = size_t{4} << 20;
  BufferPool pool;
  PartialInput input;
  ASSERT_TRUE(input.Append(pool, std::string(kBytes, 'x'), 0));
  MoveCounter counter;
  counter.Look(input.data(), 0);
  while (input.size() > 2000) {
    input.DropFront(pool, 1999);
    counter.Dropped(1999);
    counter.Look(input.data(), input.size());
  }
  EXPECT_LE(counter.moved(), kBytes);
  input.Release(pool);
}

TEST(PartialInput, AStreamThroughItMovesNoMoreThanItIsLong) {
  std::mt19937 random(base::TestSeed(1));
  BufferPool pool;
  PartialInput input;
  std::string expected;
  MoveCounter counter;
  size_t appended = 0;
  char next = 'a';
  while (appended < 3'000'000) {
    // A little comes and a little goes, while much stays.
    std::string piece(1 + random() % 200, next);
    next = next == 'z' ? 'a' : static_cast<char>(next + 1);
    const size_t kept = input.size();
    char* const room = input.Room(pool, size_t{64} << 10, 0);
    std::memcpy(room, piece.data(), piece.size());
    input.Added(piece.size());
    counter.Look(input.data(), kept);
    expected += piece;
    appended += piece.size();
    if (expected.size() < 100'000) continue;
    const size_t n = 1 + random() % 200;
    input.DropFront(pool, n);
    expected.erase(0, n);
    counter.Dropped(n);
    counter.Look(input.data(), input.size());
    ASSERT_EQ(std::string_view(input.data(), input.size()), expected);
  }
  EXPECT_LE(counter.moved(), 2 * appended);
  EXPECT_LE(input.held_bytes(), 8 * expected.size());
  input.Release(pool);
}

TEST(OutputQueue, SmallRepliesShareTheArenaAndTakeNoBlock) {
  BufferPool pool;
  OutputArena arena(4096);
  OutputQueue a, b;
  Put(a, "one ", arena, pool);
  Put(a, "two", arena, pool);
  Put(b, "three", arena, pool);
  EXPECT_EQ(pool.in_use_bytes(), 0u);
  EXPECT_EQ(Sent(a, 100, pool), "one two");
  EXPECT_EQ(Sent(b, 100, pool), "three");
}

TEST(OutputQueue, ReservedSpaceSurvivesAnotherQueuesReserve) {
  BufferPool pool;
  OutputArena arena(4096);
  OutputQueue a, b;
  char* const space = a.Reserve(10, arena, pool);
  Put(b, "between", arena, pool);
  std::copy_n("0123456789", 10, space);
  a.Commit(10, arena);
  EXPECT_EQ(Sent(a, 100, pool), "0123456789");
  EXPECT_EQ(Sent(b, 100, pool), "between");
}

TEST(OutputQueue, RandomWritesAndPartialSendsKeepOrder) {
  std::mt19937 random(base::TestSeed(7));
  BufferPool pool;
  OutputArena arena(8192);
  OutputQueue queues[3];
  std::string expected[3], got[3];
  for (int step = 0; step < 20000; ++step) {
    const size_t i = random() % 3;
    if (random() % 3 != 0) {
      const std::string text(random() % 20 == 0 ? random() % 100000 : random() % 200,
                             static_cast<char>('a' + random() % 26));
      Put(queues[i], text, arena, pool);
      expected[i] += text;
    } else {
      got[i] += Sent(queues[i], random() % 20000, pool);
    }
    if (step % 16 == 0) {
      for (OutputQueue& queue : queues) ASSERT_TRUE(queue.KeepUnsent(pool));
      arena.Reset();
    }
  }
  for (size_t i = 0; i < 3; ++i) {
    while (!queues[i].empty()) got[i] += Sent(queues[i], 1 << 20, pool);
    EXPECT_TRUE(got[i] == expected[i]) << "queue " << i;
  }
  EXPECT_EQ(pool.in_use_bytes(), 0u);
}

TEST(OutputQueue, KeepFrontDropsTheRest) {
  BufferPool pool;
  OutputArena arena(100'000);
  std::mt19937 random(base::TestSeed(1));
  for (int round = 0; round < 300; round++) {
    arena.Reset();
    OutputQueue queue, other;
    std::string expected;
    for (int step = 0; step < 12; step++) {
      const std::string bytes(random() % (random() % 4 == 0 ? 90'000 : 500),
                              static_cast<char>('a' + step));
      switch (random() % 5) {
        case 0: Put(other, bytes, arena, pool); break;
        case 1: ASSERT_TRUE(queue.KeepUnsent(pool)); break;
        case 2: {
          const size_t kept = random() % (expected.size() + 1);
          queue.KeepFront(kept, pool);
          expected.resize(kept);
          break;
        }
        default:
          ASSERT_NE(queue.Reserve(random() % 90'000, arena, pool), nullptr);  // and nothing comes
          Put(queue, bytes, arena, pool);
          expected += bytes;
      }
      ASSERT_EQ(queue.size(), expected.size());
    }
    EXPECT_TRUE(Sent(queue, expected.size(), pool) == expected) << "round " << round;
    queue.Clear(pool);
    other.Clear(pool);
  }
  EXPECT_EQ(pool.in_use_bytes(), 0u);
}

}  // namespace
}  // namespace weft::net
