#include "cache/page_shortage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"
#include "cache/cache_test_kit.h"

namespace weft::cache {
namespace {

// A file in memory whose file system has room, or none, as the test likes.
class FileOfPages final : public PageSource {
 public:
  FileOfPages() : fd_(memfd_create("weft-pages", MFD_CLOEXEC)), kept_(dup(fd_)) {
    WEFT_CHECK(fd_ >= 0 && kept_ >= 0);
  }
  ~FileOfPages() override {
    close(fd_);
    close(kept_);
  }

  Result<Pages> Reserve(size_t bytes, bool) override {
    WEFT_CHECK(ftruncate(fd_, static_cast<off_t>(bytes)) == 0);
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    WEFT_CHECK(data != MAP_FAILED);
    std::shared_ptr<void> owner(data, [bytes](void* at) { munmap(at, bytes); });
    return Pages(static_cast<uint8_t*>(data), bytes, std::move(owner), fd_, 0);
  }

  // A descriptor that may only be read has no room for anything.
  void SetFull(bool full) const {
    const int other = full ? open("/dev/null", O_RDONLY | O_CLOEXEC) : dup(kept_);
    WEFT_CHECK(other >= 0 && dup2(other, fd_) == fd_);
    close(other);
  }

 private:
  const int fd_;
  const int kept_;
};

class PageShortageTest : public testing::Test {
 protected:
  void Open(bool evict) {
    CacheOptions options;
    options.memory_bytes = 4 << 20;
    options.object_bytes_max = 64 << 10;
    options.huge_pages = false;
    options.evict = evict;
    auto store = Store::Open(options, SystemPages(), &pages_);
    ASSERT_TRUE(store) << store.error().ToString();
    store_ = std::move(*store);
  }
  // Stores that many objects of 1 KB; returns how many found room.
  uint32_t Fill(uint32_t count) {
    Client client(store_.get());
    uint32_t stored = 0;
    for (uint32_t i = 0; i < count; i++)
      stored += client.Set(Key(next_++), std::string(1000, 'x')) == Outcome::kStored;
    return stored;
  }
  // As if so many seconds had passed.
  void Later(uint32_t seconds) {
    const auto session = store_->NewSession();
    store_->Maintain(*session, 1, base::NowSeconds() + seconds);
  }
  uint64_t resident_bytes() const { return store_->log().resident_bytes(); }
  const PageShortage& shortage() const { return store_->log().shortage(); }

  FileOfPages pages_;
  std::unique_ptr<Store> store_;
  uint64_t next_ = 0;
};

TEST_F(PageShortageTest, TheBudgetComesBackWithTheRoom) {
  Open(true);
  ASSERT_EQ(Fill(1000), 1000u);
  pages_.SetFull(true);
  ASSERT_EQ(Fill(5000), 5000u) << "what is there makes room";
  const uint64_t had_bytes = resident_bytes();
  EXPECT_LT(had_bytes, uint64_t{2} << 20);
  EXPECT_TRUE(shortage().lasts);
  const uint64_t refused = shortage().refused;
  EXPECT_GE(refused, 1u);
  Later(2);
  EXPECT_TRUE(shortage().lasts) << "it is full still";
  EXPECT_EQ(shortage().refused, refused + 1);
  ASSERT_EQ(Fill(100), 100u);
  EXPECT_EQ(resident_bytes(), had_bytes);
  pages_.SetFull(false);
  Later(4);
  EXPECT_FALSE(shortage().lasts);
  ASSERT_EQ(Fill(5000), 5000u);
  EXPECT_GT(resident_bytes(), uint64_t{3} << 20) << "it had " << had_bytes;
}

TEST_F(PageShortageTest, AskedTwiceInASecondItAsksOnce) {
  Open(true);
  ASSERT_EQ(Fill(1000), 1000u);
  pages_.SetFull(true);
  Fill(5000);
  const uint64_t refused = shortage().refused;
  const auto session = store_->NewSession();
  const uint32_t now_s = base::NowSeconds() + 5;
  // The time of asking is the clock's, whatever the caller says.
  store_->log().AskForPages(now_s);
  EXPECT_EQ(shortage().refused, refused + 1);
  store_->log().AskForPages(shortage().asked_s);
  EXPECT_EQ(shortage().refused, refused + 1);
}

TEST_F(PageShortageTest, WithNothingToEvictStoresAreRefusedUntilThereIsRoom) {
  Open(false);
  ASSERT_EQ(Fill(500), 500u);
  pages_.SetFull(true);
  const uint32_t stored = Fill(500);
  EXPECT_LT(stored, 500u);
  pages_.SetFull(false);
  Later(2);
  EXPECT_EQ(Fill(500), 500u);
}

TEST_F(PageShortageTest, ABudgetThatIsSetMeanwhileHolds) {
  Open(true);
  ASSERT_EQ(Fill(1000), 1000u);
  pages_.SetFull(true);
  Fill(5000);
  constexpr uint64_t kLessBytes = 3 << 20;
  ASSERT_TRUE(store_->SetMemoryLimit(kLessBytes).ok());
  Fill(5000);
  pages_.SetFull(false);
  Later(2);
  Fill(5000);
  EXPECT_FALSE(shortage().lasts);
  EXPECT_LE(resident_bytes(), kLessBytes);
}

}  // namespace
}  // namespace weft::cache
