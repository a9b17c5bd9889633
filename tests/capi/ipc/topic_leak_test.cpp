// SPDX-License-Identifier: Apache-2.0
// Calls of pools and topics, good ones and failures, leave the heap as it was.
#include <gtest/gtest.h>

#include "capi/heap.h"
#include "capi/owned.h"
#include "ipc/peer.h"

namespace {

using namespace halyard::test;

// About 40 calls.
void round(const Topic& from, const Topic& to, const Pool& pool) {
  const std::size_t shape[2] = {6, 4};
  const Tensor tensor(hal_pool_alloc(pool.get(), HAL_DTYPE_F32, shape, 2));
  ASSERT_TRUE(tensor) << hal_last_error();
  EXPECT_FALSE(Tensor(hal_pool_alloc(pool.get(), static_cast<hal_dtype>(99), shape, 2)));
  hal_tensor_descriptor descriptor;
  EXPECT_EQ(hal_tensor_descriptor_of(tensor.get(), &descriptor), 0);
  const Tensor same(hal_pool_attach(pool.get(), &descriptor));
  descriptor.generation_low += 2;
  EXPECT_FALSE(Tensor(hal_pool_attach(pool.get(), &descriptor)));
  EXPECT_EQ(hal_pool_alloc_slot(pool.get(), HAL_DTYPE_U8, shape, 2, &descriptor), 0);
  EXPECT_EQ(hal_pool_release(pool.get(), &descriptor), 0);
  EXPECT_EQ(hal_topic_send_point_cloud(from.get(), tensor.get(), nullptr, nullptr, 0, true), 0);
  EXPECT_EQ(hal_topic_send_point_cloud(from.get(), tensor.get(), nullptr, nullptr, 1, true), -1);
  EXPECT_EQ(hal_topic_send_tensor(from.get(), tensor.get()), -1);
  hal_message* out = nullptr;
  EXPECT_EQ(hal_topic_recv(to.get(), 0, &out, nullptr), 1) << hal_last_error();
  const Message message(out);
  const Tensor kept(hal_message_clone_tensor(out));
  hal_point_cloud_metadata metadata;
  EXPECT_EQ(hal_message_point_cloud(out, &metadata), 0);
  EXPECT_EQ(hal_message_image(out, nullptr), -1);
  EXPECT_EQ(hal_topic_recv(to.get(), 0, &out, nullptr), 0);
  EXPECT_TRUE(Pool(hal_topic_pool(to.get())));
  const Topic own(hal_topic_create("leaks/own", HAL_MESSAGE_BYTES, nullptr));
  const Topic other(hal_topic_create("leaks/own", HAL_MESSAGE_BYTES, nullptr));
  EXPECT_FALSE(Topic(hal_topic_create("leaks/own", HAL_MESSAGE_IMAGE, nullptr)));
  const Owned<hal_waitset> set(hal_waitset_create());
  EXPECT_EQ(hal_waitset_add_topic(set.get(), other.get(), 1), 0);
  EXPECT_EQ(hal_waitset_add_timer(set.get(), 1'000'000'000, 2), 0);
  EXPECT_EQ(hal_topic_send(own.get(), "bytes", 5), 0) << hal_last_error();
  std::uint64_t token = 0;
  EXPECT_EQ(hal_waitset_wait(set.get(), &token, 1, 0), 1);
  EXPECT_EQ(hal_topic_recv(other.get(), 0, &out, nullptr), 1);
  hal_message_free(out);
}

TEST(CapiLeaks, stay_none_over_pools_and_topics) {
  const Topic from(hal_topic_create("leaks/cloud", HAL_MESSAGE_POINT_CLOUD, nullptr));
  const Topic to(hal_topic_create("leaks/cloud", HAL_MESSAGE_POINT_CLOUD, nullptr));
  const Pool pool(hal_pool_create(21, nullptr));
  for (int i = 0; i < 50; ++i)
    round(from, to, pool);
  const std::size_t before = heap_bytes();
  for (int i = 0; i < 300; ++i)
    round(from, to, pool);
  EXPECT_LT(heap_bytes(), before + 16384) << "300 rounds of 40 calls";
}

}  // namespace
