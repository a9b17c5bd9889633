// SPDX-License-Identifier: Apache-2.0
// _WaitSet: the C++ part of the package's class WaitSet. Its tokens are numbers.
#include "halyard/wait_set.h"

#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "args.h"
#include "ipc/topics.h"

namespace halyard::python {
namespace {

struct PyWaitSet {
  explicit PyWaitSet(WaitSet made) : set(std::move(made)) {}
  std::map<std::uint64_t, std::shared_ptr<Endpoint>> endpoints;  ///< by token; outlive the set
  WaitSet set;
  std::uint64_t next_token = 1;
  bool is_used = false;  ///< by a call, on any thread
};

// One thread uses the set at a time: a second call raises.
class Use {
 public:
  explicit Use(PyWaitSet& set) : set_(set) {
    if (set.is_used) raise(Errc::busy, "wait set: another call uses it");
    set.is_used = true;
  }
  ~Use() { set_.is_used = false; }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  PyWaitSet& set_;
};

std::uint64_t add_topic(PyWaitSet& self, nb::handle object) {
  const Use use(self);
  const PyEndpoint* given = nullptr;
  if (!nb::try_cast(object, given) || given == nullptr)
    raise_wrong_type("topic", "a Topic", object);
  const auto endpoint = open_endpoint(*given);
  const std::uint64_t token = self.next_token++;
  check(self.set.add(*endpoint->topic, token));
  self.endpoints.emplace(token, endpoint);
  return token;
}

std::uint64_t add_timer(PyWaitSet& self, nb::handle seconds) {
  const Use use(self);
  const std::chrono::nanoseconds interval = timeout_from(seconds, "interval");
  if (interval.count() < 0)
    raise(Errc::invalid_argument, "interval: must be a number of seconds, below 10^9");
  check(self.set.add_timer(interval, self.next_token));
  return self.next_token++;
}

std::uint64_t add_fd(PyWaitSet& self, nb::handle fd) {
  const Use use(self);
  check(self.set.add_fd(int_from(fd, "fd"), self.next_token));
  return self.next_token++;
}

void remove(PyWaitSet& self, std::uint64_t token) {
  const Use use(self);
  self.set.remove(token);
  const auto found = self.endpoints.find(token);
  if (found == self.endpoints.end()) return;
  const auto last = std::move(found->second);
  self.endpoints.erase(found);
}

nb::object wait(PyWaitSet& self, nb::handle timeout) {
  const Use use(self);
  const WaitSlices slices(timeout_from(timeout, "timeout"), signal_slice);
  for (;;) {
    for (const auto& [token, endpoint] : self.endpoints)
      endpoint->check();
    const auto tokens = take(released([&] { return self.set.wait(slices.next()); }));
    if (!tokens.empty() || slices.is_over()) {
      nb::list found;
      for (const std::uint64_t token : tokens)
        found.append(token);
      return found;
    }
    check_signals();
  }
}

}  // namespace

void bind_wait_set(nb::module_& m) {
  nb::class_<PyWaitSet>(m, "_WaitSet", "Topics, timers and descriptors, for the class WaitSet.")
      .def("__init__", [](PyWaitSet* self) { new (self) PyWaitSet(take(WaitSet::create())); })
      .def("add", &add_topic, nb::arg("endpoint"))
      .def("add_timer", &add_timer, nb::arg("interval"))
      .def("add_fd", &add_fd, nb::arg("fd"))
      .def("remove", &remove, nb::arg("token"))
      .def("wait", &wait, nb::arg("timeout").none(),
           nb::sig("def wait(self, timeout: float | None) "
                   "-> list[int]"));
}

}  // namespace halyard::python
