#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C program that calls every function of the C interface with nothing: NULL, 0, -1,
handles of another kind, good handles beside nothing, and addresses that are not aligned. None may
crash; without a good handle those that can fail must, with an errno.

    null_calls.py OUTPUT
"""
import re
import sys
from pathlib import Path

from declarations import functions, opaque

# A handle of another kind: a tensor for all but tensors.
WRONG = {"hal_tensor": "plane"}
GOOD = {"hal_tensor": "tensor", "hal_image_processor": "processor"}
# What a NULL handle gives, where it is not 0.
DEFAULTS = {"hal_tensor_pixel_format": "HAL_PIXEL_FORMAT_RGB",
            "hal_quantization_kind": "HAL_TENSOR_QUANT_KIND_PER_TENSOR",
            "hal_proto_data_layout": "-1", "hal_pipeline_frame_is_skipped": "true"}
# Fail and leave errno alone: getters.
QUIET = {"hal_tensor_shape", "hal_tensor_map_data", "hal_tensor_map_data_const",
         "hal_tensor_map_shape", "hal_tensor_cuda_device_ptr", "hal_topic_name",
         "hal_message_tensor", "hal_message_data", "hal_buffer_heap", "hal_buffer_enforcement",
         "hal_pipeline_label", "hal_pipeline_frame_path", "hal_pipeline_frame_error",
         "hal_video_packet_data"}
# Fail with another errno: those of other systems, and these.
FOREIGN = re.compile(r"hardware_buffer|iosurface|hal_delegate_open")
OTHERWISE = {"hal_buffer_import": "(errno == EINVAL || errno == EBADMSG)"}
# Give something although they get nothing.
SUCCEEDS = {"hal_detect_box_list_new", "hal_pool_create", "hal_pipeline_new", "hal_camera_list",
            "hal_video_codec_list"}
# Not called: what waits, or what changes the process for good.
LEFT_OUT = set()

HEAD = """// Written by tests/capi/null_calls.py.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "halyard/hal.h"

static hal_tensor* tensor;
static hal_plane_descriptor* plane;
static hal_image_processor* processor;
static union {
  long double align;
  char bytes[4096];
} room;

