// SPDX-License-Identifier: Apache-2.0
// An RTSP camera of the loopback device: H.264 by RTP within the RTSP connection (RFC 2326, 10.12;
// RFC 6184, single NAL unit packets).
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/remux.h"
#include "capture/server.h"

namespace halyard::test {

/// One frame: its NAL units without start codes.
using AccessUnit = std::vector<std::string>;

inline AccessUnit split_annex_b(std::string_view bytes) {
  AccessUnit units;
  constexpr std::string_view code("\0\0\1", 3);
  for (auto at = bytes.find(code); at != std::string_view::npos;) {
    const auto begin = at + code.size();
    at = bytes.find(code, begin);
    std::string_view unit = bytes.substr(begin, at == std::string_view::npos ? at : at - begin);
    if (at != std::string_view::npos && unit.ends_with('\0')) unit.remove_suffix(1);
    units.emplace_back(unit);
  }
  return units;
}

/// The frames of an AVI file with H.264.
inline std::vector<AccessUnit> access_units(const std::string& path) {
  std::vector<AccessUnit> out;
  for_each_packet(path, [&](const AVPacket& packet, const AVStream&) {
    out.push_back(split_annex_b(
        {reinterpret_cast<const char*>(packet.data), static_cast<std::size_t>(packet.size)}));
  });
  return out;
}

class RtspServer {
 public:
  using MaySend = std::function<bool(std::size_t frame)>;
  /// Each connection gets all frames and is closed. With `password` it wants user "me" with it.
  /// `may_send` is called before each frame, and may wait; false ends the connection.
  explicit RtspServer(std::vector<AccessUnit> frames, std::string password = {},
                      MaySend may_send = {})
      : frames_(std::move(frames)), password_(std::move(password)), may_send_(std::move(may_send)) {
    listener_.listen();
    thread_ = std::thread([this] { serve(); });
  }
  ~RtspServer() {
    is_over_ = true;
    listener_.shut_down();
    thread_.join();
  }
  std::string address(const std::string& user = {}) const {
    return "rtsp://" + user + "127.0.0.1:" + std::to_string(listener_.port()) + "/live";
  }
  /// Connections that got frames.
  int plays() const { return plays_; }

 private:
  void serve() {
    while (!is_over_) {
      const Fd peer = listener_.accept();
      if (!peer) continue;
      std::string text;
      while (answer(peer.get(), text)) {
      }
    }
  }

  static std::string field(const std::string& request, const std::string& name) {
    const auto at = request.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find("\r\n", begin) - begin);
  }

  // Answers the next request; false at the end of the connection.
  bool answer(int peer, std::string& text) {
    std::array<char, 4096> part{};
    std::size_t end = 0;
    while ((end = text.find("\r\n\r\n")) == std::string::npos) {
      const ssize_t got = ::recv(peer, part.data(), part.size(), 0);
      if (got <= 0) return false;
      text.append(part.data(), static_cast<std::size_t>(got));
    }
    const std::string request = text.substr(0, end + 2);
    text.erase(0, end + 4);
    std::string head = "RTSP/1.0 200 OK\r\nCSeq: " + field(request, "CSeq") + "\r\nSession: 1\r\n";
    std::string body;
    const std::string method = request.substr(0, request.find(' '));
    if (method == "OPTIONS") {
      head += "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n";
    } else if (method == "DESCRIBE" && !password_.empty() &&
               field(request, "Authorization") != "Basic " + password_) {
      head = "RTSP/1.0 401 Unauthorized\r\nCSeq: " + field(request, "CSeq") +
             "\r\nWWW-Authenticate: Basic realm=\"camera\"\r\n";
    } else if (method == "DESCRIBE") {
      head += "Content-Type: application/sdp\r\n";
      body =
          "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
          "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track0\r\n";
    } else if (method == "SETUP") {
      head += "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n";
    }
    send_text(peer, head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    if (method == "PLAY") {
      ++plays_;
      send_frames(peer);
    }
    return method != "PLAY" && method != "TEARDOWN";
  }

  void send_frames(int peer) const {
    std::uint16_t sequence = 0;
    for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
      if (may_send_ && !may_send_(frame)) return;
      for (const std::string& unit : frames_[frame]) {
        const bool is_last = &unit == &frames_[frame].back();
        const auto time = static_cast<std::uint32_t>(90'000 + frame * 3600);  // 25 a second
        std::string packet = "$";
        const auto put = [&packet](std::uint32_t value, int bytes) {
          while (bytes-- > 0)
            packet.push_back(static_cast<char>(value >> (8 * bytes)));
        };
        put(0, 1);  // channel
        put(static_cast<std::uint32_t>(unit.size() + 12), 2);
        put(0x80, 1);
        put(is_last ? 0xE0 : 0x60, 1);
        put(sequence++, 2);
        put(time, 4);
        put(1, 4);
        send_text(peer, packet + unit);
      }
    }
  }

  std::vector<AccessUnit> frames_;
  std::string password_;  // "me:word" in base64
  MaySend may_send_;
  Listener listener_;
  std::atomic<int> plays_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

}  // namespace halyard::test

#endif
