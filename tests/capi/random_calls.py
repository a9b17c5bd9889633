#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C program that calls the functions of the C interface in random order with random
arguments: handles that live, of another kind, none; sizes, texts and enumerators right and wrong.
What calls give is kept, used by later calls and freed in any order. Nothing may crash or leak.

    random_calls.py OUTPUT
    PROGRAM [SEED [CALLS]]
"""
import re
import sys
from pathlib import Path

from declarations import HEADERS, functions, opaque
from null_calls import ender, is_pointer, release

# Load what a path names, or take functions; end a reference that somebody else may have.
LEFT_OUT = {"hal_delegate_open", "hal_delegate_close", "hal_pool_release",
            "hal_pipeline_add_source", "hal_pipeline_add_model", "hal_pipeline_add_reader",
            "hal_pipeline_add_stage"}
# Handles that a call ends, whatever comes of it.
CONSUMED = re.compile(r"_(free|unmap)$|_finalize(_normalized)?$|^hal_import_image")
# Numbers that mean something: a wait that ends, numbers that meet again.
NAMED = {"timeout_ns": "(int64_t)(below(8) ? 0 : below(1000000))", "token": "(uint64_t)below(8)",
         "interval_ns": "(int64_t)small() * 1000000", "id": "(uint32_t)below(4)",
         "alignment": "(size_t)1 << below(4)"}
# Called more often, so that topics have messages.
FREQUENT = re.compile("hal_topic_(create|send|recv)")
NUMBERS = {"float": "(float)number()", "double": "number()", "bool": "below(2)",
           "int": "small()", "int32_t": "small()", "uint8_t": "(uint8_t)next()",
           "hal_message_type": "(hal_message_type)(below(8) ? below(5) : small())",
           "uint32_t": "(uint32_t)small()", "uint64_t": "(uint64_t)next() >> below(64)"}

HEAD = """// Written by tests/capi/random_calls.py.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "halyard/hal.h"

typedef struct DLManagedTensor DLManagedTensor;
typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;
enum { ROOM = 24, ARRAY = 64 };

static uint64_t state = 1;
static const char* now = "";

static uint64_t next(void) {  // xorshift64*
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (state * UINT64_C(2685821657736338717)) >> 16;
}
static int below(int n) { return (int)(next() % (uint64_t)n); }
static int small(void) { return below(16) ? below(14) - 1 : (int)next(); }
static size_t size(void) {
  static const size_t extents[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 84};
  static const size_t limits[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 40, (size_t)1 << 31};
  return below(24) ? extents[below(12)] : limits[below(4)];
}
static size_t count(void) { return below(8) ? (size_t)below(6) : (size_t)below(ARRAY + 1); }
static double number(void) {
  static const double odd[] = {0, 1, -1, 0.5, 1e30, -1e30, 0.0 / 0.0, 1 / 0.0, 255};
  return below(3) ? below(1000) / 1000.0 : odd[below(9)];
}

// What is alive, by kind.
typedef struct {
  void* handles[ROOM];
  int count;
} pool;

static void* pick(pool* kind, pool* other) {
  if (!below(32)) return NULL;
  if (!below(64)) kind = other;
  return kind->count ? kind->handles[below(kind->count)] : NULL;
}
static void drop(pool* kind, const void* handle) {
  int i;
  for (i = 0; i < kind->count; ++i)
    if (kind->handles[i] == handle) kind->handles[i] = kind->handles[--kind->count];
}

// Memory that arguments point to.
static size_t sizes[ARRAY];
static float floats[ARRAY * 4];
static int ints[ARRAY];
static uint8_t bytes[4096];
static hal_detect_box many_boxes[ARRAY];
static hal_point_field many_fields[ARRAY];
static union {
  long double align;
  uint64_t words[512];
} out;
static FILE* sink;
static int memory_fd;
static char texts[12][512] = {
    "", "x", "in.jpg", "/nowhere/file", "rgb", "out.jpg",
    "{\\"outputs\\": [{\\"type\\": \\"detection\\", \\"decoder\\": \\"ultralytics\\", \\"shape\\": "
    "[1, 84, 64]}]}",
    "{\\"outputs\\": [{\\"type\\": \\"boxes\\"}]}",
    "outputs:\\n  - type: detection\\n    decoder: ultralytics\\n    shape: [1, 8, 16]\\n",
    "\\xff\\xfe", "[[[[", "null"};
