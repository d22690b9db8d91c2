// What several threads do to the registry, objects, the pool and traces at once. ThreadSanitizer
// runs this; without it, it shows at least that nothing is lost.
#include <mxnet/runtime/backtrace.h>
#include <mxnet/runtime/entrance.h>
#include <mxnet/runtime/signals.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "./support.h"

using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 200;

/*! \brief Runs work(number of the thread, round) in several threads that start together. */
void InThreads(const std::function<void(int, int)>& work) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int i = 0; i < kRounds; ++i) work(t, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

PackedFunc Global(const char* name) { return PackedFunc::GetGlobal(name); }

}  // namespace

TEST_CASE("an entrance that is closed waits for those inside, and lets in nobody else") {
  for (int round = 0; round < kRounds; ++round) {
    Entrance entrance;
    std::atomic<bool> is_closed{false};
    std::atomic<int> late{0}, visits{0};
    const auto enter = [&] { std::this_thread::yield(); };
    const auto stay = [&] {
      std::this_thread::yield();
      if (is_closed) ++late;
      ++visits;
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        while (entrance.Visit(enter, stay)) {
        }
      });
    }
    while (visits == 0) std::this_thread::yield();
    entrance.Close();
    is_closed = true;
    for (std::thread& thread : threads) thread.join();
    CHECK(late == 0);
    CHECK(!entrance.Visit(enter, stay));
  }
}

TEST_CASE("an entrance that is closed waits for those who enter, but not for ever for who stays") {
  Entrance entrance;
  std::atomic<bool> is_entering{false}, has_entered{false}, may_leave{false};
  const auto enter = [&] {
    is_entering = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    has_entered = true;
  };
  const auto stay = [&] {
    while (!may_leave) std::this_thread::yield();
  };
  std::thread thread([&] { entrance.Visit(enter, stay); });
  while (!is_entering) std::this_thread::yield();
  entrance.Close(std::chrono::milliseconds(1));
  CHECK(has_entered);
  may_leave = true;
  thread.join();
}

