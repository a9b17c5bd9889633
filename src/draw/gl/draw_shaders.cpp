// SPDX-License-Identifier: Apache-2.0
// Weights are integers, computed as on the CPU; the blending unit rounds once, as the CPU does.
#include "draw/gl/draw_shaders.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace halyard::draw {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(DrawUniform::count)> names = {
    "commands",      "shapes",  "table",      "prototypes",     "numbers",
    "plane_size",    "columns", "shift",      "quad_vector",    "image_size",
    "target_origin", "channel", "row_stride", "element_stride", "channels"};

constexpr std::string_view precisions = R"(precision highp float;
precision highp int;
precision highp sampler2D;
precision highp isampler2D;
precision highp usampler2D;
)";

constexpr std::string_view vertex_main = R"(uniform isampler2D commands;
uniform ivec2 plane_size;
uniform int columns;
uniform int shift;
uniform int quad_vector;
flat out int command;
void main() {
  command = gl_VertexID / 6;
  int corner = gl_VertexID - 6 * command;
  int id = corner < 3 ? corner : (corner == 3 ? 2 : (corner == 4 ? 1 : 3));
  int at = 6 * command + quad_vector;
  ivec4 quad = texelFetch(commands, ivec2(at % 2048, at / 2048), 0);
  ivec2 low = (quad.xy >> shift) * ivec2(columns, 1);
  ivec2 high = ((quad.zw + shift) >> shift) * ivec2(columns, 1);
  vec2 point = vec2((id & 1) == 0 ? low.x : high.x, (id & 2) == 0 ? low.y : high.y);
  gl_Position = vec4(2.0 * point / vec2(plane_size) - 1.0, 0.0, 1.0);
}
)";

constexpr std::string_view shape_head = R"(uniform isampler2D commands;
uniform ivec2 image_size;
uniform ivec2 target_origin;
uniform int channel;
flat in int command;
out vec4 result;
vec3 color;
ivec4 vector(int i) {
  int at = 6 * command + i;
  return texelFetch(commands, ivec2(at % 2048, at / 2048), 0);
}
bool is_inside(ivec2 p, ivec4 rect) {
  return all(greaterThanEqual(p, rect.xy)) && all(lessThan(p, rect.zw));
}
void use_ink(int bytes) {
  color = vec3(float(bytes & 255), float((bytes >> 8) & 255), float((bytes >> 16) & 255)) / 255.0;
}
)";

// weight() of fills, coverage and pieces of trails. Chroma that several rectangles of one fill
// share is drawn with the first of them.
constexpr std::string_view operations_weight = R"(uniform usampler2D shapes;
float distance_to(ivec4 bits, vec2 p) {
  vec4 line = intBitsToFloat(bits);
  vec2 d = line.zw - line.xy;
  float length2 = dot(d, d);
  float t = length2 > 0.0 ? clamp(dot(p - line.xy, d) / length2, 0.0, 1.0) : 0.0;
  vec2 e = p - (line.xy + t * d);
  return sqrt(dot(e, e));
}
int piece_weight(ivec2 at, int alpha) {
  ivec4 numbers = vector(5);
  vec2 p = vec2(at) + 0.5;
  float d = distance_to(vector(2), p);
  float part = clamp(intBitsToFloat(numbers.x) + 0.5 - d, 0.0, 1.0);
  if ((numbers.z & 1) != 0 && d - distance_to(vector(3), p) > 1.0 / 1024.0) return 0;
  if ((numbers.z & 2) != 0 && distance_to(vector(4), p) - d <= 1.0 / 1024.0) return 0;
  return int(floor(part * intBitsToFloat(numbers.y) * float(alpha) + 0.5));
}
int coverage_weight(ivec2 p, ivec4 state) {
  ivec4 place = vector(2);
  ivec2 at = ivec2(place.z + p.x - place.x, place.w + state.w * (p.y - place.y));
  int own = int(texelFetch(shapes, at, 0).x);
  int v = own * state.y + 128;
  return state.y == 255 ? own : (v + (v >> 8)) >> 8;
}
int weight(ivec2 p) {
  ivec4 state = vector(1);
  use_ink(state.z);
  int kind = state.x & 255;
  if (kind == 0) {
    int count = (state.x >> 8) & 255;
    for (int i = 0; i < count; ++i)
      if (is_inside(p, vector(2 + i))) return state.y;
    return 0;
  }
  if (!is_inside(p, vector(0))) return 0;
  return kind == 1 ? coverage_weight(p, state) : piece_weight(p, state.y);
}
bool is_drawn_before(ivec2 block) {
  int own = vector(1).x >> 16;
  for (int i = 0; i < own; ++i)
    for (int k = 0; k < 4; ++k)
      if (is_inside(min(2 * block + ivec2(k & 1, k >> 1), image_size - 1), vector(2 + i)))
        return true;
  return false;
}
)";