static const char* text(void) { return below(12) ? texts[below(12)] : NULL; }
static const char* topic_name(void) {
  static const char* const names[] = {"tensors", "a/b", "c-1", "d.2", "e_3", "f"};
  return below(8) ? names[below(6)] : text();
}
static void* array(void* here) { return below(12) ? here : below(2) ? NULL : (char*)here + 1; }
static void shuffle(void) {
  int i;
  for (i = 0; i < ARRAY; ++i) sizes[i] = size();
  for (i = 0; i < ARRAY * 4; ++i) floats[i] = (float)number();
  for (i = 0; i < ARRAY; ++i) ints[i] = small();
  for (i = 0; i < ARRAY; ++i) {
    const hal_detect_box box = {(float)number(), (float)number(), (float)number(),
                                (float)number(), (float)number(), size()};
    many_boxes[i] = box;
  }
  for (i = 0; i < ARRAY; ++i) {
    hal_point_field field = {"x", 0, 1, HAL_POINT_FLOAT32, {0}};
    field.name[0] = (char)('a' + below(26));
    field.offset = below(8) ? (uint32_t)(4 * i) : (uint32_t)small();
    field.count = below(8) ? 1 : (uint32_t)small();
    field.datatype = (uint8_t)below(10);
    many_fields[i] = field;
  }
  for (i = 0; i < 64; ++i) bytes[i] = (uint8_t)next();
}
static int fd(void) {
  static const int none[] = {-1, 9999, -2147483647};
  return below(4) ? memory_fd : none[below(3)];
}
static void quiet(hal_log_level level, const char* target, const char* message, void* userdata) {
  (void)level, (void)target, (void)message, (void)userdata;
}