"""
MAIN = """int main(void) {{
  const size_t shape[1] = {{64}};
  char folder[] = P_tmpdir "/halyard_nulls_XXXXXX";
  char command[sizeof folder + 16];
  int fd = -1;
  // Pools of this program alone.
  CHECK(mkdtemp(folder) != NULL && setenv("HALYARD_SHM_DIR", folder, 1) == 0);
  tensor = hal_tensor_new(HAL_DTYPE_U8, shape, 1, HAL_TENSOR_MEMORY_SHM, NULL);
  fd = hal_tensor_clone_fd(tensor);
  plane = hal_plane_descriptor_new(fd);
  processor = hal_image_processor_new();
  CHECK(tensor != NULL && plane != NULL && processor != NULL);
{calls}
  CHECK(hal_tensor_len(tensor) == 64);
  CHECK(hal_plane_descriptor_set_offset(plane, 0) == 0);
  hal_tensor_free(tensor);
  hal_plane_descriptor_free(plane);
  hal_image_processor_free(processor);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(system(command) == 0);
  printf("{count} functions called with nothing: %d failed\\n", failures);
  return failures != 0;
}}
"""


def value(kind, number, given, handles):
    """An argument of a type: `number` where it is one; handles as `given`, else NULL."""
    base = re.sub(r"\bconst\b|\bstruct\b|\benum\b", "", kind).strip()
    if "*" in kind or "[" in kind:
        name = base.rstrip("*").strip()
        if given == "unaligned" and name not in GOOD and needs_alignment(kind):
            return f"({kind})(void*)(room.bytes + 1)"
        if given == "wrong" and name in handles and base.count("*") == 1:
            return f"({kind})(void*){WRONG.get(name, 'tensor')}"
        is_good = given in ("good", "unaligned") and kind.count("*") == 1 and name in GOOD
        return GOOD[name] if is_good else "NULL"
    if is_pointer(kind):
        return "NULL"
    if base in ("float", "double"):
        return f"({base}){number}"
    if base == "bool":
        return "false" if number == 0 else "true"
    if base in STRUCTS:
        return f"zero_{base}()"
    return f"({base}){number}"


def is_pointer(kind):
    return "*" in kind or "[" in kind or kind.endswith("_callback") or kind == "hal_delegate_t"


def needs_alignment(kind):
    return bool(is_pointer(kind)) and not re.search(
        r"\b(char|uint8_t|void|FILE|bool)\b|_callback$|hal_delegate_t|\(\*\)\(", kind)


def expectation(function):
    """The condition on `result` and errno when every pointer is NULL."""
    kind, name = function.returns, function.name
    code = "ENOTSUP" if FOREIGN.search(name) else "EINVAL"
    failed = OTHERWISE.get(name, f"errno == {code}")
    has_pointer = any(is_pointer(t) for t, _ in function.parameters)
    if kind == "void" or not has_pointer or function.name in SUCCEEDS:
        return None
    if kind in STRUCTS:
        return None
    if is_pointer(kind):
        return "result == NULL" + ("" if name in QUIET else f" && {failed}")
    if kind in ("int", "int32_t"):
        return f"result == -1 && {failed}" if kind == "int" and name not in DEFAULTS \
            else f"result == {DEFAULTS.get(name, 0)}"
    return f"result == {DEFAULTS.get(name, 0)}"


def ender(name, table):
    """The call that ends a handle of this type; none: empty."""
    for other in table.values():
        if other.returns == "void" and re.search(r"_(free|unmap)$", other.name) \
                and [t for t, _ in other.parameters] == [f"{name}*"]:
            return f"{other.name}(result);"
    return ""


def release(function, table, handles):
    """The call that ends what a function gave; const: it lends."""
    if "const" in function.returns:
        return ""
    name = re.sub(r"\bconst\b|\*", "", function.returns).strip()
    if "DLManagedTensor" in name:
        suffix = "_versioned" if name.endswith("Versioned") else ""
        return f"hal_tensor_free(hal_tensor_from_dlpack{suffix}(result));"
    if function.returns in ("char*", "uint8_t*"):
        return "free(result);"
    if name not in handles:
        return ""
    return ender(name, table)


def call(function, number, given, table, handles):
    arguments = ", ".join(value(t, number, given, handles) for t, _ in function.parameters)
    text = f"{function.name}({arguments})"
    lines = ["  errno = 0;"]
    if function.returns == "void":
        return lines + [f"  {text};"]
    expected = expectation(function) if given != "good" else None
    if given == "unaligned" and function.name in QUIET:
        expected = None
    if given == "unaligned" and not any(needs_alignment(t) and re.sub(r"const|\*", "", t).strip()
                                        not in GOOD for t, _ in function.parameters):
        expected = None
    end = release(function, table, handles) if is_pointer(function.returns) else ""
    lines += ["  {", f"    {function.returns} result = {text};"]
    lines += [f"    CHECK({expected});"] if expected else ["    (void)result;"]
    lines += [f"    {end}"] if end else []
    return lines + ["  }"]


def structs(table, handles):
    """Types that are passed by value and are no numbers."""
    numbers = {"int", "unsigned", "bool", "float", "double", "void", "char", "size_t"}
    kinds = {t for f in table.values() for t in [f.returns] + [t for t, _ in f.parameters]}
    plain = {t for t in kinds if not is_pointer(t) and t not in numbers and "int" not in t}
    text = "".join(h.read_text() for h in __import__("declarations").HEADERS)
    return {t for t in plain if re.search(rf"struct {t} \{{", text)} - handles


def main():
    global STRUCTS
    table, handles = functions(), opaque()
    STRUCTS = structs(table, handles)
    out = [HEAD]
    out += [f"static {s} zero_{s}(void) {{\n  {s} value;\n  memset(&value, 0, sizeof value);\n"
            f"  return value;\n}}\n\n" for s in sorted(STRUCTS)
            if any(s == t for f in table.values() for t, _ in f.parameters)]
    names = sorted(set(table) - LEFT_OUT)
    for name in names:
        body = []
        ends = re.search(r"_(free|unmap|finalize\w*)$", name)
        for given in ("none", "wrong") + (() if ends else ("good", "unaligned")):
            for number in (0, -1):
                body += call(table[name], number, given, table, handles)
        out.append(f"static void call_{name}(void) {{\n" + "\n".join(body) + "\n}\n\n")
    calls = "\n".join(f"  call_{name}();" for name in names)
    out.append(MAIN.format(calls=calls, count=len(names)))
    Path(sys.argv[1]).write_text("".join(out))


if __name__ == "__main__":
    main()
