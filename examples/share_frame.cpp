// SPDX-License-Identifier: Apache-2.0
// One image in three processes and one memory. Start them in any order:
//   share_frame produce A.sock            draws an image and sends it as a tensor
//   share_frame consume A.sock B.sock     receives it, and passes its memory on to any program
//   python3 share_frame.py B.sock         maps that memory, without this library
#include <halyard/halyard.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

using namespace halyard;

static Error system_error(const char* what, const char* path) {
  return make_error(Errc::os, what, path, errno);
}

static sockaddr_un address_of(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  return address;
}

// Waits for one peer at `path`.
static Result<Fd> accept_at(const char* path) {
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = address_of(path);
  ::unlink(path);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    return system_error("socket: cannot listen", path);
  }
  Fd peer(::accept(listener.get(), nullptr, nullptr));
  ::unlink(path);
  if (!peer) return system_error("socket: nobody came", path);
  return peer;
}

// The other program may start later: tries for ten seconds.
static Result<Fd> connect_to(const char* path) {
  const sockaddr_un address = address_of(path);
  for (int attempt = 0; attempt < 500; ++attempt) {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
      return socket;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return system_error("socket: nobody listens", path);
}

// Waits until the peer has finished and closes its end.
static void wait_for_end(const Fd& peer) {
  char byte = 0;
  while (::read(peer.get(), &byte, 1) > 0) {
  }
}

// Adler-32 of the pixels, row by row, without the padding of the rows.
static Result<std::uint32_t> checksum(const Tensor& image) {
  HALYARD_TRY(const auto map, image.map(Access::read));
  const MappedPlane& plane = map.plane(0);
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (std::size_t row = 0; row < plane.rows; ++row) {
    for (std::size_t i = 0; i < plane.row_bytes; ++i) {
      a = (a + static_cast<std::uint32_t>(plane.data[row * plane.stride_bytes + i])) % 65521;
      b = (b + a) % 65521;
    }
  }
  return b << 16 | a;
}

static Status report(const char* who, const Tensor& image) {
  HALYARD_TRY(const std::uint32_t sum, checksum(image));
  std::printf("%s: %zux%zu %s \"%s\" in %s, adler32 %08x, %llu copies\n", who, image.width(),
              image.height(), std::string(to_string(*image.format())).c_str(), image.name().c_str(),
              std::string(to_string(image.memory())).c_str(), sum,
              static_cast<unsigned long long>(copy_stats().copies));
  std::fflush(stdout);
  return {};
}

static Status produce(const char* path) {
  // Memory that other processes can map: a device's if there is one, else the system's.
  const Memory memory = memory_available(Memory::dma) ? Memory::dma : Memory::shm;
  HALYARD_TRY(Tensor image, Tensor::create_image(640, 480, PixelFormat::rgba, DType::u8, memory));
  image.set_name("gradient");
  {
    HALYARD_TRY(const auto map, image.map(Access::write));
    HALYARD_TRY(const auto pixels, (map.view<std::uint8_t, 3>()));
    for (std::size_t y = 0; y < 480; ++y) {
      for (std::size_t x = 0; x < 640; ++x) {
        for (std::size_t c = 0; c < 4; ++c)
          pixels(y, x, c) = static_cast<std::uint8_t>(x * (c + 1) + y * 3);
      }
    }
  }
  HALYARD_RETURN_IF_ERROR(report("producer", image));
  HALYARD_TRY(const Fd peer, accept_at(path));
  HALYARD_RETURN_IF_ERROR(send_tensor(peer.get(), image));
  wait_for_end(peer);
  return {};
}

// The memory and one line of geometry, for programs that do not know tensors.
static Status hand_on(const Tensor& image, const Fd& peer) {
  HALYARD_TRY(const ImagePlane plane, image.image_plane(0));
  std::string line = std::to_string(image.width()) + ' ' + std::to_string(image.height()) + " 4 " +
                     std::to_string(plane.stride_bytes) + ' ' + std::to_string(plane.offset_bytes) +
                     '\n';
  iovec io = {line.data(), line.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = plane.buffer->fd();
  std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
  if (::sendmsg(peer.get(), &message, MSG_NOSIGNAL) < 0)
    return system_error("socket: the image cannot be handed on", "");
  wait_for_end(peer);
  return {};
}

static Status consume(const char* path, const char* next) {
  HALYARD_TRY(const Fd producer, connect_to(path));
  HALYARD_TRY(const Tensor image, receive_tensor(producer.get()));
  HALYARD_RETURN_IF_ERROR(report("consumer", image));
  if (next == nullptr) return {};
  HALYARD_TRY(const Fd peer, accept_at(next));
  return hand_on(image, peer);
}

int main(int argc, char** argv) {
  const std::string role = argc > 2 ? argv[1] : "";
  if (role != "produce" && role != "consume") {
    std::fprintf(stderr, "usage: share_frame produce SOCKET | consume SOCKET [NEXT_SOCKET]\n");
    return 2;
  }
  const Status done =
      role == "produce" ? produce(argv[2]) : consume(argv[2], argc > 3 ? argv[3] : nullptr);
  if (!done) {
    std::fprintf(stderr, "%s\n", done.error().message().c_str());
    return 1;
  }
  return 0;
}
