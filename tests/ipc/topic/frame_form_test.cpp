// SPDX-License-Identifier: Apache-2.0
// Frames whose form changes from one to the next, and those whose form stays: a subscriber reads
// only where the latter are.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ipc/helpers.h"
#include "ipc/topic/frame_message.h"
#include "topics.h"

namespace halyard::ipc::testing {
namespace {

using test::receive;

using FrameForms = Topics;

// All that a frame is, its bytes aside.
std::string described(const Tensor& t) {
  std::string text = std::string(to_string(t.dtype())) + " \"" + t.name() + "\"";
  for (std::size_t i = 0; i < t.rank(); ++i)
    text += " " + std::to_string(t.shape()[i]) + "/" + std::to_string(t.layout().stride_bytes[i]);
  if (t.is_image()) {
    text += " image " + std::string(to_string(*t.format())) + " " + std::to_string(t.width()) +
            "x" + std::to_string(t.height()) + " stride " + std::to_string(t.row_stride_bytes());
    for (std::size_t i = 0; i < t.plane_count(); ++i) {
      const ImagePlane plane = *t.image_plane(i);
      text +=
          " plane " + std::to_string(plane.offset_bytes) + "/" + std::to_string(plane.stride_bytes);
    }
  } else {
    text += " from " + std::to_string(t.offset_bytes());
  }
  if (t.item_format()) text += " items " + std::string(to_string(*t.item_format()));
  text += " colours " + std::to_string(static_cast<int>(t.colorimetry().space)) + "," +
          std::to_string(static_cast<int>(t.colorimetry().range));
  text += " orientation " + std::to_string(static_cast<int>(t.orientation().flip)) + "," +
          std::to_string(static_cast<int>(t.orientation().rotation));
  if (t.quantization()) {
    text += " scale " + std::to_string(t.quantization()->scale[0]) + " zero " +
            std::to_string(t.quantization()->zero_point_at(0));
  }
  return text;
}

class Makers {
 public:
  explicit Makers(std::shared_ptr<TensorPool> pool) : pool_(std::move(pool)) {}
  std::vector<std::function<Tensor()>> all() const {
    const auto tensor = [this](std::initializer_list<std::size_t> shape, DType dtype) {
      return [this, extents = std::vector<std::size_t>(shape), dtype]() -> Tensor {
        return *pool_->alloc(extents, dtype);
      };
    };
    const auto image = [this](std::size_t width, PixelFormat format, std::size_t stride = 0) {
      return [this, width, format, stride]() -> Tensor {
        return *pool_->alloc_image(width, 32, format, DType::u8, stride);
      };
    };
    const auto changed = [](auto make, const std::function<void(Tensor&)>& change) {
      return [make, change] {
        Tensor t = make();
        change(t);
        return t;
      };
    };
    std::vector<std::function<Tensor()>> makers = {
        tensor({4, 5}, DType::u8),        tensor({5, 4}, DType::u8),
        tensor({4, 5}, DType::i8),        tensor({4, 5, 1}, DType::u8),
        tensor({3}, DType::f64),          image(48, PixelFormat::rgb),
        image(48, PixelFormat::bgr),      image(64, PixelFormat::rgb),
        image(48, PixelFormat::rgb, 320), image(48, PixelFormat::nv12),
        image(48, PixelFormat::i420),     image(48, PixelFormat::planar_rgb),
    };
    makers.push_back(changed(tensor({4, 5}, DType::u8), [](Tensor& t) { t.set_name("boxes"); }));
    makers.push_back(changed(tensor({4, 5}, DType::i8), [](Tensor& t) {
      ASSERT_TRUE(t.set_quantization(Quantization::per_tensor(0.5F, 3)));
    }));
    makers.push_back(changed(tensor({4, 5}, DType::i8), [](Tensor& t) {
      ASSERT_TRUE(t.set_quantization(Quantization::per_tensor(0.5F, 4)));
    }));
    makers.push_back(changed(image(48, PixelFormat::rgb), [](Tensor& t) {
      Colorimetry c;
      c.space = ColorSpace::bt709;
      t.set_colorimetry(c);
    }));
    makers.push_back(changed(image(48, PixelFormat::rgb), [](Tensor& t) {
      t.set_orientation({Flip::none, Rotation::cw90});
    }));
    makers.push_back(changed(image(48, PixelFormat::rgb), [](Tensor& t) {
      t.set_orientation({Flip::horizontal, Rotation::none});
    }));
    makers.push_back(changed(tensor({8, 5}, DType::u8), [](Tensor& t) {
      const AxisRange rows{2, 4};
      t = *t.part(std::span(&rows, 1));
    }));
    makers.push_back(changed(tensor({8, 5}, DType::u8), [](Tensor& t) {
      const AxisRange rows{3, 4};
      t = *t.part(std::span(&rows, 1));
    }));
    makers.push_back(changed(image(64, PixelFormat::rgb), [](Tensor& t) {
      t = *t.slice({8, 4, 48, 20});
    }));
    return makers;
  }

