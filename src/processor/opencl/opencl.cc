#include "processor/opencl/opencl.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "processor/opencl/device.h"
#include "processor/opencl/error.h"
#include "processor/opencl/program.h"
#include "processor/opencl/shared_pages.h"

namespace weft::processor {
namespace opencl {
namespace {

constexpr uint32_t kInFlightMax = 16;              // jobs with the driver
constexpr std::chrono::milliseconds kAskAgain{1};  // of a job whose wait failed
// A job as the kernel reads it. Kernels cannot take structs with pointers by value.
constexpr size_t kSlotBytes = 512;
static_assert(sizeof(task::QueryJob) <= kSlotBytes);
static_assert(kInFlightMax * kSlotBytes >= kLayoutBytes);  // CheckLayout uses the slots

class OpenClProcessor final : public Processor {
 public:
  OpenClProcessor(Device device, std::shared_ptr<const Context> context,
                  const OpenClOptions& options)
      : description_(device.info.description),
        context_(std::move(context)),
        inject_(options.inject),
        pages_(context_, description_.name, description_.allocation_bytes_max, options.inject) {}

  ~OpenClProcessor() override {
    if (!thread_.joinable()) return;
    {
      base::MutexLock lock(&mutex_);
      stopping_ = true;
      started_.NotifyAll();
    }
    thread_.join();
  }

