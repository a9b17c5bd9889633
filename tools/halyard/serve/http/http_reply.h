// SPDX-License-Identifier: Apache-2.0
// HTTP replies, with the header fields that make a browser refuse what the page does not need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halyard::tool {

/// What a reply is followed by for as long as the connection lives.
/// - images: the newest image again and again, as multipart/x-mixed-replace;
/// - events: server-sent events (text/event-stream);
/// - video: the segments of a fragmented MP4.
enum class HttpStream : std::uint8_t { none = 0, images = 1, events = 2, video = 3 };
inline constexpr std::size_t http_streams = 4;

struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  /// Instead of `body`: bytes that several replies share.
  std::shared_ptr<const std::string> shared = nullptr;
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< further header fields
  HttpStream stream = HttpStream::none;

  std::size_t size() const noexcept { return shared ? shared->size() : body.size(); }
};

/// The boundary between the images of a stream.
inline constexpr std::string_view image_boundary = "halyard-frame";

/// Status line and header fields, to the empty line. Replies are not cached. A stream has no
/// length and ends with the connection.
std::string reply_head(const HttpReply& reply, bool keeps_alive);

/// A JSON document with the key "error".
HttpReply error_reply(int status, std::string_view what);

/// One image of a stream: its header fields, the JPEG, and the boundary before the next one, so
/// that a browser shows the image at once.
std::string image_part(std::string_view jpeg);
/// A server-sent event with this data, which has no line feed.
std::string event_text(std::string_view data);

}  // namespace halyard::tool
