// SPDX-License-Identifier: Apache-2.0
// Which heap serves, and what the errors say, over files that replace device nodes.
#include "tensor/memory/dma_heap.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "conformance/buffer_support.h"
#include "conformance/fake_dma.h"
#include "halyard/dmabuf.h"
#include "halyard/tensor.h"
#include "support/folder.h"
#include "support/in_child.h"
#include "support/result.h"
#include "tensor/memory/buffer_kinds.h"
#include "tensor/memory/dma_attach.h"
#include "tensor/tensors.h"

namespace halyard {
namespace {

namespace fs = std::filesystem;
using conformance::holdings;

class DmaHeapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(nodes_.heaps);
    fs::permissions(folder_, fs::perms::all);
  }

  // A node that gives memory, or that answers its call with an errno.
  void add_node(const std::string& path, int failure = 0) {
    std::ofstream(path) << "node";
    const Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    known_[opened.identity()->inode] = failure;
  }
  void add_heap(const std::string& name, int failure = 0) {
    add_node(nodes_.heaps + "/" + name, failure);
  }

  Result<DmaMemory> make(std::vector<std::string> order, std::size_t size = 5000) {
    return allocate_dma(size, order, "label", nodes_);
  }
  Error refused(std::vector<std::string> order, std::size_t size = 5000) {
    const std::size_t before = holdings().descriptors;
    const auto made = make(std::move(order), size);
    EXPECT_FALSE(made);
    EXPECT_EQ(holdings().descriptors, before) << "a failure leaves no descriptor";
    return made ? Error() : made.error();
  }

  std::optional<int> serve(int fd, unsigned long request, void* argument) {
    if (request != DMA_HEAP_IOCTL_ALLOC && request != UDMABUF_CREATE) return std::nullopt;
    const auto node = known_.find(fd_identity(fd)->inode);
    if (node == known_.end()) return std::nullopt;
    if (node->second != 0) return -node->second;
    if (request == UDMABUF_CREATE) {
      const auto* asked = static_cast<const udmabuf_create*>(argument);
      asked_bytes_ = asked->size;
      seals_ = ::fcntl(static_cast<int>(asked->memfd), F_GET_SEALS);
      return Fd::duplicate(static_cast<int>(asked->memfd))->release();
    }
    auto* asked = static_cast<dma_heap_allocation_data*>(argument);
    asked_bytes_ = asked->len;
    asked_flags_ = asked->fd_flags;
    Fd given = given_ ? given_->fd() : *create_sealed_memory("heap", asked->len);
    asked->fd = static_cast<__u32>(given.release());
    return 0;
  }

  const test::Folder temporary_;
  const fs::path folder_{temporary_.path()};
  DmaNodes nodes_{folder_ / "heaps", folder_ / "udmabuf", folder_ / "limit", folder_ / "render"};
  std::map<std::uint64_t, int> known_;
  std::size_t asked_bytes_ = 0;
  unsigned asked_flags_ = 0;
  int seals_ = 0;
  const conformance::FakeDmaBuf* given_ = nullptr;  ///< what heaps give; null: memory
  conformance::IoctlHook hook_{[this](int fd, unsigned long request, void* argument) {
    return serve(fd, request, argument);
  }};
};

TEST_F(DmaHeapTest, the_first_heap_that_gives_memory_serves) {
  add_heap("cma", ENOMEM);
  add_heap("system");
  add_heap("vendor");
  ASSERT_VALUE(const auto made, make({"linux,cma", "cma", "system", "vendor"}));
  EXPECT_EQ(made.heap, "system");
  EXPECT_EQ(make({"vendor", "system"})->heap, "vendor");
}

