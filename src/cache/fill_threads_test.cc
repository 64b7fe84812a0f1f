// Overwriting where places of replaced objects are filled, by several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cache/fill_test_kit.h"

namespace weft::cache {
namespace {

// Sizes that change, lifetimes, deletes, flushes, a memory that is too small at times: whoever
// reads finds the key's own value, and never an older one than was stored.
TEST(FillingByThreads, EachReadsItsOwnValues) {
  for (const uint64_t mib : {2, 4, 16}) {
    const auto store = OpenFilling(mib);
    std::atomic<uint64_t> wrong{0};
    constexpr int kThreads = 4;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&, t] {
        Client client(store.get());
        base::Random random(TestSeed() * 16 + t);
        std::map<uint64_t, uint64_t> stored;  // of this thread's keys: the last version
        for (uint64_t n = 1; n < Rounds(60'000); n++) {
          const uint64_t key = random.Below(2000) * kThreads + t;
          const uint64_t what = random.Below(100);
          if (t == 0 && n % (Rounds(60'000) / 3) == 1) client.Flush();
          if (what < 60) {
            const size_t bytes = random.Below(10) == 0 ? random.Below(3000) : 40 + 8 * (key % 5);
            const Expiry expiry =
                random.Below(20) == 0 ? client.session().now_s() + 100 : kNeverExpires;
            client.Set(Key(key), Stamped(key, n, bytes), expiry);
            stored[key] = n;
          } else if (what < 62) {
            client.Delete(Key(key));
            stored.erase(key);
          } else {
            const uint64_t other = what < 90 ? key : random.Below(2000 * kThreads);
            const std::string value = client.Value(Key(other));
            if (value == "(none)") continue;
            const size_t dot = value.find('.');
            const uint64_t version = std::stoull(value.substr(dot + 1));
            if (value != Stamped(other, version, value.size())) wrong++;
            if (other == key && (!stored.contains(key) || stored[key] != version)) wrong++;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0u) << mib;
  }
}

}  // namespace
}  // namespace weft::cache
