#include "lsm/event_queue.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>

namespace weft::lsm {
namespace {

class Recorder final : public EventListener {
 public:
  void OnFlush(const FlushEvent& event) override { numbers.push_back(event.file_number); }
  void OnWriteState(WriteState) override { thread = std::this_thread::get_id(); }
  std::vector<uint64_t> numbers;
  std::thread::id thread;
};

EventQueue::Event FlushOf(uint64_t number) {
  return [number](EventListener* listener) {
    FlushEvent event;
    event.file_number = number;
    listener->OnFlush(event);
  };
}

TEST(EventQueue, DeliversEverythingInOrderBeforeItEnds) {
  auto recorder = std::make_shared<Recorder>();
  {
    EventQueue queue({recorder});
    ASSERT_TRUE(queue.Start().ok());
    for (uint64_t i = 0; i < 1000; i++) queue.Tell(FlushOf(i));
  }
  ASSERT_EQ(recorder->numbers.size(), 1000u);
  for (uint64_t i = 0; i < 1000; i++) EXPECT_EQ(recorder->numbers[i], i);
}

TEST(EventQueue, EveryListenerHears) {
  auto one = std::make_shared<Recorder>();
  auto two = std::make_shared<Recorder>();
  {
    EventQueue queue({one, two});
    queue.Tell(FlushOf(7));  // waits for the start
    ASSERT_TRUE(queue.Start().ok());
  }
  EXPECT_EQ(one->numbers, std::vector<uint64_t>{7});
  EXPECT_EQ(two->numbers, one->numbers);
}

TEST(EventQueue, CallsFromAThreadOfItsOwn) {
  auto recorder = std::make_shared<Recorder>();
  {
    EventQueue queue({recorder});
    ASSERT_TRUE(queue.Start().ok());
    queue.Tell([](EventListener* listener) { listener->OnWriteState(WriteState::kFree); });
  }
  EXPECT_NE(recorder->thread, std::thread::id());
  EXPECT_NE(recorder->thread, std::this_thread::get_id());
}

TEST(EventQueue, WithoutListenersNothingIsKept) {
  EventQueue queue({});
  EXPECT_FALSE(queue.anybody());
  queue.Tell([](EventListener*) { FAIL(); });
}

}  // namespace
}  // namespace weft::lsm