 private:
  std::shared_ptr<TensorPool> pool_;
};

TEST(Peer, DISABLED_form_reader) {
  auto topic = *Topic<Tensor>::create(Peer::arguments(), {.role = TopicRole::subscriber});
  Peer::tell("joined");
  for (std::string line = Peer::next(); !line.empty(); line = Peer::next()) {
    const auto got = topic.recv_for(std::chrono::seconds(5));
    Peer::tell(got ? described(*got) : "nothing: " + topic.stats().last_error.message());
  }
}

TEST_F(FrameForms, arrive_as_they_were_sent) {
  auto topic = join<Tensor>(name, with_depth(4));
  auto here = join<Tensor>(name);
  Peer reader("form_reader", name, "joined");
  const Makers all(*topic.pool());
  const auto makers = all.all();
  std::mt19937 random(7);
  for (int i = 0; i < 1500; ++i) {
    // Often the same form again, as a camera has it.
    static std::size_t kind = 0;
    if (i % 3 == 0) kind = random() % makers.size();
    const Tensor sent = makers[kind]();
    ASSERT_TRUE(topic.send(sent)) << kind;
    const auto got = here.recv();
    ASSERT_TRUE(got) << kind << here.stats().last_error.message();
    EXPECT_EQ(described(*got), described(sent));
    ASSERT_EQ(reader.ask("next"), described(sent)) << kind << " as message " << i;
  }
}

TEST_F(FrameForms, of_two_publishers_do_not_mix) {
  auto [one, two] = join_twice<Tensor>();
  auto reader = join<Tensor>(name);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(one.send(*one.alloc_tensor({2, 3}, DType::u8)));
    ASSERT_TRUE(two.send(*two.alloc_tensor({6}, DType::f32)));
    for (int k = 0; k < 2; ++k) {
      const auto got = receive(reader);
      EXPECT_EQ(got.rank() == 2, got.dtype() == DType::u8);
    }
  }
}

// A publisher can lie about the form of a frame: then the form's tensor has to fit nevertheless.
TEST_F(FrameForms, are_not_laid_over_slots_that_are_too_small) {
  const auto pool = *TensorPool::create(4711, TensorPoolConfig::small());
  const Tensor large = *pool->alloc({100, 10}, DType::u16);
  const TensorForm form(large);
  const auto in = [&](const Tensor& other, std::uint64_t offset) {
    Tensor out;
    const auto slot = std::static_pointer_cast<SlotBuffer>(other.buffer());
    const auto put = form.put_over(slot, offset, out);
    if (put) {
      EXPECT_EQ(described(out), described(large));
    }
    return put ? Errc::ok : put.error().code;
  };
  EXPECT_EQ(in(*pool->alloc({100, 10}, DType::u16), 0), Errc::ok);
  EXPECT_EQ(in(*pool->alloc({2000}, DType::u8), 0), Errc::ok);
  EXPECT_EQ(in(*pool->alloc({1999}, DType::u8), 0), Errc::corrupt);
  EXPECT_EQ(in(*pool->alloc({4000}, DType::u8), 64), Errc::corrupt);
  EXPECT_EQ(in(*pool->alloc({4000}, DType::u8), ~std::uint64_t{0}), Errc::corrupt);
  const TensorForm image(*pool->alloc_image(48, 32, PixelFormat::nv12));
  Tensor out;
  const Tensor small = *pool->alloc({48 * 32}, DType::u8);
  EXPECT_FALSE(image.put_over(std::static_pointer_cast<SlotBuffer>(small.buffer()), 0, out));
  EXPECT_TRUE(out.is_empty());
}

}  // namespace
}  // namespace halyard::ipc::testing
