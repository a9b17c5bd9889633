// SPDX-License-Identifier: Apache-2.0
// Prints the messages of a topic. Each line is flushed, so that a reader of a pipe sees it at once.
#include "commands/topic_echo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "halyard/pool.h"
#include "halyard/topic.h"
#include "interrupt.h"
#include "output/ipc_text.h"
#include "report.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_hex_bytes = 64;

struct Message {
  std::uint64_t sequence = 0;  ///< counts messages that this endpoint received or lost, from 0
  std::uint64_t lost = 0;      ///< lost directly before it
  std::vector<std::byte> bytes;
  std::optional<Tensor> frame;
};

std::string device_of(const Tensor& frame) {
  const auto handle = TensorHandle::of(frame);
  return to_string(handle ? handle->device() : Device::cpu());
}

std::string text_of(const Tensor& frame) {
  std::string text = fmt::format("{} {}", fmt::join(frame.shape(), "x"), to_string(frame.dtype()));
  if (frame.format())
    text += fmt::format(", {} {}x{}", to_string(*frame.format()), frame.width(), frame.height());
  text += fmt::format(", {}, {} on {}", bytes_text(double(frame.size_bytes())),
                      to_string(frame.buffer()->memory()), device_of(frame));
  if (!frame.name().empty()) text += fmt::format(", \"{}\"", frame.name());
  return text;
}

std::string text_of(const Message& message) {
  std::string text = fmt::format("#{}", message.sequence);
  if (message.lost != 0) text += fmt::format(" ({} lost before)", message.lost);
  text += ": ";
  if (message.frame) return text + text_of(*message.frame);
  return text + fmt::format("{}: {}", bytes_text(double(message.bytes.size())),
                            hex_text(message.bytes, max_hex_bytes));
}

Json json_of(const Tensor& frame) {
  Json out;
  out["shape"] = frame.shape();
  out["dtype"] = to_string(frame.dtype());
  if (frame.format()) {
    out["format"] = to_string(*frame.format());
    out["width"] = frame.width();
    out["height"] = frame.height();
  }
  out["bytes"] = frame.size_bytes();
  out["memory"] = to_string(frame.buffer()->memory());
  out["device"] = device_of(frame);
  if (!frame.name().empty()) out["name"] = frame.name();
  return out;
}

Json json_of(const Message& message) {
  Json out;
  out["sequence"] = message.sequence;
  out["lost"] = message.lost;
  if (message.frame) out["frame"] = json_of(*message.frame);
  out["inline_bytes"] = message.bytes.size();
  out["inline_hex"] = hex_text(message.bytes, message.bytes.size());
  return out;
}

/// Waits in slices, so that Ctrl-C and the time limit are noticed.
class Receiver {
 public:
  Receiver(TopicEndpoint& endpoint, std::optional<Clock::time_point> end)
      : endpoint_(endpoint), end_(end) {}

  /// Nullopt: interrupted, or the time is over.
  std::optional<Message> next() {
    Message message;
    message.bytes.resize(endpoint_.type().inline_bytes);
    Tensor frame;
    for (;;) {
      const auto incoming =
          endpoint_.recv(message.bytes, endpoint_.type().has_frame ? &frame : nullptr);
      lost_ += incoming.lost;
      if (incoming.has_message) break;
      if (InterruptGuard::is_requested() || (end_ && Clock::now() >= *end_)) return std::nullopt;
      static_cast<void>(endpoint_.wait_for(slice()));
    }
    message.lost = std::exchange(lost_, 0);
    message.sequence = next_ + message.lost;
    next_ = message.sequence + 1;
    if (endpoint_.type().has_frame) message.frame = std::move(frame);
    return message;
  }

 private:
  std::chrono::nanoseconds slice() const {
    const std::chrono::nanoseconds maximum = std::chrono::milliseconds(100);
    return end_ ? std::clamp<std::chrono::nanoseconds>(*end_ - Clock::now(), {}, maximum) : maximum;
  }
  TopicEndpoint& endpoint_;
  std::optional<Clock::time_point> end_;
  std::uint64_t lost_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace

int echo(const WatchOptions& options) {
  TopicConfig config;
  config.role = TopicRole::subscriber;
  // For a topic that does not exist topic_info() has the better message; create() names a missing
  // file.
  if (const auto info = topic_info(options.topic); !info) return report("topic echo", info.error());
  const auto endpoint = TopicEndpoint::create(options.topic, std::nullopt, config);
  if (!endpoint) return report("topic echo", endpoint.error());
  const InterruptGuard guard;
  std::optional<Clock::time_point> end;
  if (options.duration_s) {
    end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(*options.duration_s));
  }
  Receiver receiver(**endpoint, end);
  std::uint64_t shown = 0;
  while ((!options.count || shown < *options.count) && !InterruptGuard::is_requested()) {
    const auto message = receiver.next();
    if (!message) break;
    print_line(options.is_json ? dump_line(json_of(*message)) : text_of(*message));
    ++shown;
    // A closed pipe ends this command too; main() reports it.
    if (!finish_stdout()) return exit_ok;
    if (end && Clock::now() >= *end) break;
  }
  if (InterruptGuard::is_requested()) return exit_interrupted;
  if (options.count && shown < *options.count) {
    return report("topic echo",
                  fmt::format("{} of {} came in {:.1f} s", shown,
                              count_text(*options.count, "message"), *options.duration_s));
  }
  return exit_ok;
}

}  // namespace halyard::tool
