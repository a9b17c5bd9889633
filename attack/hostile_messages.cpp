// SPDX-License-Identifier: Apache-2.0
// Messages that carry tensors, from peers that break the rules: changed bytes, any number of
// descriptors of any kind, memory sealed or not, too small, sparse or huge, sockets closed half
// way. The receiver must give a tensor inside its memory, or an error with a message, within its
// timeout, and keep nothing open.
#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <thread>

#include "attack/stress.h"
#include "conformance/buffer_support.h"
#include "halyard/fd.h"
#include "halyard/import.h"
#include "halyard/tensor.h"
#include "halyard/transfer.h"
#include "tensor/exchange/tensor_message.h"
#include "tensor/memory/touch.h"
#include "tensor/tensor_parts.h"

namespace {

using namespace halyard;
using namespace halyard::attack;
using conformance::holdings;

constexpr std::size_t max_descriptors = 253;  // maximum of one message in the kernel

struct Peer {
  Fd near;
  Fd far;
  explicit Peer(int type) {
    std::array<int, 2> ends{-1, -1};
    (void)::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data());
    near = Fd(ends[0]);
    far = Fd(ends[1]);
  }
  bool send(std::span<const std::byte> bytes, std::span<const Fd> fds) const {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(max_descriptors * sizeof(int))> control{};
    iovec io = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    msghdr message = {};
    message.msg_iov = &io;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
      cmsghdr* head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      for (std::size_t i = 0; i < fds.size(); ++i) {
        const int fd = fds[i].get();
        std::memcpy(CMSG_DATA(head) + i * sizeof(int), &fd, sizeof(int));
      }
    }
    return ::sendmsg(near.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
  }
};

/// A descriptor of any kind; in most cases memory of about `size` bytes.
Fd any_descriptor(Random& random, std::size_t size) {
  const auto memory = [&](std::size_t bytes, unsigned flags) {
    Fd fd(static_cast<int>(::syscall(SYS_memfd_create, "hostile", flags | MFD_CLOEXEC)));
    // An empty file, which has no memory, is a hostile descriptor too.
    [[maybe_unused]] const int result = ::ftruncate(fd.get(), static_cast<off_t>(bytes));
    return fd;
  };
  const std::size_t page = 4096;
  switch (below(random, 11)) {
    case 0:
      return Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    case 1:
      return Fd(::open("/", O_PATH | O_CLOEXEC));
    case 2:
      return Fd(::eventfd(0, EFD_CLOEXEC));
    case 3:
      return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case 4:
      return memory(below(random, size + page), 0);
    case 5:
      return memory(std::size_t{1} << (30 + below(random, 16)), MFD_ALLOW_SEALING);
    case 6:
      return memory(0, MFD_ALLOW_SEALING);
    default:
      break;
  }
  Fd fd = memory(size - below(random, 8) % 2 * below(random, size + 1), MFD_ALLOW_SEALING);
  const std::array seals{F_SEAL_SHRINK,
                         F_SEAL_SHRINK | F_SEAL_GROW,
                         F_SEAL_WRITE,
                         F_SEAL_SEAL,
                         0,
                         F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL};
  (void)::fcntl(fd.get(), F_ADD_SEALS, seals[below(random, seals.size())]);
  return fd;
}

Tensor any_tensor(Random& random) {
  Tensor tensor;
  if (below(random, 2) == 0) {
    tensor =
        *Tensor::create(DType::f32, {1 + below(random, 40), 1 + below(random, 40)}, Memory::shm);
    (void)tensor.set_quantization(Quantization::per_tensor(0.5F, 3));
  } else {
    constexpr std::array formats{PixelFormat::rgb, PixelFormat::nv12, PixelFormat::planar_rgb};
    tensor = *Tensor::create_image(1 + below(random, 60), 1 + below(random, 60),
                                   formats[below(random, formats.size())], DType::u8, Memory::shm);
  }
  tensor.set_name("hostile");
  return tensor;
}

void change(Random& random, std::vector<std::byte>& bytes) {
  constexpr std::array<std::uint8_t, 6> values{0, 1, 0x7F, 0x80, 0xFE, 0xFF};
  for (std::size_t i = below(random, 6); i > 0 && !bytes.empty(); --i) {
    const std::size_t at = below(random, bytes.size());
    switch (below(random, 5)) {
      case 0:
        bytes[at] = static_cast<std::byte>(values[below(random, values.size())]);
        break;
      case 1:
        bytes[at] ^= static_cast<std::byte>(1U << below(random, 8));
        break;
      case 2:
        for (std::size_t k = at; k < std::min(at + 8, bytes.size()); ++k)
          bytes[k] = static_cast<std::byte>(k == at + 7 ? values[below(random, 6)] : 0xFF);
        break;
      case 3:
        bytes.resize(below(random, 4) == 0 ? at : bytes.size());
        break;
      default:
        if (below(random, 8) == 0) bytes.insert(bytes.end(), below(random, 300), std::byte{7});
        break;
    }
  }
}

