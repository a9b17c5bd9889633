// SPDX-License-Identifier: Apache-2.0
// Makes tensors from a FrameLayout, and writes and reads it as text.
#include "halyard/frame_layout.h"

#include <bit>
#include <charconv>
#include <iterator>
#include <vector>

#include "base/text/format_error.h"
#include "halyard/buffer.h"

namespace halyard {
namespace {

/// Reads words and numbers of a text in order.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}
  std::string_view next() {
    const std::size_t begin = left_.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      fails_ = true;
      return {};
    }
    left_.remove_prefix(begin);
    const std::string_view word = left_.substr(0, left_.find(' '));
    left_.remove_prefix(word.size());
    return word;
  }
  void expect(std::string_view word) { fails_ |= next() != word; }
  template <class T>
  T number(T maximum = std::numeric_limits<T>::max()) {
    const std::string_view word = next();
    T value{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    fails_ |= error != std::errc() || end != word.data() + word.size() || value > maximum;
    return fails_ ? T{} : value;
  }
  bool ends() const { return left_.find_first_not_of(' ') == std::string_view::npos; }
  bool fails() const { return fails_; }

 private:
  std::string_view left_;
  bool fails_ = false;
};

Error malformed(std::string_view text) {
  return fail(Errc::malformed, "frame: the text is not a frame layout", "'{}'",
              text.substr(0, 200));
}

/// Reads "u8 0 2 480 1344 650 2": dtype, offset, rank, then extent and stride of each axis.
void read_tensor(Words& words, FrameLayout& frame, bool& fails) {
  const auto dtype = dtype_from_string(words.next());
  fails |= !dtype;
  frame.tensor.dtype = dtype.value_or(DType::u8);
  frame.tensor_offset_bytes = words.number<std::uint64_t>();
  frame.tensor.rank = words.number<std::uint8_t>(max_rank);
  for (std::size_t axis = 0; axis < frame.tensor.rank; ++axis) {
    frame.tensor.shape[axis] = words.number<std::size_t>();
    frame.tensor.stride_bytes[axis] = words.number<std::ptrdiff_t>();
  }
}

/// Reads "nv12 1920 1080 0 2 0 1920 0 2073600 1920 0": format, extent, modifier, count of planes,
/// then offset, stride and colour plane stride of each plane.
void read_image(Words& words, FrameLayout& frame, bool& fails) {
  const auto format = format_from_string(words.next());
  fails |= !format;
  frame.format = format.value_or(PixelFormat::rgb);
  frame.width = words.number<std::uint32_t>(65535);
  frame.height = words.number<std::uint32_t>(65535);
  frame.modifier = words.number<std::uint64_t>();
  frame.plane_count = words.number<std::uint8_t>(4);
  for (std::size_t p = 0; p < frame.plane_count; ++p) {
    frame.planes[p].offset_bytes = words.number<std::uint64_t>();
    frame.planes[p].stride_bytes = words.number<std::uint64_t>();
    frame.planes[p].plane_stride_bytes = words.number<std::uint64_t>();
  }
}

/// A buffer without memory: a layout can be checked against its size alone.
class NoMemory final : public Buffer {
 public:
  explicit NoMemory(std::size_t size_bytes) noexcept : Buffer(size_bytes, Memory::mem) {}

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    return fail(Errc::unsupported, "access: there is no memory");
  }
  void end_access(Access) noexcept override {}
};

}  // namespace

Status FrameLayout::check() const {
  if (!has_tensor() && !has_image())
    return fail(Errc::invalid_argument, "frame: has neither a tensor nor an image");
  if (align_bytes < 64 || align_bytes > 4096 || !std::has_single_bit(align_bytes))
    return fail(Errc::invalid_argument, "frame: align_bytes must be a power of two, 64..4096", "{}",
                align_bytes);
  const auto memory = std::make_shared<NoMemory>(size_bytes);
  HALYARD_RETURN_IF_ERROR(over(memory));
  if (has_tensor()) HALYARD_RETURN_IF_ERROR(tensor_over(memory));
  return {};
}

