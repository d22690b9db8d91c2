// Functions that the tests of debugging, threads and signals load; compiled with -g.
#include <mxnet/runtime/registry.h>
#include <mxnet/runtime/signals.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

using namespace mxnet::runtime;  // NOLINT: as an op author would

namespace {

int Pick(const std::vector<int>& values, int index) { return values.at(index); }  // line: at

__attribute__((noinline)) int PickOneMore(int index) {
  return Pick({1, 2, 3}, index) + 1;  // line: pick
}

MXNET_REGISTER_API("native.pick").set_body_typed([](int index) {
  return PickOneMore(index);  // line: body
});

MXNET_REGISTER_API("native.reject").set_body_typed([](int value) {
  if (value < 0) MXNET_THROW("KeyError") << "no " << value;  // line: throw
  return value;
});

MXNET_REGISTER_API("native.call").set_body([](MXNetArgs args, MXNetRetValue* ret) {
  *ret = args[0].As<PackedFunc>()(args[1].As<int>());  // line: call
});

MXNET_REGISTER_API("native.call_in_thread")
    .describe("Calls a function in a thread that the interpreter has never seen.")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const auto func = args[0].As<PackedFunc>();
      Any result;
      std::string failure;
      std::thread([&] {
        try {
          result = func().As<Any>();
        } catch (const Error& error) {
          failure = error.kind() + ": " + error.message();
        }
      }).join();
      if (failure.empty()) *ret = result;
      if (!failure.empty()) *ret = failure;
    })
    .release_gil();

MXNET_REGISTER_API("native.call_for_ever")
    .describe("Goes on calling a function in a thread of its own.")
    .set_body([](MXNetArgs args, MXNetRetValue*) {
      std::thread([func = args[0].As<PackedFunc>()] {
        try {
          for (;;) func();
        } catch (const Error&) {
        }
      }).detach();
    });

MXNET_REGISTER_API("native.drop_slowly")
    .describe("Drops what it is given, one after the other, in a thread of its own.")
    .set_body([](MXNetArgs args, MXNetRetValue*) {
      std::vector<Any> kept;
      for (int i = 0; i < args.size(); ++i) kept.push_back(args[i].As<Any>());
      std::thread([kept = std::move(kept)]() mutable {
        for (; !kept.empty(); kept.pop_back()) {
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
      }).detach();
    });

void Spin(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) CheckSignals();
}

MXNET_REGISTER_API("native.spin").set_body_typed([](double seconds) { Spin(seconds); });
MXNET_REGISTER_API("native.spin_without_gil")
    .set_body_typed([](double seconds) { Spin(seconds); })
    .release_gil();

PackedFunc kept;  // NOLINT: as long as the process

MXNET_REGISTER_API("native.keep").set_body_typed([](PackedFunc func) { kept = func; });

MXNET_REGISTER_API("native.crash").set_body_typed([](int number, std::string) {
  if (number > 0) std::raise(number);
  volatile int* nowhere = nullptr;
  if (number == 0) *nowhere = 1;
});

}  // namespace
