#include "stream.h"

#include <algorithm>

namespace opencl {
namespace {

/*! \brief At this number of events, those of finished commands are released. */
constexpr size_t kManyEvents = 64;

cl_int StatusOfCommand(cl_event event) {
  cl_int status = CL_COMPLETE;
  const cl_int code =
      clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr);
  return code == CL_SUCCESS ? status : code;
}

/*! \brief Failure for the first command that failed; all are done. */
void CheckCommands(const std::vector<Mark>& events) {
  for (const Mark& event : events) {
    const cl_int status = StatusOfCommand(event.get());
    if (status < 0) Check(status, "a command on the device");
  }
}

}  // namespace

Stream::~Stream() { clFinish(queue()); }

void Stream::Keep(std::vector<Mark> events, uint64_t work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (commands_.size() >= kManyEvents) {
    const auto is_done = [](const Command& command) {
      return StatusOfCommand(command.event.get()) == CL_COMPLETE;
    };
    commands_.erase(std::remove_if(commands_.begin(), commands_.end(), is_done), commands_.end());
  }
  for (Mark& event : events) commands_.push_back({std::move(event), work});
}

void Stream::KeepFailure(const Command& command) {
  const cl_int status = StatusOfCommand(command.event.get());
  // Later commands of the same call fail for the same reason, which is reported once.
  const bool is_told = !failures_.empty() && failures_.back().work() == command.work;
  if (status >= 0 || is_told) return;
  try {
    Check(status, "a command on the device");
  } catch (const Failure& failure) {
    failures_.emplace_back(failure.code(), failure.what(), command.work);
  }
}

void Stream::Sync() {
  std::vector<Command> commands;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    commands.swap(commands_);
  }
  const cl_int code = clFinish(queue());
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Command& command : commands) KeepFailure(command);
  if (!failures_.empty()) {
    const Failure failure = failures_.front();
    failures_.pop_front();
    throw failure;
  }
  Check(code, "clFinish");
}

void Event::Record(const Stream* stream) {
  Mark mark;
  if (stream != nullptr) {
    cl_event event = nullptr;
    Check(clEnqueueMarkerWithWaitList(stream->queue(), 0, nullptr, &event),
          "clEnqueueMarkerWithWaitList");
    mark = Mark(event);
    // OpenCL guarantees that another queue sees the marker only after a flush.
    Check(clFlush(stream->queue()), "clFlush");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  mark_ = std::move(mark);
}

void Event::Wait(const Stream* stream) const {
  Mark mark;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (mark_.get() == nullptr) return;
    Check(clRetainEvent(mark_.get()), "clRetainEvent");
    mark = Mark(mark_.get());
  }
  const cl_event event = mark.get();
  // An event cannot be waited for in a queue of another context.
  if (stream == nullptr || stream->context() != context_) {
    return Check(clWaitForEvents(1, &event), "clWaitForEvents");
  }
  Check(clEnqueueBarrierWithWaitList(stream->queue(), 1, &event, nullptr),
        "clEnqueueBarrierWithWaitList");
}

cl_event* Commands::NextEvent() {
  if (!events_.empty() && events_.back() == nullptr) events_.pop_back();  // that command failed
  events_.push_back(nullptr);
  return &events_.back();
}

std::vector<Mark> Commands::TakeEvents() {
  std::vector<Mark> taken;
  for (cl_event event : events_) {
    if (event != nullptr) taken.emplace_back(event);
  }
  events_.clear();
  return taken;
}

void Commands::Write(Location to, int64_t item, const char* from, size_t size) {
  device_->copies.fetch_add(1, std::memory_order_relaxed);
  Check(clEnqueueWriteBuffer(queue_, to.buffer, CL_FALSE, static_cast<size_t>(to.first * item),
                             size, from, 0, nullptr, NextEvent()),
        "clEnqueueWriteBuffer");
}

void Commands::Read(char* to, Location from, int64_t item, size_t size) {
  device_->copies.fetch_add(1, std::memory_order_relaxed);
  Check(clEnqueueReadBuffer(queue_, from.buffer, CL_FALSE, static_cast<size_t>(from.first * item),
                            size, to, 0, nullptr, NextEvent()),
        "clEnqueueReadBuffer");
}

void Commands::Zero(Location bytes, size_t size) {
  constexpr unsigned char kZero = 0;
  Check(clEnqueueFillBuffer(queue_, bytes.buffer, &kZero, sizeof(kZero),
                            static_cast<size_t>(bytes.first), size, 0, nullptr, NextEvent()),
        "clEnqueueFillBuffer");
}

void Commands::Launch(cl_kernel kernel, int64_t count) {
  const size_t group = device_->traits.group_size;
  const size_t items = (static_cast<size_t>(count) + group - 1) / group * group;
  Check(clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items, &group, 0, nullptr, NextEvent()),
        "clEnqueueNDRangeKernel");
}

void Commands::Wait() {
  if (stream_ != nullptr) {
    stream_->Keep(TakeEvents(), work_);
    return Check(clFinish(queue_), "clFinish");
  }
  const std::vector<Mark> events = TakeEvents();
  if (events.empty()) return;
  const cl_event last = events.back().get();  // the queue works in order
  const cl_int code = clWaitForEvents(1, &last);
  CheckCommands(events);
  Check(code, "clWaitForEvents");
}

void Commands::Finish() {
  if (stream_ == nullptr) return Wait();
  stream_->Keep(TakeEvents(), work_);
  Check(clFlush(queue_), "clFlush");
}

Commands::~Commands() {
  const std::vector<Mark> events = TakeEvents();
  if (!events.empty()) clFinish(queue_);
}

}  // namespace opencl
