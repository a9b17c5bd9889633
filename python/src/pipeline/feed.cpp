// SPDX-License-Identifier: Apache-2.0
#include "pipeline/feed.h"

#include <nanobind/stl/string.h>

#include <utility>

#include "args.h"
#include "bindings.h"
#include "tensor/arrays.h"
#include "tensor/tensor.h"

namespace halyard::python {

bool Feed::put(Item item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !item_ || is_cancelled_; });
  if (is_cancelled_) return false;
  item_ = std::move(item);
  changed_.notify_all();
  return true;
}

Feed::Item Feed::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return item_ || is_cancelled_; });
  if (is_cancelled_) return std::optional<Frame>();
  Item item = *std::move(item_);
  item_.reset();
  changed_.notify_all();
  return item;
}

void Feed::cancel() noexcept {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  changed_.notify_all();
}

PipelineSource feed_source(const PyFeed& feed, std::string name) {
  PipelineSource out;
  out.name = std::move(name);
  out.next = [feed = feed.feed] { return feed->take(); };
  out.cancel = [feed = feed.feed] { feed->cancel(); };
  return out;
}

namespace {

bool put_item(const PyFeed& self, Feed::Item item) {
  return released([feed = self.feed, &item] { return feed->put(std::move(item)); });
}

bool put_frame(const PyFeed& self, nb::handle image, nb::handle source, nb::handle index,
               nb::handle timestamp_ns) {
  Frame frame;
  frame.image = tensor_object(image, "image").value;
  frame.source = path_from(source, "source");
  frame.index = count_from(index, "index");
  frame.timestamp = std::chrono::nanoseconds(size_from(timestamp_ns, "timestamp_ns", INT64_MAX));
  return put_item(self, std::optional<Frame>(std::move(frame)));
}

}  // namespace

void bind_pipeline_feed(nb::module_& m) {
  nb::class_<PyFeed>(m, "_PipelineFeed", "Hands the frames of an iterator to a pipeline.")
      .def(nb::init<>())
      .def("put", &put_frame, nb::arg("image"), nb::arg("source"), nb::arg("index"),
           nb::arg("timestamp_ns"),
           nb::sig("def put(self, image: Tensor, source: str, index: int, timestamp_ns: int) -> "
                   "bool"),
           "Waits for room. False: the pipeline takes no more frames.")
      .def(
          "fail",
          [](const PyFeed& self, nb::handle message) {
            return put_item(
                self, make_error(Errc::malformed, "source: its iterator raised", text_of(message)));
          },
          nb::arg("message"), nb::sig("def fail(self, message: str) -> bool"))
      .def(
          "end", [](const PyFeed& self) { return put_item(self, std::optional<Frame>()); },
          nb::sig("def end(self) -> bool"))
      .def(
          "cancel", [](const PyFeed& self) { self.feed->cancel(); },
          nb::sig("def cancel(self) -> None"));
}

}  // namespace halyard::python
