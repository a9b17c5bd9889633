// SPDX-License-Identifier: Apache-2.0
// _Endpoint: the C++ part of the package's class Topic.
#include "ipc/topics.h"

#include <nanobind/stl/string.h>

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "args.h"
#include "halyard/depth_image.h"
#include "halyard/image_message.h"
#include "halyard/point_cloud.h"
#include "words.h"

namespace halyard::python {
namespace {

using EndpointClass = nb::class_<PyEndpoint>;

// Interval at which a blocked send() checks for signals. Each attempt counts as a refusal in the
// topic's memory, which other processes see.
constexpr std::chrono::nanoseconds send_slice = std::chrono::milliseconds(250);

std::optional<std::uint32_t> number_or_none(nb::handle object, const char* argument) {
  if (object.is_none()) return std::nullopt;
  return static_cast<std::uint32_t>(size_from(object, argument, UINT32_MAX));
}

std::optional<Overflow> overflow_from(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return word_from<Overflow>(object, "overflow", "overflow");
}

// The type of Topic's messages: the kind by name, and for plain and serialized ones name, size and
// alignment.
std::pair<MessageKind, MessageType> type_from(nb::handle kind, nb::handle name, nb::handle size,
                                              nb::handle alignment) {
  const std::string text = text_from(kind, "type");
  if (text == "Tensor") return {MessageKind::tensor, detail::message_type<Tensor>()};
  if (text == "Image") return {MessageKind::image, detail::message_type<Image>()};
  if (text == "PointCloud") return {MessageKind::point_cloud, detail::message_type<PointCloud>()};
  if (text == "DepthImage") return {MessageKind::depth_image, detail::message_type<DepthImage>()};
  if (text == "bytes") return {MessageKind::bytes, detail::message_type<std::vector<std::byte>>()};
  const std::string named = text_from(name, "message_name");
  if (text == "serialized") return {MessageKind::bytes, MessageType::serialized(named)};
  return {MessageKind::plain, MessageType::plain(named, size_from(size, "type", UINT32_MAX),
                                                 size_from(alignment, "type"))};
}

TopicConfig config_from(const nb::dict& options) {
  TopicConfig config;
  config.depth = number_or_none(options["depth"], "depth");
  config.overflow = overflow_from(options["overflow"]);
  config.history = number_or_none(options["history"], "history");
  config.max_endpoints = number_or_none(options["max_endpoints"], "max_endpoints");
  const nb::object pool = options["pool"];
  if (!pool.is_none()) config.pool = pool_config_from(pool, "pool");
  config.role = word_from<TopicRole>(options["role"], "role", "role");
  config.latest_only = truth_from(options["latest_only"]);
  config.receives_own = truth_from(options["receives_own"]);
  config.block_timeout = timeout_from(options["block_timeout"], "block_timeout");
  config.max_shared_frames = number_or_none(options["max_shared_frames"], "max_shared_frames");
  return config;
}

std::shared_ptr<Endpoint> join(nb::handle name, nb::handle kind, nb::handle message_name,
                               nb::handle size, nb::handle alignment, const nb::dict& options) {
  const auto [message_kind, type] = type_from(kind, message_name, size, alignment);
  const TopicConfig config = config_from(options);
  auto made = std::make_shared<Endpoint>();
  made->name = text_from(name, "name");
  made->kind = message_kind;
  made->block_timeout = config.block_timeout;
  made->topic = take(released([&, &type = type] {
    auto joined = TopicEndpoint::create(made->name, type, config);
    if (joined) made->blocks = (*joined)->stats().overflow == Overflow::block;
    return joined;
  }));
  return made;
}

// Waits for space in parts, so that Ctrl-C ends it.
Status send_in_slices(Endpoint& endpoint, std::span<const std::byte> bytes, const Tensor* frame,
                      std::chrono::nanoseconds timeout) {
  const WaitSlices slices(timeout, send_slice);
  for (;;) {
    const Status sent =
        released([&] { return endpoint.topic->send_for(bytes, frame, slices.next()); });
    if (sent || sent.error().code != Errc::timeout || slices.is_over()) return sent;
    ++endpoint.refused_early;
    check_signals();
    endpoint.check();
  }
}

void send(const PyEndpoint& self, nb::handle message, nb::handle timeout) {
  const auto endpoint = open_endpoint(self);
  const std::chrono::nanoseconds wait =
      timeout.is_none() ? endpoint->block_timeout : timeout_from(timeout, "timeout");
  send_object(*endpoint, message, [&](std::span<const std::byte> bytes, const Tensor* frame) {
    check(endpoint->blocks ? send_in_slices(*endpoint, bytes, frame, wait)
                           : released([&] { return endpoint->topic->send(bytes, frame); }));
  });
}

// The next message that can be read; null: none. A message that cannot be read counts as lost.
nb::object take_message(Endpoint& endpoint, std::vector<std::byte>& bytes) {
  TopicEndpoint& topic = *endpoint.topic;
  for (;;) {
    Tensor frame;
    const TopicEndpoint::Incoming incoming =
        released([&] { return topic.recv(bytes, topic.type().has_frame ? &frame : nullptr); });
    endpoint.lost += incoming.lost;
    if (!incoming.has_message) return {};
    Result<nb::object> message = message_object(endpoint.kind, bytes, std::move(frame));
    if (message) return *std::move(message);
    topic.count_malformed(message.error());
    ++endpoint.lost;
  }
}

nb::object recv(const PyEndpoint& self, nb::handle timeout) {
  const auto endpoint = open_endpoint(self);
  const WaitSlices slices(timeout_from(timeout, "timeout"), signal_slice);
  std::vector<std::byte> bytes(endpoint->topic->type().inline_bytes);
  for (;;) {
    nb::object message = take_message(*endpoint, bytes);
    if (message.is_valid()) return message;
    if (slices.is_over()) return nb::none();
    released([&] { return endpoint->topic->wait_for(slices.next()); });
    check_signals();
    endpoint->check();
  }
}

TopicStats topic_stats(const PyEndpoint& self) {
  const auto endpoint = open_endpoint(self);
  TopicStats stats = released([&] { return endpoint->topic->stats(); });
  stats.refused -= std::min(stats.refused, endpoint->refused_early.load());
  return stats;
}

void bind_topic_stats(nb::module_& m) {
  using Stats = TopicStats;
  nb::class_<Stats>(m, "TopicStats",
                    "The counters of one endpoint, and the properties of the topic.")
      .def_ro("depth", &Stats::depth, "Messages kept for each publisher.")
      .def_ro("history", &Stats::history, "Messages that a late subscriber gets.")
      .def_ro("max_endpoints", &Stats::max_endpoints)
      .def_prop_ro(
          "overflow", [](const Stats& s) { return std::string(to_string(s.overflow)); },
          "\"drop_oldest\", \"drop_newest\" or \"block\".")
      .def_ro("publishers", &Stats::publishers, "Other endpoints, in all processes.")
      .def_ro("subscribers", &Stats::subscribers, "Other endpoints, in all processes.")
      .def_ro("sent", &Stats::sent)
      .def_ro("refused", &Stats::refused, "Messages that send() did not take.")
      .def_ro("received", &Stats::received)
      .def_ro("lost", &Stats::lost,
              "Messages that were overwritten before this endpoint read them.")
      .def_ro("copied", &Stats::copied,
              "Frames that were in no pool and were copied into the topic's.")
      .def_ro("copied_bytes", &Stats::copied_bytes)
      .def_ro("corrupt", &Stats::corrupt, "Lost messages that were malformed.")
      .def_prop_ro(
          "last_error",
          [](const Stats& s) -> nb::object {
            return s.last_error.code == Errc::ok ? nb::none() : str_of(s.last_error.message());
          },
          nb::sig("def last_error(self) -> str | None"),
          "Reason of the last message that was lost for another reason than the overflow rule.");
}

void add_messages(EndpointClass& cls) {
  cls.def(
         "__init__",
         [](PyEndpoint* self, nb::handle name, nb::handle kind, nb::handle message_name,
            nb::handle size, nb::handle alignment, const nb::dict& options) {
           new (self) PyEndpoint{join(name, kind, message_name, size, alignment, options)};
         },
         nb::arg("name"), nb::arg("kind"), nb::arg("message_name").none(), nb::arg("size"),
         nb::arg("alignment"), nb::arg("options"))
      .def("send", &send, nb::arg("message"), nb::arg("timeout") = nb::none())
      .def("recv", &recv, nb::arg("timeout") = nb::none())
      .def("has_message",
           [](const PyEndpoint& self) {
             const auto endpoint = open_endpoint(self);
             return released([&] { return endpoint->topic->has_message(); });
           })
      .def("fileno",
           [](const PyEndpoint& self) {
             const auto endpoint = open_endpoint(self);
             return released([&] { return endpoint->topic->fd(); });
           })
      .def("count_malformed", [](const PyEndpoint& self) {
        const auto endpoint = open_endpoint(self);
        endpoint->topic->count_malformed(
            make_error(Errc::malformed, "message: its serializer refuses it"));
        ++endpoint->lost;
      });
}

void add_state(EndpointClass& cls) {
  cls.def("stats", &topic_stats)
      .def(
          "pool",
          [](const PyEndpoint& self) {
            const auto endpoint = open_endpoint(self);
            return pool_result(take(released([&] { return endpoint->topic->pool(); })));
          },
          nb::sig("def pool(self) -> TensorPool"))
      .def_prop_ro("lost", [](const PyEndpoint& self) { return self.endpoint->lost.load(); })
      .def_prop_ro("name", [](const PyEndpoint& self) { return self.endpoint->name; })
      .def_prop_ro("is_closed",
                   [](const PyEndpoint& self) { return self.endpoint->is_closed.load(); })
      .def("refuse", [](const PyEndpoint& self) { self.endpoint->is_closed = true; })
      .def("close", [](PyEndpoint& self) {
        // A thread that still holds a closed endpoint and waits finds no topic at its next check;
        // the facts stay.
        auto left = std::make_shared<Endpoint>();
        left->name = self.endpoint->name;
        left->lost = self.endpoint->lost.load();
        left->is_closed = true;
        self.endpoint->is_closed = true;
        self.endpoint.swap(left);
      });
}

}  // namespace

Endpoint::~Endpoint() {
  if (topic) released([this] { topic.reset(); });
}

void Endpoint::check() const {
  if (is_closed) raise(Errc::invalid_argument, "topic: " + name + " is closed");
  if (process != ::getpid())
    raise(Errc::unsupported, "topic: " + name + " belongs to the process that forked this one");
}

std::shared_ptr<Endpoint> open_endpoint(const PyEndpoint& self) {
  self.endpoint->check();
  return self.endpoint;
}

void bind_topics(nb::module_& m) {
  bind_topic_stats(m);
  EndpointClass cls(m, "_Endpoint", "An endpoint of a topic, for the class Topic.");
  add_messages(cls);
  add_state(cls);
}

}  // namespace halyard::python