constexpr std::string_view never_before = R"(bool is_drawn_before(ivec2 block) { return false; }
)";

// The bilinear sampler of decode/mask/mask_sample.h.
constexpr std::string_view logits_weight = R"(uniform usampler2D shapes;
uniform usampler2D table;
float logit(ivec2 at) { return uintBitsToFloat(texelFetch(shapes, at, 0).x); }
uvec2 samples(int i) { return texelFetch(table, ivec2(i % 2048, i / 2048), 0).xy; }
float along(ivec2 at, float high) {
  float first = logit(at);
  return high > 0.0 ? (1.0 - high) * first + high * logit(at + ivec2(1, 0)) : first;
}
int weight(ivec2 p) {
  if (!is_inside(p, vector(0))) return 0;
  ivec4 state = vector(1);
  use_ink(state.z);
  uvec2 x = samples(p.x);
  uvec2 y = samples(image_size.x + p.y);
  ivec2 at = ivec2(int(x.x), int(y.x)) + vector(2).xy;
  vec2 high = uintBitsToFloat(uvec2(x.y, y.y));
  float value = along(at, high.x);
  if (high.y > 0.0) value = (1.0 - high.y) * value + high.y * along(at + ivec2(0, 1), high.x);
  return value > 0.0 ? state.y : 0;
}
)";

constexpr std::string_view mask_bytes_weight = R"(uniform usampler2D shapes;
int weight(ivec2 p) {
  if (!is_inside(p, vector(0))) return 0;
  ivec4 state = vector(1);
  use_ink(state.z);
  ivec4 place = vector(2);
  int at = place.x + (p.y - place.w) * place.y + p.x - place.z;
  return texelFetch(shapes, ivec2(at % 2048, at / 2048), 0).x >= 128u ? state.y : 0;
}
)";

constexpr std::string_view class_map_weight = R"(uniform usampler2D shapes;
uniform usampler2D table;
uniform int row_stride;
int weight(ivec2 p) {
  int at = p.y * row_stride + p.x;
  int id = int(texelFetch(shapes, ivec2(at % 2048, at / 2048), 0).x);
  uvec4 ink = texelFetch(table, ivec2(id % 2048, id / 2048), 0);
  color = vec3(ink.xyz) / 255.0;
  return int(ink.w);
}
)";

constexpr std::string_view one_pixel_main = R"(void main() {{
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  int w = weight({});
  if (w == 0) discard;
  result = vec4({}, float(w) / 255.0);
}}
)";

// The mean of the four pixels, each by its weight.
constexpr std::string_view blocks_main = R"(void main() {
  ivec2 at = ivec2(gl_FragCoord.xy) - target_origin;
  if (is_drawn_before(at)) discard;
  int sum = 0;
  vec2 mixed = vec2(0.0);
  for (int k = 0; k < 4; ++k) {
    int w = weight(min(2 * at + ivec2(k & 1, k >> 1), image_size - 1));
    if (w == 0) continue;
    sum += w;
    mixed += color.yz * float(w);
  }
  if (sum == 0) discard;
  result = vec4(mixed / float(sum), 0.0, float(sum) / 1020.0);
}
)";

std::string_view weight_text(ShapeKind shape) noexcept {
  switch (shape) {
    case ShapeKind::operations:
      return operations_weight;
    case ShapeKind::logits:
      return logits_weight;
    case ShapeKind::mask_bytes:
      return mask_bytes_weight;
    case ShapeKind::class_map:
      break;
  }
  return class_map_weight;
}

std::string main_text(PlaneKind plane) {
  switch (plane) {
    case PlaneKind::pixels:
      return fmt::format(one_pixel_main, "at", "color");
    case PlaneKind::bytes:
      return fmt::format(one_pixel_main, "ivec2(at.x / 3, at.y)", "color[at.x % 3], 0.0, 0.0");
    case PlaneKind::single:
      return fmt::format(one_pixel_main, "at", "color[channel], 0.0, 0.0");
    case PlaneKind::blocks:
      break;
  }
  return std::string(blocks_main);
}

struct ElementText {
  std::string_view sampler;
  std::string_view value;  // of a texel `t`
};