"""
# Pools stay small: what they reserve is touched when `prefault` says so.
VARY = """
static void vary(void) {
  static const uint64_t odd[] = {0, 1, UINT64_MAX};
  hal_pool_config* const pool = &static_hal_pool_config;
  hal_topic_config* const topic = &static_hal_topic_config;
  *pool = hal_pool_config_default();
  pool->pool_size = below(8) ? (uint64_t)4096 << below(12) : odd[below(3)];
  pool->max_slots = below(8) ? 4 : (uint32_t)small();
  pool->slot_alignment = below(8) ? 64 : (uint32_t)small();
  pool->scrub = below(8) ? below(3) : small();
  pool->prefault = below(2);
  pool->huge_pages = below(2);
  pool->first_bytes = below(2) ? 0 : size();
  *topic = hal_topic_config_default();
  if (!below(4)) topic->depth = small();
  if (!below(4)) topic->overflow = small();
  if (!below(4)) topic->history = small();
  if (!below(4)) topic->max_endpoints = small();
  topic->pool = below(4) ? pool : NULL;
  topic->role = below(8) ? 1 + below(3) : small();
  topic->latest_only = below(2);
  topic->receives_own = below(2);
  topic->block_timeout_ns = below(1000000);
}
"""
MAIN = """
int main(int argc, char** argv) {{
  const long calls = argc > 2 ? atol(argv[2]) : 2000;
  char folder[] = P_tmpdir "/halyard_calls_XXXXXX";
  hal_tensor* image;
  long i;
  state = argc > 1 ? strtoull(argv[1], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15) + 1 : 1;
  CHECK(mkdtemp(folder) != NULL && chdir(folder) == 0);
  CHECK(setenv("HALYARD_SHM_DIR", folder, 1) == 0);
  memory_fd = memfd_create("calls", MFD_CLOEXEC);
  CHECK(memory_fd >= 0 && ftruncate(memory_fd, 16384) == 0);
  sink = fopen("/dev/null", "w");
  image = hal_tensor_new_image(24, 16, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM);
  CHECK(hal_tensor_save_jpeg(image, "in.jpg", 90) == 0);
  hal_tensor_free(image);
  for (i = 0; i < calls; ++i) {{
    if (i % 16 == 0) shuffle(), vary();
    if (getenv("HALYARD_SHOW_CALLS")) fprintf(stderr, "%ld %s\\n", i, now);
    functions[below((int)(sizeof functions / sizeof functions[0]))]();
  }}
  hal_stop_tracing();
{free}
  hal_log_init_callback(quiet, NULL, HAL_LOG_LEVEL_ERROR);
  fclose(sink);
  close(memory_fd);
  CHECK(chdir("/") == 0);
  {{
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
  }}
  printf("%ld calls of {count} functions, last %s: %d failed\\n", calls, now, failures);
  return failures != 0;
}}
"""


def base_of(kind):
    return re.sub(r"\bconst\b|\bstruct\b|\benum\b|\*", "", kind).strip()


class Writer:
    def __init__(self):
        self.table, self.handles = functions(), opaque()
        self.structs = {s for h in HEADERS
                        for s in re.findall(r"^struct (\w+) \{", h.read_text(), re.M)}
        self.kinds = sorted(self.handles | {"DLManagedTensor", "DLManagedTensorVersioned"})
        self.enders = {}
        for kind in self.kinds:
            probe = next((f for f in self.table.values() if base_of(f.returns) == kind), None)
            end = release(probe, self.table, self.handles) if probe else ender(kind, self.table)
            self.enders[kind] = end or "(void)result;"

    def argument(self, function, kind, name, previous, index, before, after, consumes):
        """The expression of an argument; statements around the call go to before and after."""
        base = base_of(kind)
        stars = kind.count("*")
        if base == "hal_log_callback":
            return "below(2) ? quiet : NULL"
        if base == "void" and name == "data":
            return "below(12) ? bytes : NULL"
        if base in ("hal_delegate_t", "void") or "(*)(" in kind:
            return "NULL"
        if base == "FILE":
            return "below(4) ? sink : NULL"
        if base == "hal_tensor" and stars == 2 and "const" in kind:
            before.append(f"const hal_tensor* a{index}[ARRAY]; int i{index};")
            before.append(f"for (i{index} = 0; i{index} < ARRAY; ++i{index}) a{index}[i{index}] = "
                          "pick(&pool_hal_tensor, &pool_hal_plane_descriptor);")
            return f"below(16) ? (const hal_tensor* const*)a{index} : NULL"
        if base in self.kinds and stars == 2:
            before.append(f"{base}* a{index} = NULL;")
            after.append(f"keep_{base}(a{index});")
            return f"below(12) ? &a{index} : NULL"
        if base in self.kinds and stars == 1:
            other = "hal_tensor" if base != "hal_tensor" else "hal_plane_descriptor"
            if base.startswith("DL") or consumes:
                other = base
            before.append(f"{base}* a{index} = pick(&pool_{base}, &pool_{other});")
            if consumes:
                before.append(f"drop(&pool_{base}, a{index});")
            elif base.startswith("DL"):
                after.append(f"if (result != NULL) drop(&pool_{base}, a{index});")
            return f"a{index}"
        if base == "char" and function.startswith("hal_topic_create") and name == "name":
            return "topic_name()"
        if base == "char" and stars == 1:
            return "text()" if "const" in kind else "array(out.words)"
        if "[" in kind or stars:
            return self.memory(kind, base)
        if base in self.structs:
            return f"static_{base}"
        if base == "size_t":
            counts = previous and is_pointer(previous) and base_of(previous) not in self.kinds
            return "count()" if counts or name in ("num_outputs", "info_size") else "size()"
        if name == "fd":
            return "fd()"
        if name in NAMED:
            return NAMED[name]
        return NUMBERS[base] if base in NUMBERS else f"({base})small()"

    def memory(self, kind, base):
        cast = f"({kind})"
        if "const" not in kind:
            if base in self.structs:
                # Their callers say how long they are.
                room = "out.words" if re.search("tensor_info|format_info", base) else \
                    f"&static_{base}"
                return f"{cast}array({room})"
            return f"{cast}array({'bytes' if base == 'uint8_t' else 'out.words'})"
        if base in self.structs:
            many = {"hal_detect_box": "many_boxes", "hal_point_field": "many_fields"}
            return f"{cast}array({many.get(base, f'&static_{base}')})"
        if "uint8_t" in base or base == "bool":
            return f"{cast}(below(12) ? bytes : NULL)"
        place = "sizes" if base == "size_t" else "floats" if "float" in base else "ints"
        return f"{cast}array({place})"

    def call(self, function):
        before, after, arguments = [], [], []
        consumes = bool(CONSUMED.search(function.name))
        previous = None
        for index, (kind, name) in enumerate(function.parameters):
            ends = consumes and (len(function.parameters) == 1 or "plane_descriptor" in kind)
            arguments.append(self.argument(function.name, kind, name, previous, index, before,
                                           after, ends))
            previous = kind
        text = f"{function.name}({', '.join(arguments)})"
        kind, base = function.returns, base_of(function.returns)
        if kind == "void":
            run = [f"{text};"]
        else:
            run = [f"{kind} result;", "errno = 0;", f"result = {text};"]
            if base in self.kinds and "*" in kind and "const" not in kind:
                run.append(f"keep_{base}(result);")
            elif kind in ("char*", "uint8_t*"):
                run.append("free(result);")
            elif base in self.structs:
                run.append(f"static_{base} = result;")
            elif re.search(r"clone_fd$|dmabuf_clone$", function.name):
                run.append("if (result >= 0) close(result);")
            else:
                run.append("(void)result;")
        if function.name == "hal_pool_alloc_slot":
            after.append("if (result == 0 && below(2)) "
                         "CHECK(hal_pool_release(a0, &static_hal_tensor_descriptor) == 0);")
        body = before + run + after
        lines = "\n".join(f"  {line}" for line in [f'now = "{function.name}";'] + body)
        return f"static void call_{function.name}(void) {{\n{lines}\n}}\n"

    def write(self):
        text = [HEAD]
        text += [f"static pool pool_{kind};\n" for kind in self.kinds]
        names = sorted(set(self.table) - LEFT_OUT)
        calls = VARY + "".join(self.call(self.table[name]) for name in names)
        text += [f"static {s} static_{s};\n" for s in sorted(self.structs)
                 if re.search(rf"\bstatic_{s}\b", calls)]
        for kind in self.kinds:
            end = self.enders[kind].replace("result", "old")
            text.append(
                f"static void keep_{kind}({kind}* result) {{\n  if (result == NULL) return;\n"
                f"  if (pool_{kind}.count == ROOM) {{\n"
                f"    {kind}* old = pool_{kind}.handles[below(ROOM)];\n"
                f"    drop(&pool_{kind}, old);\n    {end}\n  }}\n"
                f"  pool_{kind}.handles[pool_{kind}.count++] = result;\n}}\n")
        text.append(calls)
        table = names + [name for name in names if FREQUENT.match(name)] * 4
        text.append("static void (*const functions[])(void) = {\n" +
                    "".join(f"    call_{name},\n" for name in table) + "};\n")
        free = "\n".join(
            f"  for (i = 0; i < pool_{kind}.count; ++i) {{\n"
            f"    {kind}* old = pool_{kind}.handles[i];\n    "
            + self.enders[kind].replace("result", "old") + "\n  }" for kind in self.kinds)
        text.append(MAIN.format(count=len(names), free=free))
        return "".join(text)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(Writer().write())