Result<Tensor> FrameLayout::over(std::shared_ptr<Buffer> buffer) const {
  if (!has_image()) return tensor_over(std::move(buffer));
  std::array<Tensor::PlaneSource, 4> sources;
  for (std::size_t p = 0; p < plane_count && p < planes.size(); ++p)
    sources[p] = {buffer, planes[p].offset_bytes, planes[p].stride_bytes,
                  planes[p].plane_stride_bytes};
  return Tensor::wrap_image(std::span(sources).first(std::min<std::size_t>(plane_count, 4)), width,
                            height, format, DType::u8, modifier);
}

Result<Tensor> FrameLayout::tensor_over(std::shared_ptr<Buffer> buffer) const {
  if (!has_tensor()) return fail(Errc::unsupported, "frame: has no tensor");
  return Tensor::wrap(std::move(buffer), tensor, tensor_offset_bytes);
}

std::string FrameLayout::to_text() const {
  std::string text = fmt::format("size {} align {}", size_bytes, align_bytes);
  const auto out = std::back_inserter(text);
  if (fill) fmt::format_to(out, " fill {}", *fill);
  if (has_tensor()) {
    fmt::format_to(out, " tensor {} {} {}", to_string(tensor.dtype), tensor_offset_bytes,
                   tensor.rank);
    for (std::size_t axis = 0; axis < tensor.rank; ++axis)
      fmt::format_to(out, " {} {}", tensor.shape[axis], tensor.stride_bytes[axis]);
  }
  if (has_image()) {
    fmt::format_to(out, " image {} {} {} {} {}", to_string(format), width, height, modifier,
                   plane_count);
    for (std::size_t p = 0; p < plane_count; ++p)
      fmt::format_to(out, " {} {} {}", planes[p].offset_bytes, planes[p].stride_bytes,
                     planes[p].plane_stride_bytes);
  }
  return text;
}

Result<FrameLayout> FrameLayout::from_text(std::string_view text) {
  FrameLayout frame;
  Words words(text);
  bool fails = false;
  words.expect("size");
  frame.size_bytes = words.number<std::uint64_t>(std::uint64_t{1} << 62);
  words.expect("align");
  frame.align_bytes = words.number<std::uint32_t>();
  while (!fails && !words.fails() && !words.ends()) {
    const std::string_view part = words.next();
    if (part == "tensor" && !frame.has_tensor()) {
      read_tensor(words, frame, fails);
    } else if (part == "image" && !frame.has_image()) {
      read_image(words, frame, fails);
    } else if (part == "fill" && !frame.fill) {
      frame.fill = words.number<std::uint8_t>();
    } else {
      fails = true;
    }
  }
  if (fails || words.fails()) return malformed(text);
  HALYARD_RETURN_IF_ERROR(frame.check());
  return frame;
}

std::string FrameLayout::describe() const {
  std::string text;
  const auto out = std::back_inserter(text);
  if (has_image()) {
    fmt::format_to(out, "{} {}x{} pitch ", to_string(format), width, height);
    for (std::size_t p = 0; p < plane_count; ++p)
      fmt::format_to(out, "{}{}", p == 0 ? "" : "/", planes[p].stride_bytes);
  }
  if (has_tensor()) {
    const auto dims = tensor.dims();
    fmt::format_to(out, "{}{} [{}]", text.empty() ? "" : ", ", to_string(tensor.dtype),
                   fmt::join(dims.begin(), dims.end(), ", "));
    if (!has_image() && tensor.rank >= 2)
      fmt::format_to(
          out, " strides [{}]",
          fmt::join(tensor.stride_bytes.begin(), tensor.stride_bytes.begin() + tensor.rank, ", "));
  }
  return text;
}

}  // namespace halyard
