// SPDX-License-Identifier: Apache-2.0
// Letterboxes an image into a network's input, in C. Usage: network_input IN.jpg OUT.jpg SIDE
#include <halyard/hal.h>
#include <stdio.h>
#include <stdlib.h>

static hal_tensor* network_input(const char* path, size_t side) {
  hal_image_processor* processor = hal_image_processor_new();
  hal_tensor* image = hal_tensor_load_file(path, HAL_PIXEL_FORMAT_RGB);
  hal_tensor* input =
      hal_image_processor_create_image(processor, side, side, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8);
  hal_crop crop = hal_crop_new();
  hal_crop_set_letterbox(&crop, 114, 114, 114, 255);
  if (image == NULL || input == NULL ||
      hal_image_processor_convert(processor, image, input, HAL_ROTATION_NONE, HAL_FLIP_NONE,
                                  &crop) != 0) {
    fprintf(stderr, "%s\n", hal_last_error());
    hal_tensor_free(input);
    input = NULL;
  }
  hal_tensor_free(image);
  hal_image_processor_free(processor);
  return input;
}

int main(int argc, char** argv) {
  const long side = argc == 4 ? atol(argv[3]) : 0;
  hal_tensor* input;
  int failed;
  if (side < 1 || side > 65535) {
    fprintf(stderr, "usage: network_input IN.jpg OUT.jpg SIDE\n");
    return 2;
  }
  input = network_input(argv[1], (size_t)side);
  if (input == NULL) return 1;
  failed = hal_tensor_save_jpeg(input, argv[2], 90);
  if (failed)
    fprintf(stderr, "%s\n", hal_last_error());
  else
    printf("%zu bytes of input, also in %s\n", hal_tensor_size(input), argv[2]);
  hal_tensor_free(input);
  return failed ? 1 : 0;
}