TEST_CASE("an entrance closes while many go on trying to enter") {
  Entrance entrance;
  std::atomic<bool> is_closed{false}, is_over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([&] {
      while (!is_over) entrance.Visit([] {}, [] {});
    });
  }
  threads.emplace_back([&] {
    entrance.Close();
    is_closed = true;
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_closed && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(is_closed);
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("threads register, look up, call and remove functions") {
  std::atomic<int> wrong{0};
  InThreads([&](int thread, int round) {
    const std::string name = "tests.concurrent" + std::to_string(round % 3);
    Registry(name, __FILE__, __LINE__)
        .set_body_typed([round](int given) { return given + round - round; })
        .override_existing()
        .Commit();
    const PackedFunc found = Global(name.c_str());
    if (found.defined() && found(thread).As<int>() != thread) ++wrong;
    if (round % 10 == 0) MXNetFuncRemoveGlobal(name.c_str());
    int size = 0;
    const char** names = nullptr;
    if (round % 20 == 0 && MXNetFuncListGlobalNames(&size, &names) != 0) ++wrong;
  });
  for (int i = 0; i < 3; ++i) {
    MXNetFuncRemoveGlobal(("tests.concurrent" + std::to_string(i)).c_str());
  }
  CHECK(wrong == 0);
}

namespace {

/*! \brief A callable of a front end: how many functions refer to it. */
struct Callable {
  std::atomic<int> references{0};

  static int Call(void* self, const MXNetValue*, const int*, int, MXNetValue* ret, int* code) {
    ret->v_int64 = static_cast<Callable*>(self)->references > 0;
    *code = kMXNetInt;
    return 0;
  }
  static void Release(void* self) { --static_cast<Callable*>(self)->references; }
};

PackedFunc FunctionOf(Callable* callable) {
  MXNetFunctionHandle handle = nullptr;
  ++callable->references;
  MXNET_CHECK_CALL(MXNetFuncFromCallable(&Callable::Call, callable, &Callable::Release, &handle));
  return PackedFunc(ObjectRef::Steal(handle));
}

}  // namespace

TEST_CASE("threads find the one function of a callable while another drops it") {
  Callable callables[2];
  std::atomic<int> wrong{0};
  InThreads([&](int, int round) {
    Callable* callable = &callables[round % 2];
    const PackedFunc first = FunctionOf(callable);
    const PackedFunc second = FunctionOf(callable);
    if (!first.same_as(second) || first().As<int>() != 1) ++wrong;
    if (first.get()->peer != callable) ++wrong;
  });
  CHECK(wrong == 0);
  for (const Callable& callable : callables) CHECK(callable.references == 0);
}

TEST_CASE("a function of a callable that lies deep in what is deleted goes, too") {
  Callable callable;
  PackedFunc chain = FunctionOf(&callable);
  for (int i = 0; i < 200; ++i) {
    chain = PackedFunc([inner = std::move(chain)](MXNetArgs, MXNetRetValue* ret) { *ret = inner; });
  }
  CHECK(callable.references == 1);
  chain = PackedFunc();
  CHECK(callable.references == 0);
}

TEST_CASE("threads share objects, and the last one frees them") {
  static std::atomic<int> alive{0};
  struct Counted {
    MXNetObject header;
    Counted() { ++alive; }
    ~Counted() { --alive; }
  };
  const uint32_t index = [] {
    uint32_t out = 0;
    MXNetObjectTypeKey2Index("tests.Counted", &out);
    return out;
  }();
  std::vector<ObjectRef> shared(8);
  for (ObjectRef& ref : shared) ref = ObjectRef::Steal(NewObject<Counted>(index));
  Array<Any> array({details::ToAny(shared[0]), details::ToAny(std::string("text"))});
  const PackedFunc echo = Global("ffi.echo");
  std::atomic<int> wrong{0};
  InThreads([&](int thread, int round) {
    ObjectRef copy = shared[(thread + round) % shared.size()];
    const ObjectRef own = ObjectRef::Steal(NewObject<Counted>(index));
    if (!echo(copy).As<ObjectRef>().same_as(copy)) ++wrong;
    const Array<Any> same = array;
    if (same.size() != 2 || own.type_index() != index) ++wrong;
    uint32_t key = 0;
    const std::string name = "tests.Type" + std::to_string(round % 5);
    if (MXNetObjectTypeKey2Index(name.c_str(), &key) != 0 || key < kMXNetObjectDynamic) ++wrong;
  });
  array = Array<Any>();
  shared.clear();
  CHECK(wrong == 0);
  CHECK(alive == 0);
}

TEST_CASE("blocks of the pool move between threads") {
  std::vector<std::atomic<MXNetObject*>> slots(16);
  std::atomic<int> wrong{0};
  InThreads([&](int thread, int round) {
    NDArray mine =
        NDArray::Empty(Shape{16 << (round % 6)}, DLDataType{kDLInt, 64, 1}, DLDevice{kDLCPU, 0});
    int64_t* data = mine.data_as<int64_t>();
    for (int64_t i = 0; i < mine.size(); ++i) data[i] = thread;
    // Whoever takes it out of the slot frees it, on another thread in most cases.
    MXNetObject* other = slots[(thread * 7 + round) % slots.size()].exchange(mine.Detach());
    const NDArray taken(ObjectRef::Steal(other));
    for (int64_t i = 0; other != nullptr && i < taken.size(); ++i) {
      if (taken.data_as<int64_t>()[i] != taken.data_as<int64_t>()[0]) ++wrong;
    }
  });
  for (auto& slot : slots) MXNetObjectFree(slot.exchange(nullptr));
  CHECK(wrong == 0);
}

TEST_CASE("threads call while traces begin and end") {
  const PackedFunc start = Global("ffi.trace.start"), stop = Global("ffi.trace.stop");
  const PackedFunc calls = Global("ffi.trace.calls"), json = Global("ffi.trace.json");
  const PackedFunc echo = Global("ffi.echo");
  std::atomic<int> wrong{0};
  InThreads([&](int thread, int round) {
    if (thread > 0) {
      if (echo(round).As<int>() != round) ++wrong;
      return;
    }
    const ObjectRef trace = start(50).As<ObjectRef>();
    echo("text");
    if (calls(trace).As<Tuple>().size() > 50) ++wrong;
    stop(trace);
    if (json(trace).As<std::string>().find("traceEvents") == std::string::npos) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("a trace taken from C++ has what was called meanwhile") {
  const ObjectRef trace = Global("ffi.trace.start")().As<ObjectRef>();
  Global("ffi.echo")(std::string("text"));
  Global("ffi.trace.stop")(trace);
  const Tuple calls = Global("ffi.trace.calls")(trace).As<Tuple>();
  REQUIRE(calls.size() >= 1);
  const Tuple call = calls[0].As<Tuple>();
  CHECK(call[0].As<std::string>() == "ffi.echo");
  CHECK(call[1].As<std::string>() == "'text'");
  CHECK(call[2].As<std::string>() == "'text'");
  CHECK_FALSE(call[3].As<bool>());
  CHECK(Global("ffi.trace.dropped")(trace).As<int>() == 0);
}

TEST_CASE("errors and the notes of their throws belong to their threads") {
  Global("ffi.backtrace.set_mode")(2);
  std::atomic<int> wrong{0};
  InThreads([&](int thread, int round) {
    const PackedFunc fail(
        [&](MXNetArgs, MXNetRetValue*) { MXNET_THROW("ValueError") << thread << ":" << round; });
    MXNetValue ret;
    int code = kMXNetNull;
    if (MXNetFuncCall(fail.get(), nullptr, nullptr, 0, &ret, &code) != -1) ++wrong;
    const MXNetErrorInfo* info = MXNetGetLastError();
    const std::string expected = std::to_string(thread) + ":" + std::to_string(round);
    if (std::string(info->message.data, info->message.size) != expected) ++wrong;
#if defined(MXNET_WATCHES_THROWS)
    const MXNetErrorFrame last = info->frames[info->num_frames - 1];
    if (info->num_frames < 2 || std::string(last.function, 2) != "0x") ++wrong;
#endif
    CheckSignals();
  });
  Global("ffi.backtrace.set_mode")(1);
  CHECK(wrong == 0);
}