ElementText element_text(ElementKind kind) noexcept {
  switch (kind) {
    case ElementKind::real:
      return {"sampler2D", "texelFetch(prototypes, t, 0).x"};
    case ElementKind::bfloat:
      return {"usampler2D", "uintBitsToFloat(texelFetch(prototypes, t, 0).x << 16)"};
    case ElementKind::signed_integer:
      return {"isampler2D", "float(texelFetch(prototypes, t, 0).x)"};
    case ElementKind::unsigned_integer:
      break;
  }
  return {"usampler2D", "float(texelFetch(prototypes, t, 0).x)"};
}

// sum_at(): the logit of a row of coefficients at a prototype pixel. Four partial sums keep the
// error of long rows small.
std::string sum_text(ElementKind kind) {
  const ElementText element = element_text(kind);
  return fmt::format(R"(uniform isampler2D commands;
uniform {} prototypes;
uniform sampler2D numbers;
uniform ivec3 element_stride;
uniform int channels;
float element(int at) {{
  ivec2 t = ivec2(at % 2048, at / 2048);
  return {};
}}
float number(int at) {{ return texelFetch(numbers, ivec2(at % 2048, at / 2048), 0).x; }}
ivec4 vector(int command, int i) {{
  int at = 6 * command + i;
  return texelFetch(commands, ivec2(at % 2048, at / 2048), 0);
}}
float sum_at(ivec2 pixel, int row) {{
  int first = pixel.x * element_stride.x + pixel.y * element_stride.y;
  int coefficients = channels * (1 + row);
  vec4 sum = vec4(0.0);
  for (int k = 0; k < channels; ++k)
    sum[k & 3] += number(coefficients + k) * (element(first + k * element_stride.z) - number(k));
  return (sum.x + sum.y) + (sum.z + sum.w);
}}
)",
                     element.sampler, element.value);
}

constexpr std::string_view logit_main = R"(flat in int command;
layout(location = 0) out uint result;
void main() {
  ivec4 place = vector(command, 4);
  ivec2 pixel = ivec2(gl_FragCoord.xy) - vector(command, 3).xy + place.xy;
  result = floatBitsToUint(sum_at(pixel, place.z));
}
)";

constexpr std::string_view compute_main = R"(layout(local_size_x = 8, local_size_y = 8) in;
layout(r32ui, binding = 0) writeonly uniform highp uimage2D logits;
void main() {
  int command = int(gl_WorkGroupID.z);
  ivec4 rect = vector(command, 3);
  ivec2 at = rect.xy + ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(at, rect.zw))) return;
  ivec4 place = vector(command, 4);
  float sum = sum_at(at - rect.xy + place.xy, place.z);
  imageStore(logits, at, uvec4(floatBitsToUint(sum), 0u, 0u, 0u));
}
)";

constexpr std::string_view pack_main = R"(uniform sampler2D shapes;
uniform ivec2 plane_size;
uniform int channel;
out vec4 result;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec4 bytes;
  for (int k = 0; k < 4; ++k) {
    int i = 4 * at.x + k;
    ivec2 texel = ivec2(min(i / channel, plane_size.x - 1), at.y);
    bytes[k] = texelFetch(shapes, texel, 0)[i % channel];
  }
  result = bytes;
}
)";

}  // namespace

ElementKind element_kind(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
    case DType::f16:
      return ElementKind::real;
    case DType::bf16:
      return ElementKind::bfloat;
    case DType::i8:
    case DType::i16:
      return ElementKind::signed_integer;
    default:
      return ElementKind::unsigned_integer;
  }
}

const char* draw_uniform_name(DrawUniform uniform) noexcept {
  return names[static_cast<std::size_t>(uniform)];
}

std::string command_vertex_text() {
  return fmt::format("#version 300 es\n{}{}", precisions, vertex_main);
}

std::string shape_text(ShapeKind shape, PlaneKind plane) {
  const std::string_view before =
      plane != PlaneKind::blocks || shape == ShapeKind::operations ? "" : never_before;
  return fmt::format("#version 300 es\n{}{}{}{}{}", precisions, shape_head, weight_text(shape),
                     before, main_text(plane));
}

std::string logit_text(ElementKind kind) {
  return fmt::format("#version 300 es\n{}{}{}", precisions, sum_text(kind), logit_main);
}

std::string logit_compute_text(ElementKind kind) {
  return fmt::format("#version 310 es\n{}{}{}", precisions, sum_text(kind), compute_main);
}

std::string pack_text() {
  return fmt::format("#version 300 es\n{}{}", precisions, pack_main);
}

}  // namespace halyard::draw
