// SPDX-License-Identifier: Apache-2.0
// Rectangles and crops in C.
#include <algorithm>
#include <array>

#include "capi/generation.h"
#include "capi/handles.h"

// A misaligned address counts as NULL, because these functions cannot fail.
template <class T>
static bool is_there(const T* argument) {
  return argument != nullptr && halyard::capi::is_aligned(argument);
}

hal_region hal_region_new(size_t x, size_t y, size_t width, size_t height) {
  return {.x = x, .y = y, .width = width, .height = height};
}

hal_rect hal_rect_new(size_t left, size_t top, size_t width, size_t height) {
  return {.left = left, .top = top, .width = width, .height = height};
}

hal_crop hal_crop_new(void) {
  return {};
}

HALYARD_HAL_0_27(hal_crop_new)
hal_crop_27 hal_crop_new_27(void) {
  return {.source = {}, .has_source = false, .fit = HAL_FIT_STRETCH, .pad = {0, 0, 0, 255}};
}

void hal_crop_set_src_rect(hal_crop* crop, const hal_rect* rect) {
  if (!is_there(crop)) return;
  crop->has_src_rect = is_there(rect);
  crop->src_rect = is_there(rect) ? *rect : hal_rect{};
}

void hal_crop_set_dst_rect(hal_crop* crop, const hal_rect* rect) {
  if (!is_there(crop)) return;
  crop->has_dst_rect = is_there(rect);
  crop->dst_rect = is_there(rect) ? *rect : hal_rect{};
}

void hal_crop_set_dst_color(hal_crop* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a) {
  if (!is_there(crop)) return;
  crop->has_dst_color = true;
  std::ranges::copy(std::array{r, g, b, a}, crop->dst_color);
}

void hal_crop_set_source(hal_crop* crop, const hal_region* region) {
  if (!is_there(region)) return hal_crop_set_src_rect(crop, nullptr);
  const hal_rect rect{region->x, region->y, region->width, region->height};
  hal_crop_set_src_rect(crop, &rect);
}

HALYARD_HAL_0_27(hal_crop_set_source)
void hal_crop_set_source_27(hal_crop_27* crop, const hal_region* region) {
  if (!is_there(crop)) return;
  crop->has_source = is_there(region);
  crop->source = is_there(region) ? *region : hal_region{};
}

void hal_crop_set_letterbox(hal_crop* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a) {
  if (!is_there(crop)) return;
  crop->letterbox = true;
  hal_crop_set_dst_color(crop, r, g, b, a);
}

HALYARD_HAL_0_27(hal_crop_set_letterbox)
void hal_crop_set_letterbox_27(hal_crop_27* crop, uint8_t r, uint8_t g, uint8_t b, uint8_t a) {
  if (!is_there(crop)) return;
  crop->fit = HAL_FIT_LETTERBOX;
  std::ranges::copy(std::array{r, g, b, a}, crop->pad);
}