  // Compiles the tasks and runs a first kernel.
  Status Open(const Device& device) {
    const std::string& name = description_.name;
    cl_int code = CL_SUCCESS;
    // In order: the driver takes kernels from it one by one.
    queue_ = Queue(clCreateCommandQueueWithProperties(context_->get(), device.id, nullptr, &code));
    if (code != CL_SUCCESS) return ErrorStatus(code, name + ": create a command queue");
    auto slots = pages_.Reserve(kInFlightMax * kSlotBytes, false);
    if (!slots) return slots.error();
    slots_ = std::move(*slots);
    auto program = BuildProgram(context_->get(), device);
    if (!program) return program.error();
    program_ = std::move(*program);
    if (Status status = CheckLayout(program_, queue_.get(), slots_.data()); !status.ok())
      return Status(status.code(), name + ": " + std::string(status.message()));
    auto thread = base::StartThread([this] { Run(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }

  const Description& description() const override { return description_; }
  cache::PageSource* pages() override { return &pages_; }
  void NoteLeft() override { pages_.KeepAll(); }

  Status Start(Job* job) override {
    base::MutexLock lock(&mutex_);
    if (in_flight_.size() == kInFlightMax || !waiting_.empty()) {
      job->Begin();
      waiting_.push_back(job);
      return {};
    }
    if (Status status = LaunchLocked(job); !status.ok()) return status;
    job->Begin();  // before Run can see its end, which takes the lock
    started_.NotifyOne();
    return {};
  }

 private:
  struct InFlight {
    Job* job;
    Event event;
  };

  cl_int Injected(const char* call) const { return inject_ ? inject_(call) : CL_SUCCESS; }

  // Hands a job to the driver. REQUIRES: fewer than kInFlightMax are with it
  Status LaunchLocked(Job* job) WEFT_REQUIRES(mutex_) {
    const std::string& name = description_.name;
    const cl_kernel kernel = program_.run_job.get();
    cl_int code = CL_SUCCESS;
    if (pages_.TakeChanges(&allocations_)) told_ = false;
    if (!told_) {
      code = clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                 allocations_.size() * sizeof(void*), allocations_.data());
      if (code != CL_SUCCESS) return ErrorStatus(code, name + ": set the kernel's memory");
      told_ = true;
    }
    // Jobs end in the order they were started, so the slot of the one kInFlightMax before is free.
    uint8_t* const slot = slots_.data() + next_slot_ * kSlotBytes;
    new (slot) task::QueryJob(job->query);
    code = clSetKernelArgSVMPointer(kernel, 0, slot);
    if (code != CL_SUCCESS) return ErrorStatus(code, name + ": submit a job");
    const uint32_t sets = std::max(task::SetCount(job->query), 1u);  // no range may be empty
    const size_t items = kSetQueries;
    const size_t all = size_t{sets} * kSetQueries;
    cl_event event = nullptr;
    code = Injected("clEnqueueNDRangeKernel");
    if (code == CL_SUCCESS)
      code = clEnqueueNDRangeKernel(queue_.get(), kernel, 1, nullptr, &all, &items, 0, nullptr,
                                    &event);
    if (code != CL_SUCCESS) return ErrorStatus(code, name + ": start a job");
    next_slot_ = (next_slot_ + 1) % kInFlightMax;
    in_flight_.push_back({job, Event(event)});
    // From here on the job is with the driver. Should this fail, the wait for the event, which does
    // the same, says so.
    clFlush(queue_.get());
    return {};
  }

  // Whether a command has ended: *ended is CL_COMPLETE, or the error that ended it.
  bool HasEnded(cl_event event, cl_int* ended) const {
    return Injected("clGetEventInfo") == CL_SUCCESS &&
           clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *ended, ended,
                          nullptr) == CL_SUCCESS &&
           *ended <= CL_COMPLETE;
  }

  // Waits for a command to end. That the wait failed does not mean that: the kernel may be at work
  // still, and its job is not its owner's before it has ended. Where nothing tells that it has,
  // the owner leaves the job in the end (pipeline/left_jobs.h).
  Status WaitFor(cl_event event) const {
    cl_int code = clWaitForEvents(1, &event);
    if (code == CL_SUCCESS) code = Injected("clWaitForEvents");
    if (code == CL_SUCCESS) return {};
    cl_int ended = CL_COMPLETE;
    while (!HasEnded(event, &ended)) std::this_thread::sleep_for(kAskAgain);
    return ExecutionStatus(ended < 0 ? ended : code, description_.name + ": run a job");
  }

  // Ends jobs in the order they were started.
  void Run() {
    base::SetThreadName("weft-opencl");
    for (;;) {
      Job* job = nullptr;
      cl_event event = nullptr;
      {
        base::MutexLock lock(&mutex_);
        while (in_flight_.empty() && !stopping_) started_.Wait(&mutex_);
        if (in_flight_.empty()) return;
        job = in_flight_.front().job;
        event = in_flight_.front().event.get();
      }
      job->Finish(WaitFor(event));
      EndFirst();
    }
  }

  // The first of those in flight has ended and is its owner's again. Starts those that wait.
  void EndFirst() {
    std::vector<std::pair<Job*, Status>> failed;
    {
      base::MutexLock lock(&mutex_);
      in_flight_.pop_front();
      while (!waiting_.empty() && in_flight_.size() < kInFlightMax) {
        Job* const job = waiting_.front();
        waiting_.pop_front();
        if (Status status = LaunchLocked(job); !status.ok())
          failed.emplace_back(job, std::move(status));
      }
    }
    for (auto& [job, status] : failed) job->Finish(std::move(status));
  }

  const Description description_;
  const std::shared_ptr<const Context> context_;
  const std::function<int(const char* call)> inject_;

  // Constant after Open.
  Queue queue_;
  Program program_;  // its kernels' arguments are set under mutex_
  std::thread thread_;

  SharedPages pages_;  // provides its own synchronisation
  cache::Pages slots_;

  base::Mutex mutex_;
  base::CondVar started_;
  std::deque<InFlight> in_flight_ WEFT_GUARDED_BY(mutex_);  // their slots end at next_slot_
  std::deque<Job*> waiting_ WEFT_GUARDED_BY(mutex_);
  uint32_t next_slot_ WEFT_GUARDED_BY(mutex_) = 0;
  std::vector<void*> allocations_ WEFT_GUARDED_BY(mutex_);
  bool told_ WEFT_GUARDED_BY(mutex_) = false;  // the kernel knows allocations_
  bool stopping_ WEFT_GUARDED_BY(mutex_) = false;
};

}  // namespace
}  // namespace opencl

std::vector<DeviceInfo> ListOpenCl() {
  std::vector<DeviceInfo> list;
  for (opencl::Device& device : opencl::FindDevices()) list.push_back(std::move(device.info));
  return list;
}

Result<std::unique_ptr<Processor>> OpenOpenCl(uint32_t number, const OpenClOptions& options) {
  std::vector<opencl::Device> devices = opencl::FindDevices();
  const std::string name = "opencl:" + std::to_string(number);
  if (number >= devices.size()) {
    return Status(Code::kNotFound, "there is no " + name + ": " + std::to_string(devices.size()) +
                                       " OpenCL devices were found");
  }
  const opencl::Device& device = devices[number];
  if (!device.info.unusable.empty())
    return Status(Code::kUnsupported, name + " cannot be used: " + device.info.unusable);
  cl_int code = CL_SUCCESS;
  auto context = std::make_shared<const opencl::Context>(
      clCreateContext(nullptr, 1, &device.id, nullptr, nullptr, &code));
  if (code != CL_SUCCESS) return opencl::ErrorStatus(code, name + ": create a context");
  auto processor = std::make_unique<opencl::OpenClProcessor>(device, std::move(context), options);
  if (Status status = processor->Open(device); !status.ok()) return status;
  return std::unique_ptr<Processor>(std::move(processor));
}

}  // namespace weft::processor
