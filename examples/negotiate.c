// SPDX-License-Identifier: Apache-2.0
// A program and an accelerator agree on a tensor's rows; a camera that cannot agree is reported.
#include <halyard/hal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hal_attrs* program(void) {
  hal_attrs* attrs = hal_attrs_new("program");
  hal_attrs_set(attrs, "t.dtype", "\"u8\"");
  hal_attrs_set(attrs, "t.shape", "[1, 3, 480, 650]");
  hal_attrs_set(attrs, "g.cpu", "\"read_write\"");
  return attrs;
}

static int fill(const hal_reconciled* reconciled) {
  hal_buffer* buffer = hal_reconciled_alloc(reconciled, NULL);
  size_t size = 0;
  void* data = hal_buffer_lock(buffer, HAL_CPU_ACCESS_WRITE, 100000000, &size);
  int result = -1;
  if (data != NULL) {
    memset(data, 128, size);
    result = hal_buffer_unlock(buffer);
    printf("%zu bytes of %s\n", size, hal_buffer_heap(buffer));
  }
  hal_buffer_free(buffer);
  return result;
}

static int negotiate(hal_attrs* const* lists, size_t count) {
  char* report = NULL;
  hal_reconciled* reconciled = hal_reconcile(lists, count, 0, &report);
  int result = -1;
  if (reconciled != NULL) {
    result = fill(reconciled);
  } else if (report != NULL) {
    printf("%s\n", report);
  } else {
    fprintf(stderr, "%s\n", hal_last_error());
  }
  free(report);
  hal_reconciled_free(reconciled);
  return result;
}

int main(void) {
  hal_attrs* lists[] = {program(), hal_attrs_new("accelerator"), hal_attrs_new("camera")};
  int agree = 0;
  int still_agree = 0;
  hal_attrs_set_number(lists[1], "t.row_align", 64);
  hal_attrs_set_number(lists[2], "t.row_exact", 650);
  agree = negotiate(lists, 2) == 0;
  still_agree = negotiate(lists, 3) == 0;
  for (size_t k = 0; k < 3; ++k)
    hal_attrs_free(lists[k]);
  return agree && !still_agree ? 0 : 1;
}
