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
  const Tensor tensor(hal_pool_alloc(pool, HAL_DTYPE_F32, shape, 2));
  ASSERT_TRUE(tensor) << hal_last_error();
  EXPECT_FALSE(Tensor(hal_pool_alloc(pool, static_cast<hal_dtype>(99), shape, 2)));
  hal_tensor_descriptor descriptor;
  EXPECT_DONE(hal_tensor_descriptor_of(tensor, &descriptor));
  const Tensor same(hal_pool_attach(pool, &descriptor));
  descriptor.generation_low += 2;
  EXPECT_FALSE(Tensor(hal_pool_attach(pool, &descriptor)));
  EXPECT_DONE(hal_pool_alloc_slot(pool, HAL_DTYPE_U8, shape, 2, &descriptor));
  EXPECT_DONE(hal_pool_release(pool, &descriptor));
  EXPECT_DONE(hal_topic_send_point_cloud(from, tensor, nullptr, nullptr, 0, true));
  EXPECT_EQ(hal_topic_send_point_cloud(from, tensor, nullptr, nullptr, 1, true), -1);
  EXPECT_EQ(hal_topic_send_tensor(from, tensor), -1);
  Message out = receive(to);
  const Tensor kept(hal_message_clone_tensor(out));
  hal_point_cloud_metadata metadata;
  EXPECT_DONE(hal_message_point_cloud(out, &metadata));
  EXPECT_EQ(hal_message_image(out, nullptr), -1);
  EXPECT_EQ(hal_topic_recv(to, 0, out.out(), nullptr), 0);
  EXPECT_TRUE(Pool(hal_topic_pool(to)));
  const Topic own(hal_topic_create("leaks/own", HAL_MESSAGE_BYTES, nullptr));
  const Topic other(hal_topic_create("leaks/own", HAL_MESSAGE_BYTES, nullptr));
  EXPECT_FALSE(Topic(hal_topic_create("leaks/own", HAL_MESSAGE_IMAGE, nullptr)));
  const Owned<hal_waitset> set(hal_waitset_create());
  EXPECT_DONE(hal_waitset_add_topic(set, other, 1));
  EXPECT_DONE(hal_waitset_add_timer(set, 1'000'000'000, 2));
  EXPECT_DONE(hal_topic_send(own, "bytes", 5));
  std::uint64_t token = 0;
  EXPECT_EQ(hal_waitset_wait(set, &token, 1, 0), 1);
  EXPECT_TRUE(receive(other));
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
