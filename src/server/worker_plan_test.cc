// Batches that are under way on a device while the loop goes on (server/worker_plan.cc).
#include <gtest/gtest.h>

#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "processor/cpu_processor.h"
#include "processor/guard.h"
#include "server/worker_test_kit.h"

namespace weft::server {
namespace {

using net::Peer;

// A device whose jobs a test ends, and which may keep the thread that brings it one.
class JobsInHand final : public processor::Processor {
 public:
  const processor::Description& description() const override { return inner_->description(); }
  cache::PageSource* pages() override { return inner_->pages(); }
  Status Start(processor::Job* job) override {
    job->Begin();
    base::MutexLock lock(&mutex_);
    jobs_.push_back(job);
    begun_.NotifyAll();
    while (keeps_) begun_.Wait(&mutex_);
    return Status::Ok();
  }

  // Whoever brings a job from now on stays in Start.
  void Keep(bool keeps) {
    base::MutexLock lock(&mutex_);
    keeps_ = keeps;
    begun_.NotifyAll();
  }
  // Until so many were brought.
  void Await(size_t jobs) {
    base::MutexLock lock(&mutex_);
    while (jobs_.size() < jobs) begun_.Wait(&mutex_);
  }
  void End(size_t number) {
    processor::Job* job = nullptr;
    {
      base::MutexLock lock(&mutex_);
      job = std::exchange(jobs_[number], nullptr);
    }
    for (uint32_t set = 0; set < task::SetCount(job->query); set++) {
      if (task::ClaimSet(job->query, set))
        task::RunQueries(job->query, task::SetBegin(job->query, set), task::SetEnd(job->query, set),
                         0);
    }
    job->Finish(Status::Ok());
  }

 private:
  const std::unique_ptr<processor::Processor> inner_ = processor::NewCpuProcessor();
  base::Mutex mutex_;
  base::CondVar begun_;
  std::vector<processor::Job*> jobs_ WEFT_GUARDED_BY(mutex_);
  bool keeps_ WEFT_GUARDED_BY(mutex_) = false;
};

class WorkerPlan : public testing::TestWithParam<net::EventLoop::Kind> {};

// One whose batch has just been answered shares the next one with another, who has gone when the
// device has done it. Nothing may wait for the first one then: it has asked for nothing.
TEST_P(WorkerPlan, ABatchWhoseClientsHaveGoneEndsThoughOneWithoutAQueryStays) {
  auto owned = std::make_unique<JobsInHand>();
  JobsInHand& device = *owned;
  processor::Guard guard(std::move(owned));
  WorkerOptions options;
  options.plan =
      std::move(pipeline::Plan::Parse(
                    "[RV PP MM]cpu → [IN.search KC RD]gpu0 → [IN.insert IN.delete WR SD]cpu")
                    .value());
  options.devices = {&guard};
  options.device_batch_min = 2;
  CacheOptions small;
  small.memory_bytes = 4 << 20;
  WorkerServer server(options, small);
  server.Start(GetParam());
  Peer stays(server.address()), another(server.address()), looks(server.address());
  ASSERT_TRUE(stays.Send("get a\r\nget a\r\n"));
  device.Await(1);
  {
    Peer goes(server.address());
    device.Keep(true);
    ASSERT_TRUE(another.Send("get b\r\nget b\r\n"));
    device.Await(2);
    // Both are there when the loop goes on.
    device.End(0);
    ASSERT_TRUE(goes.Send("get c\r\nget c\r\n"));
    device.Keep(false);
    device.Await(3);
    EXPECT_EQ(stays.Receive(10), "END\r\nEND\r\n");
    const linger reset = {1, 0};
    ASSERT_EQ(setsockopt(goes.fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
  }
  for (int i = 0; i < 3; i++) EXPECT_EQ(Ask(looks, "mn\r\n", "MN\r\n"), "MN\r\n");
  device.End(1);
  device.End(2);
  EXPECT_EQ(another.Receive(10), "END\r\nEND\r\n");
  // Nobody keeps what others want to write over.
  cache::Client client(&server.store());
  for (int i = 0; i < 400; i++) {
    ASSERT_EQ(client.Set("key " + std::to_string(i), std::string(50'000, 'v')),
              weft::Outcome::kStored)
        << i;
  }
  EXPECT_EQ(Ask(stays, "mn\r\n", "MN\r\n"), "MN\r\n");
}

INSTANTIATE_TEST_SUITE_P(Kinds, WorkerPlan,
                         ::testing::Values(net::EventLoop::Kind::kEpoll,
                                           net::EventLoop::Kind::kUring),
                         net::KindName);

}  // namespace
}  // namespace weft::server
