/*!
 * \file classes.cc
 * \brief Classes that test how C++ objects look in Python.
 */
#include <mxnet/runtime/class.h>

#include <optional>

#include "numbers.h"

namespace testing {
namespace {

using namespace mxnet::runtime;  // NOLINT(build/namespaces): tests of all of it

struct Counter {
  explicit Counter(int64_t start, std::string label) : value(start), name(std::move(label)) {}

  int64_t Add(int64_t by) { return value = CheckedSum(value, by); }
  bool IsPositive() const noexcept { return value > 0; }
  bool operator==(const Counter& other) const { return value == other.value && name == other.name; }

  int64_t value;
  std::string name;
  double step{0.5};
  bool active{true};
};

/*! \brief Derives from Counter, which does not come first in it. */
struct Tag {
  virtual ~Tag() = default;
  int64_t tag{7};
};
struct NamedCounter : Tag, Counter {
  explicit NamedCounter(int64_t start) : Counter(start, "named") {}
  std::vector<int64_t> history;
};

struct Node {
  Any value;
  std::optional<Ref<Node>> next;
};

/*! \brief State that no field shows. */
class Account {
 public:
  explicit Account(double balance) : balance_(balance) {}
  void Pay(double amount) {
    if (amount > balance_) MXNET_THROW("ValueError") << "the balance is " << balance_;
    balance_ -= amount;
  }
  double balance() const { return balance_; }
  void set_balance(double balance) { balance_ = balance; }

 private:
  double balance_;
};

struct Hidden {};

MXNET_REGISTER_CLASS(Counter, "testing.Counter")
    .describe("Counts.")
    .def_init<int64_t, std::string>()
    .arg("start", 0, "Where it begins.")
    .arg("name", "counter", "What it is called.")
    .def_readwrite("value", &Counter::value, "What it has come to.")
    .def_readwrite("name", &Counter::name)
    .def_readwrite("step", &Counter::step)
    .def_readwrite("active", &Counter::active)
    .def_property("is_positive", &Counter::IsPositive, "Whether value is above 0.")
    .def("add", &Counter::Add, "Counts on, and returns the new value.")
    .arg("by", 1, "How far.")
    .def("add_all",
         [](Counter& self, Variadic<int64_t> each) {
           for (int64_t by : each) self.Add(by);
           return self.value;
         })
    .def("__hash__", [](const Counter& self) { return self.value; })
    .def("__lt__",
         [](const Counter& self, const Counter& other) { return self.value < other.value; })
    .def_static("of",
                [](const std::vector<int64_t>& values) {
                  return Counter(static_cast<int64_t>(values.size()), "of");
                })
    .arg("values", "What is counted.")
    .def_eq()
    .def_copy();

MXNET_REGISTER_CLASS(NamedCounter, "testing.NamedCounter")
    .describe("A counter that remembers.")
    .def_base<Counter>()
    .def_init<int64_t>()
    .arg("value", "Where it begins.")
    .def_readwrite("history", &NamedCounter::history)
    .def_readonly("tag", &NamedCounter::tag);

MXNET_REGISTER_CLASS(Node, "testing.Node")
    .describe("A value, and what follows it.")
    .def_init([](Any value, std::optional<Ref<Node>> next) {
      return Node{std::move(value), std::move(next)};
    })
    .arg("value")
    .arg("next", nullptr, "")
    .def_readwrite("value", &Node::value)
    .def_readwrite("next", &Node::next);

MXNET_REGISTER_CLASS(Account, "testing.Account")
    .describe("Money.")
    .def_init<double>()
    .arg("balance")
    .def_property("balance", &Account::balance, &Account::set_balance, "What is left.")
    .def("pay", &Account::Pay)
    .arg("amount")
    .def("deposit",
         [](Account& self, double amount, double fee, const std::string& note) {
           self.set_balance(self.balance() + amount - fee);
           return note;
         })
    .arg("amount")
    .keyword_only()
    .arg("fee", 0.5)
    .arg("note", "deposit", "What comes back.")
    .def("__repr__", [](const Account&) { return std::string("<account>"); })
    .def("__len__", [](const Account& self) { return CheckedInt(self.balance()); })
    .def_pickle([](const Account& self) { return self.balance(); },
                [](double balance) { return Account(balance); });

MXNET_REGISTER_CLASS(Hidden, "testing.Hidden").describe("Made by C++ only.");

MXNET_REGISTER_API("testing.hidden")
    .describe("Makes an object that Python cannot make.")
    .set_body_typed([] { return Hidden(); });

MXNET_REGISTER_API("testing.count_on")
    .describe("Counts on twice: through a reference and through a shared owner.")
    .arg("counter", "Of Counter, or of a class that derives from it.")
    .arg("shared", "The same or another.")
    .set_body_typed([](Counter& counter, Ref<Counter> shared) {
      counter.Add(1);
      shared->Add(10);
      return shared;
    });

MXNET_REGISTER_API("testing.call_method")
    .describe("Reads a counter in C++.")
    .arg("counter")
    .set_body_typed([](const Counter& counter) { return counter.value; });

}  // namespace
}  // namespace testing
