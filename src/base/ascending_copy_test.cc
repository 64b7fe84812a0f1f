#include "base/ascending_copy.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace weft::base {
namespace {

// Two pages that processes share, of which the second may not be touched.
class SharedPages {
 public:
  SharedPages() {
    void* const data = ::mmap(nullptr, 2 * page_bytes(), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(data, MAP_FAILED);
    data_ = static_cast<char*>(data);
    EXPECT_EQ(::mprotect(data_ + page_bytes(), page_bytes(), PROT_NONE), 0);
  }
  ~SharedPages() { ::munmap(data_, 2 * page_bytes()); }
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  static size_t page_bytes() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  char* end() { return data_ + page_bytes(); }

 private:
  char* data_;
};

std::string Text(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; i++) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

TEST(AscendingCopy, CopiesAnyNumberOfBytesToAnyPlace) {
  for (size_t at = 0; at < 9; at++) {
    for (size_t bytes = 0; bytes < 100; bytes++) {
      std::string to(200, '.');
      const std::string from = Text(bytes);
      CopyAscending(to.data() + at, from.data(), bytes);
      ASSERT_EQ(to, std::string(at, '.') + from + std::string(200 - at - bytes, '.'));
    }
  }
}

TEST(AscendingCopy, WhoeverDiesInItLeavesABeginning) {
  SharedPages pages;
  for (const size_t there : {1u, 7u, 8u, 29u, 35u, 64u, 100u, 333u, 1000u}) {
    for (const size_t beyond : {1u, 8u, 63u, 64u, 500u, 3000u}) {
      const std::string from = Text(there + beyond);
      char* const to = pages.end() - there;
      std::memset(to, 0, there);
      const pid_t copier = ::fork();
      if (copier == 0) {
        ::signal(SIGSEGV, [](int) { ::_exit(7); });
        CopyAscending(to, from.data(), from.size());
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(copier, &status, 0), copier);
      ASSERT_EQ(WEXITSTATUS(status), 7) << "it was stopped where the second page begins";
      // All of it is there, but for a last word that reached into the other page.
      const std::string_view seen(to, there);
      const size_t stored = seen.find_last_not_of('\0') + 1;
      EXPECT_EQ(seen.substr(0, stored), from.substr(0, stored)) << there << " " << beyond;
      EXPECT_EQ(stored, there) << beyond;
    }
  }
}

}  // namespace
}  // namespace weft::base
