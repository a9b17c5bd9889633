// SPDX-License-Identifier: Apache-2.0
// A camera and its viewers, in C. Frames stay where the camera has drawn them.
//   topic_frames publish TOPIC COUNT      draws frames, once there is a subscriber
//   topic_frames subscribe TOPIC COUNT    prints the frames; start it in any number of terminals
//   topic_frames both TOPIC COUNT         both in two processes
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <halyard/hal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int64_t ten_seconds = 10000000000;

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, hal_last_error());
  return 1;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int draw(const hal_tensor* frame, long number) {
  hal_tensor_map* map = hal_tensor_map_create(frame);
  void* pixels = hal_tensor_map_data(map);
  if (pixels != NULL) memset(pixels, (int)(number % 256), hal_tensor_map_size(map));
  hal_tensor_map_unmap(map);
  return pixels != NULL ? 0 : -1;
}

static int publish_frame(const hal_topic* topic, const hal_pool* pool, long number) {
  struct hal_sensor_header header = {0, "camera"};
  hal_tensor* frame = hal_pool_alloc_image(pool, 640, 480, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, 0);
  int sent = -1;
  header.timestamp_ns = now_ns();
  if (frame != NULL && draw(frame, number) == 0)
    sent = hal_topic_send_image(topic, frame, &header, HAL_IMAGE_ENCODING_RGB8);
  hal_tensor_free(frame);
  return sent;
}

static int publish(const char* name, long count) {
  hal_topic_config config = hal_topic_config_default();
  hal_topic* topic;
  hal_pool* pool;
  hal_topic_stats stats;
  long i = 0;
  int sent = 0;
  config.role = HAL_TOPIC_PUBLISHER;
  config.overflow = HAL_OVERFLOW_BLOCK;  // nobody misses a frame; a live view would drop the oldest
  topic = hal_topic_create(name, HAL_MESSAGE_IMAGE, &config);
  pool = hal_topic_pool(topic);
  if (pool == NULL) return failed("publish");
  while (hal_topic_get_stats(topic, &stats) == 0 && stats.subscribers == 0)
    usleep(10000);
  for (; i < count && sent == 0; ++i)
    sent = publish_frame(topic, pool, i);
  if (sent != 0) failed("publish");
  if (hal_topic_get_stats(topic, &stats) == 0)
    printf("published %lu frames, %lu copied\n", (unsigned long)stats.sent,
           (unsigned long)stats.copied);
  fflush(stdout);
  hal_pool_free(pool);
  hal_topic_free(topic);
  return sent != 0;
}

static void look_at(const hal_message* message, long number) {
  hal_image_metadata image;
  hal_tensor_map* map = hal_tensor_map_create(hal_message_tensor(message));
  const uint8_t* pixels = hal_tensor_map_data_const(map);
  if (hal_message_image(message, &image) == 0 && pixels != NULL) {
    printf("frame %ld: %ux%u %s of %s, first byte %d, %.1f ms old\n", number, image.width,
           image.height, hal_image_encoding_name((hal_image_encoding)image.encoding),
           image.header.frame_id, pixels[0], (double)(now_ns() - image.header.timestamp_ns) / 1e6);
  }
  hal_tensor_map_unmap(map);
}

static int subscribe(const char* name, long count) {
  hal_topic_config config = hal_topic_config_default();
  hal_topic* topic;
  uint64_t lost = 0;
  long seen = 0;
  config.role = HAL_TOPIC_SUBSCRIBER;
  config.overflow = HAL_OVERFLOW_BLOCK;
  topic = hal_topic_create(name, HAL_MESSAGE_IMAGE, &config);
  if (topic == NULL) return failed("subscribe");
  while (seen < count) {
    hal_message* message = NULL;
    uint64_t lost_before = 0;
    const int got = hal_topic_recv(topic, ten_seconds, &message, &lost_before);
    lost += lost_before;
    if (got < 0) return failed("subscribe");
    if (got == 0 && lost_before == 0) break;  // no frame for ten seconds
    if (got == 0) continue;
    look_at(message, seen++);
    hal_message_free(message);
  }
  printf("saw %ld frames, lost %lu\n", seen, (unsigned long)lost);
  fflush(stdout);
  hal_topic_free(topic);
  return seen == count ? 0 : 1;
}

static int both(const char* name, long count) {
  // Before the first call of the library: a child of fork() cannot use its parent's topics.
  const pid_t child = fork();
  int status = 1;
  if (child == 0) exit(publish(name, count));
  if (child < 0 || subscribe(name, count) != 0) return 1;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  const char* role = argc == 4 ? argv[1] : "";
  const long count = argc == 4 ? atol(argv[3]) : 0;
  if (strcmp(role, "publish") == 0) return publish(argv[2], count);
  if (strcmp(role, "subscribe") == 0) return subscribe(argv[2], count);
  if (strcmp(role, "both") == 0) return both(argv[2], count);
  fprintf(stderr, "usage: topic_frames publish|subscribe|both TOPIC COUNT\n");
  return 2;
}