TEST_F(DmaHeapTest, a_heap_is_asked_for_whole_pages_and_a_descriptor_that_closes_on_exec) {
  add_heap("system");
  ASSERT_TRUE(make({"system"}, 1));
  EXPECT_EQ(asked_bytes_, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(asked_flags_, static_cast<unsigned>(O_RDWR | O_CLOEXEC));
}

TEST_F(DmaHeapTest, udmabuf_gets_memory_that_cannot_shrink) {
  add_node(nodes_.udmabuf);
  ASSERT_VALUE(const auto made, make({"system", "udmabuf"}, 1));
  EXPECT_EQ(made.heap, "udmabuf");
  EXPECT_EQ(asked_bytes_, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_NE(seals_ & F_SEAL_SHRINK, 0);
}

TEST_F(DmaHeapTest, nodes_are_closed_again) {
  add_heap("system");
  const std::size_t before = holdings().descriptors;
  const auto made = make({"system"});
  EXPECT_EQ(holdings().descriptors, before + 1) << "the memory's own";
}

TEST_F(DmaHeapTest, no_heap_at_all_is_unsupported_and_says_what_was_looked_for) {
  const Error error = refused({"linux,cma", "system", "udmabuf"});
  EXPECT_EQ(error.code, Errc::unsupported);
  EXPECT_EQ(
      error.message(),
      "memory: no DMA-BUF heap exists: looked for linux,cma system udmabuf; heaps are nodes of " +
          nodes_.heaps + ", udmabuf is " + nodes_.udmabuf);
}

TEST_F(DmaHeapTest, each_heap_that_declined_is_told_with_its_reason) {
  add_heap("cma", ENOMEM);
  add_heap("vendor", EIO);
  const Error error = refused({"linux,cma", "cma", "vendor", "udmabuf"});
  EXPECT_EQ(error.code, Errc::no_memory);
  EXPECT_EQ(error.os_errno, ENOMEM);
  EXPECT_EQ(
      error.message(),
      "memory: no DMA-BUF heap can allocate: cma: refused: 8192 bytes; vendor: refused: 8192 bytes "
      "(Input/output error); absent: linux,cma udmabuf (Cannot allocate memory)");
}

TEST_F(DmaHeapTest, udmabuf_above_its_limit_names_the_limit) {
  add_node(nodes_.udmabuf, EINVAL);
  std::ofstream(nodes_.udmabuf_limit_mb) << "64\n";
  const Error above = refused({"udmabuf"}, (std::size_t{64} << 20U) + (1U << 20U));
  EXPECT_EQ(above.code, Errc::no_memory);
  EXPECT_NE(above.message().find("size_limit_mb is 64"), std::string::npos) << above.message();
  const Error below = refused({"udmabuf"}, std::size_t{64} << 20U);
  EXPECT_EQ(below.message().find("size_limit_mb"), std::string::npos) << below.message();
}

TEST_F(DmaHeapTest, names_that_leave_the_folder_are_refused) {
  for (const std::string name : {"", ".", "..", "../null", "a/b", "/dev/null"})
    EXPECT_EQ(refused({name}).code, Errc::invalid_argument) << name;
  EXPECT_EQ(refused({std::string("a\0b", 3)}).code, Errc::invalid_argument);
}

TEST_F(DmaHeapTest, a_size_beyond_the_machine_is_refused_before_a_heap_is_asked) {
  add_heap("system");
  EXPECT_EQ(refused({"system"}, system_memory_bytes() + 1).code, Errc::no_memory);
  EXPECT_EQ(asked_bytes_, 0U);
  EXPECT_EQ(refused({"system"}, std::numeric_limits<std::size_t>::max()).code, Errc::no_memory);
}

// What the error of one refused node says, asked by a user without rights; "" when none could be.
std::string asked_by_nobody(const std::string& node) {
  int ends[2] = {};
  if (::pipe(ends) != 0) return "";
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::getuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(1);
    const auto opened = open_node(node);
    const std::string text =
        opened ? "opened"
               : std::string(to_string(opened.error().code)) + ": " + opened.error().message();
    ::_exit(::write(write_end.get(), text.data(), text.size()) < 0 ? 1 : 0);
  }
  write_end.reset();
  std::string text(4096, '\0');
  const auto length = ::read(read_end.get(), text.data(), text.size());
  ::waitpid(child, nullptr, 0);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

TEST_F(DmaHeapTest, a_refusal_names_the_node_its_group_and_what_to_do) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can own a node that others may not open";
  add_heap("system");
  const std::string node = nodes_.heaps + "/system";
  ASSERT_EQ(::chown(node.c_str(), 0, 54321), 0);
  ::chmod(node.c_str(), 0660);
  EXPECT_EQ(asked_by_nobody(node), "permission: permission refused: " + node +
                                       ": for group 54321 (mode 0660): add the user to it "
                                       "(Permission denied)");
  ASSERT_EQ(::chown(node.c_str(), 0, 0), 0);
  ::chmod(node.c_str(), 0600);
  EXPECT_EQ(asked_by_nobody(node), "permission: permission refused: " + node +
                                       ": mode 0600, group root: let a udev rule open it to a "
                                       "group (Permission denied)");
}

TEST_F(DmaHeapTest, a_node_that_is_no_device_is_an_error_of_its_own) {
  EXPECT_FAILS(open_node(folder_), Errc::os) << "a folder";
  EXPECT_FAILS(open_node(nodes_.udmabuf), Errc::not_found);
}

TEST_F(DmaHeapTest, an_open_node_closes_on_exec) {
  add_heap("system");
  ASSERT_VALUE(const auto opened, open_node(nodes_.heaps + "/system"));
  EXPECT_NE(::fcntl(opened.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(DmaHeapTest, heaps_are_listed_in_the_order_of_trying_then_by_name) {
  for (const char* name : {"zeta", "system", "alpha", "cma"})
    add_heap(name);
  add_node(nodes_.udmabuf);
  std::vector<std::string> names;
  for (const DmaHeap& heap : find_dma_heaps(nodes_)) {
    names.push_back(heap.name);
    EXPECT_TRUE(heap.usable);
    EXPECT_TRUE(fs::exists(heap.node));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"cma", "system", "udmabuf", "alpha", "zeta"}));
}

TEST_F(DmaHeapTest, what_is_asked_for_goes_before_the_default_order) {
  EXPECT_EQ(dma_heap_order({"b", "a"}), (std::vector<std::string>{"b", "a"}));
  const auto usual = dma_heap_order({});
  EXPECT_EQ(usual.front(), "linux,cma");
  EXPECT_EQ(usual.back(), "udmabuf");
}

// A render node that counts what is attached.
class DmaAttachTest : public DmaHeapTest {
 protected:
  struct Call {
    std::uint32_t handle, flags;
    std::int32_t fd;
  };
  std::vector<std::uint32_t> attached_;
  std::uint32_t last_ = 0;
  int closed_ = 0;
  bool declines_ = false, gives_one_handle_ = false;
  const Layout layout_ = test::contiguous(DType::u8, {64, 64});
  /// Its bytes are in step with the CPU's while it is attached.
  conformance::FakeDmaBuf memory_{4096};

  void give_memory() {
    memory_.sync_only_while([this] { return !attached_.empty(); });
    given_ = &memory_;
    add_heap("system");
  }
  Result<std::shared_ptr<Buffer>> make_attached() {
    return make_dma_buffer(4096, {.dma_heaps = {"system"}, .attached = true}, nodes_);
  }
  conformance::IoctlHook drm_{
      [this](int, unsigned long request, void* argument) { return serve_drm(request, argument); }};
  std::optional<int> serve_drm(unsigned long request, void* argument) {
    auto* call = static_cast<Call*>(argument);
    if (request == 0xc00c642eU) {  // DRM_IOCTL_PRIME_FD_TO_HANDLE
      if (declines_) return -ENOSYS;
      if (!gives_one_handle_ || last_ == 0) attached_.push_back(++last_);
      call->handle = last_;
      return 0;
    }
    if (request != 0x40086409U) return std::nullopt;  // DRM_IOCTL_GEM_CLOSE
    ++closed_;
    return std::erase(attached_, call->handle) == 1 ? 0 : -EINVAL;
  }
};

TEST_F(DmaAttachTest, attaches_until_it_goes_and_shares_one_node) {
  add_node(nodes_.render);
  const std::size_t before = holdings().descriptors;
  {
    auto first = DmaAttach::create(0, nodes_.render);
    const auto second = DmaAttach::create(0, nodes_.render);
    EXPECT_TRUE(first && second);
    EXPECT_EQ(attached_.size(), 2U);
    EXPECT_EQ(holdings().descriptors, before + 1);
    first = DmaAttach();
    EXPECT_EQ(attached_, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(holdings().descriptors, before + 1);
  }
  EXPECT_TRUE(attached_.empty());
  EXPECT_EQ(holdings().descriptors, before);
}

TEST_F(DmaAttachTest, is_empty_without_a_node_or_when_the_driver_declines) {
  EXPECT_FALSE(DmaAttach::create(0, nodes_.render));
  add_node(nodes_.render);
  declines_ = true;
  const std::size_t before = holdings().descriptors;
  EXPECT_FALSE(DmaAttach::create(0, nodes_.render));
  EXPECT_EQ(holdings().descriptors, before);
}

/// Bytes that the CPU sees wrong once a device has filled the buffer.
std::size_t stale_bytes(conformance::FakeDmaBuf& memory, const Tensor& tensor, std::byte written) {
  std::ranges::fill(memory.device(), written);
  const auto map = tensor.map(Access::read);
  EXPECT_OK(map);
  if (!map) return tensor.size_bytes();
  return static_cast<std::size_t>(std::count_if(map->data(), map->data() + tensor.size_bytes(),
                                                [&](std::byte each) { return each != written; }));
}

TEST_F(DmaAttachTest, the_cpu_reads_what_devices_wrote_as_long_as_anybody_has_the_buffer) {
  give_memory();
  add_node(nodes_.render);
  ASSERT_VALUE(auto buffer, make_attached());
  auto whole = *Tensor::wrap(std::move(buffer), layout_);
  ASSERT_EQ(attached_.size(), 1U);
  EXPECT_EQ(stale_bytes(memory_, whole, std::byte{0xA1}), 0U);
  EXPECT_EQ(stale_bytes(memory_, whole, std::byte{0xB2}), 0U);
  // Copies and parts of it keep the attachment; whoever goes last ends it, once.
  auto part = *whole.batch(3);
  auto copy = whole;
  whole = Tensor();
  EXPECT_EQ(stale_bytes(memory_, copy, std::byte{0xC3}), 0U);
  copy = Tensor();
  EXPECT_EQ(stale_bytes(memory_, part, std::byte{0xD4}), 0U);
  EXPECT_EQ(closed_, 0);
  part = Tensor();
  EXPECT_EQ(closed_, 1);
  EXPECT_TRUE(attached_.empty());
}

// A driver has one handle for a DMA-BUF, however often it is attached.
TEST_F(DmaAttachTest, a_handle_of_two_buffers_is_closed_once_with_the_last) {
  give_memory();
  add_node(nodes_.render);
  gives_one_handle_ = true;
  auto first = *Tensor::wrap(*make_attached(), layout_);
  auto second = *Tensor::wrap(*make_attached(), layout_);
  first = Tensor();
  EXPECT_EQ(closed_, 0);
  EXPECT_EQ(stale_bytes(memory_, second, std::byte{0xA1}), 0U);
  EXPECT_EQ(stale_bytes(memory_, second, std::byte{0xB2}), 0U);
  second = Tensor();
  EXPECT_EQ(closed_, 1);
  EXPECT_TRUE(attached_.empty());
}

TEST_F(DmaAttachTest, a_child_of_fork_leaves_its_parents_attachments) {
  add_node(nodes_.render);
  std::optional<DmaAttach> attach(DmaAttach::create(0, nodes_.render));
  EXPECT_TRUE(test::is_true_in_child([&] {
    attach.reset();
    return closed_ == 0;
  }));
  attach.reset();
  EXPECT_EQ(closed_, 1);
}

TEST_F(DmaAttachTest, without_an_attachment_the_same_memory_is_stale) {
  give_memory();
  const auto tensor = *Tensor::wrap(*adopt_dma_buffer(memory_.fd(), 4096, true), layout_);
  EXPECT_EQ(stale_bytes(memory_, tensor, std::byte{0xA1}), 4096U) << "the test can fail";
}

TEST_F(DmaAttachTest, is_an_error_where_it_must_be_and_cannot) {
  give_memory();
  EXPECT_FAILS(make_attached(), Errc::unsupported, nodes_.render);
}

}  // namespace
}  // namespace halyard