/// Receives the message; a broken promise is Case::failed.
bool received_well(const Peer& peer, bool require_sealed, bool may_touch) {
  ++shared().calls;
  Importer importer;
  const auto begin = std::chrono::steady_clock::now();
  const auto got = receive_tensor(peer.far.get(), {.timeout = std::chrono::milliseconds(20),
                                                   .importer = &importer,
                                                   .require_sealed = require_sealed});
  if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(20)) {
    say("a receiver with a timeout of 20 ms waits for 20 s");
    return false;
  }
  if (!got) {
    ++shared().refused;
    if (!got.error().message().empty()) return true;
    say("an error without words");
    return false;
  }
  if (may_touch && !stays_inside(*got)) {
    say("a received tensor does not lie inside its memory");
    return false;
  }
  ++shared().equal;
  return true;
}

/// One message in pieces, with descriptors at the front or spread, and then silence or the end.
void send_all(Random& random, const Peer& peer, std::span<const std::byte> bytes,
              const std::vector<Fd>& fds) {
  std::size_t sent = 0;
  std::size_t given = 0;
  const std::size_t piece = below(random, 3) == 0 ? 1 + below(random, 40) : bytes.size();
  while (sent < bytes.size()) {
    const std::size_t n = std::min(piece, bytes.size() - sent);
    const std::size_t many = sent + n == bytes.size() || below(random, 2) == 0
                                 ? std::min(fds.size() - given, max_descriptors)
                                 : std::size_t{0};
    if (!peer.send(bytes.subspan(sent, n), std::span(fds).subspan(given, many))) break;
    sent += n;
    given += many;
  }
}

bool one_message(Random& random) {
  constexpr std::array types{SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM};
  const auto before = holdings();
  bool ok = true;
  {
    const Tensor tensor = any_tensor(random);
    const TensorParts parts = *take_apart(tensor);
    auto bytes = *encode_tensor_message(parts.message);
    std::vector<Fd> fds;
    const bool is_honest_memory = below(random, 2) == 0;
    for (const auto& buffer : parts.buffers)
      fds.push_back(is_honest_memory ? Fd(::fcntl(buffer->fd(), F_DUPFD_CLOEXEC, 3))
                                     : any_descriptor(random, buffer->size_bytes()));
    while (below(random, 6) == 0 && fds.size() < max_descriptors)
      for (std::size_t i = 0, many = below(random, 100); i < many && fds.size() < max_descriptors;
           ++i)
        fds.push_back(any_descriptor(random, 4096));
    if (below(random, 8) == 0) fds.clear();
    if (below(random, 4) != 0) change(random, bytes);
    const Peer peer(types[below(random, types.size())]);
    if (below(random, 6) == 0) ::shutdown(peer.near.get(), SHUT_RD);
    send_all(random, peer, bytes, fds);
    if (below(random, 3) == 0) ::shutdown(peer.near.get(), SHUT_WR);
    // Memory that may shrink is refused if it must be sealed; otherwise a page may be missing.
    const bool require_sealed = below(random, 4) != 0;
    say("receive_tensor, %zu bytes, %zu descriptors, sealed: %d", bytes.size(), fds.size(),
        require_sealed);
    ok = received_well(peer, require_sealed, require_sealed || is_honest_memory);
  }
  const auto after = holdings();
  if (ok && (after.descriptors != before.descriptors ||
             after.shared_mappings != before.shared_mappings)) {
    say("%zu descriptors and %zu shared mappings, %zu and %zu before", after.descriptors,
        after.shared_mappings, before.descriptors, before.shared_mappings);
    return false;
  }
  return ok;
}

bool messages(std::uint64_t seed) {
  return in_child([&] {
           Random random(seed);
           for (int i = 0; i < 150; ++i)
             if (!one_message(random)) return Case::failed;
           return Case::done;
         }) == Case::done;
}

/// Valid tensors through a socket that others use: what is received must be what was sent.
bool honest(std::uint64_t seed) {
  return in_child([&] {
           Random random(seed);
           const Peer peer(SOCK_STREAM);
           for (int i = 0; i < 40; ++i) {
             const Tensor tensor = any_tensor(random);
             say("send_tensor and receive_tensor");
             shared().calls += 2;
             const bool sent = send_tensor(peer.near.get(), tensor).has_value();
             const auto got = receive_tensor(peer.far.get());
             if (!sent || !got || got->name() != tensor.name() || !stays_inside(*got) ||
                 !std::ranges::equal(got->shape(), tensor.shape())) {
               say("an honest tensor does not arrive as it was sent");
               return Case::failed;
             }
             ++shared().equal;
           }
           return Case::done;
         }) == Case::done;
}

}  // namespace

int main(int count, char** words) {
  return run_all("hostile_messages", count, words, {{"messages", messages}, {"honest", honest}});
}
