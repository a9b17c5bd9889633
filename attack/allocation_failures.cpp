// SPDX-License-Identifier: Apache-2.0
// Makes allocations and starts of threads fail inside calls of the C interface: every allocation of
// a call fails once, alone or with all that follow, and so does every start of a thread. The call
// must then succeed, or fail with ENOMEM, and its process must live. The seed gives the first point
// of a round and the step.
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "attack/failing.h"
#include "attack/stress.h"
#include "halyard/hal.h"

namespace {

using namespace halyard::attack;

// ---- The calls

struct Free {
  void operator()(hal_tensor* p) const { hal_tensor_free(p); }
  void operator()(hal_tensor_map* p) const { hal_tensor_map_unmap(p); }
  void operator()(hal_image_processor* p) const { hal_image_processor_free(p); }
  void operator()(hal_decoder_params* p) const { hal_decoder_params_free(p); }
  void operator()(hal_decoder* p) const { hal_decoder_free(p); }
  void operator()(hal_detect_box_list* p) const { hal_detect_box_list_free(p); }
  void operator()(hal_segmentation_list* p) const { hal_segmentation_list_free(p); }
  void operator()(hal_track_info_list* p) const { hal_track_info_list_free(p); }
  void operator()(hal_proto_data* p) const { hal_proto_data_free(p); }
  void operator()(hal_bytetrack* p) const { hal_bytetrack_free(p); }
  void operator()(hal_tile_placement_list* p) const { hal_tile_placement_list_free(p); }
  void operator()(char* p) const { std::free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

constexpr char json_text[] =
    R"({"outputs":[{"type":"detection","decoder":"ultralytics","normalized":true,)"
    R"("shape":[1,8,16],"dshape":[["batch",1],["num_features",8],["num_boxes",16]]},)"
    R"({"type":"protos","decoder":"ultralytics","shape":[1,8,8,2]}],"nms":"class_aware"})";
constexpr char yaml_text[] =
    "outputs:\n"
    "  - {type: detection, decoder: ultralytics, normalized: true, shape: [1, 8, 16],\n"
    "     dshape: [[batch, 1], [num_features, 8], [num_boxes, 16]]}\n"
    "  - {type: protos, decoder: ultralytics, shape: [1, 8, 8, 2]}\n"
    "nms: class_agnostic\n";

/// A folder of the parent process, for the files of all points.
std::string& folder() {
  static std::string path;
  return path;
}

/// Everything that the calls need, made while no allocation fails.
struct Things {
  Owned<hal_tensor> head, protos, image, target;
  Owned<hal_image_processor> processor;
  Owned<hal_decoder_params> json, yaml;
  Owned<hal_decoder> decoder;
  Owned<hal_detect_box_list> boxes;
  Owned<hal_proto_data> data;
  Owned<hal_bytetrack> tracker;
  const hal_tensor* outputs[2] = {};
  std::string jpeg_path;

  static Owned<hal_tensor> floats(std::vector<std::size_t> shape, float value) {
    Owned<hal_tensor> out(
        hal_tensor_new(HAL_DTYPE_F32, shape.data(), shape.size(), HAL_TENSOR_MEMORY_MEM, "floats"));
    const Owned<hal_tensor_map> map(hal_tensor_map_create(out.get()));
    auto* const data = static_cast<float*>(hal_tensor_map_data(map.get()));
    for (std::size_t i = 0; i < hal_tensor_map_size(map.get()) / sizeof(float); ++i)
      data[i] = value * static_cast<float>(i % 7) / 7;
    return out;
  }
  static Owned<hal_tensor> make_image(std::size_t width, std::size_t height,
                                      hal_pixel_format format) {
    return Owned<hal_tensor>(
        hal_tensor_new_image(width, height, format, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM));
  }
  /// Several threads convert a large image.
  explicit Things(bool is_large) {
    head = floats({1, 8, 16}, 1);
    protos = floats({1, 8, 8, 2}, 2);
    outputs[0] = head.get();
    outputs[1] = protos.get();
    image = is_large ? make_image(2000, 1500, HAL_PIXEL_FORMAT_RGB)
                     : make_image(320, 240, HAL_PIXEL_FORMAT_RGB);
    target = is_large ? make_image(1600, 1200, HAL_PIXEL_FORMAT_RGBA)
                      : make_image(200, 160, HAL_PIXEL_FORMAT_RGBA);
    processor.reset(hal_image_processor_new());
    json.reset(hal_decoder_params_new());
    hal_decoder_params_set_config_json(json.get(), json_text, 0);
    yaml.reset(hal_decoder_params_new());
    hal_decoder_params_set_config_yaml(yaml.get(), yaml_text, 0);
    decoder.reset(hal_decoder_new(json.get()));
    hal_detect_box_list* found = nullptr;
    data.reset(hal_decoder_decode_proto(decoder.get(), outputs, 2, &found));
    boxes.reset(found);
    tracker.reset(hal_bytetrack_new_default());
    jpeg_path = folder() + "/image.jpg";
    hal_tensor_save_jpeg(image.get(), jpeg_path.c_str(), 80);
  }
};

/// The calls that may fail. Failures are armed only during the call; its result is freed
/// afterwards.
class Calls {
 public:
  Calls(Kind kind, long point) : kind_(kind), point_(point) {}

  /// A call that returns 0 or a handle that is not null.
  template <class F>
  void operator()(const char* name, F call) {
    if (is_wrong_ || failing.has_failed) return;
    say("%s, %s %ld fails", name, words(), point_);
    ++shared().calls;
    failing.kind = kind_;
    failing.left = left_;
    errno = 0;
    failing.is_armed = true;
    const bool ok = call();
    const int seen = errno;
    failing.is_armed = false;
    left_ = failing.left;
    if (ok) {
      shared().equal += failing.has_failed ? 1U : 0U;
      return;
    }
    ++shared().refused;
    const bool is_ours =
        failing.has_failed && (seen == ENOMEM || (kind_ == Kind::threads && seen == EAGAIN));
    if (is_ours) return;
    say("%s, %s %ld fails: errno %d, %s", name, words(), point_, seen, hal_last_error());
    is_wrong_ = true;
  }
  void start() { left_ = point_; }
  bool is_wrong() const { return is_wrong_; }

 private:
  const char* words() const {
    return kind_ == Kind::threads          ? "thread from"
           : kind_ == Kind::one_allocation ? "allocation"
                                           : "every allocation from";
  }
  Kind kind_;
  long point_;
  long left_ = 0;
  bool is_wrong_ = false;
};

template <class T>
bool made(T* handle) {
  const Owned<T> owned(handle);
  return owned != nullptr;
}

bool decoded(Things& t, bool with_masks) {
  hal_detect_box_list* boxes = nullptr;
  hal_segmentation_list* masks = nullptr;
  const int failed =
      hal_decoder_decode(t.decoder.get(), t.outputs, 2, &boxes, with_masks ? &masks : nullptr);
  hal_detect_box_list_free(boxes);
  hal_segmentation_list_free(masks);
  return failed == 0;
}

bool decoded_proto(Things& t) {
  hal_detect_box_list* boxes = nullptr;
  const Owned<hal_proto_data> data(hal_decoder_decode_proto(t.decoder.get(), t.outputs, 2, &boxes));
  const Owned<hal_detect_box_list> owned(boxes);
  return data != nullptr;
}

bool merged(Things& t) {
  const hal_merge_config config = hal_merge_config_default();
  return made(hal_merge_tiled_detections(t.boxes.get(), &config));
}

void make_objects(Calls& call, Things& t) {
  const std::size_t shape[2] = {40, 30};
  call("hal_tensor_new", [&] {
    return made(hal_tensor_new(HAL_DTYPE_F32, shape, 2, HAL_TENSOR_MEMORY_MEM, "a name to keep"));
  });
  call("hal_tensor_new (shm)", [&] {
    return made(hal_tensor_new(HAL_DTYPE_U8, shape, 2, HAL_TENSOR_MEMORY_SHM, nullptr));
  });
  call("hal_tensor_map_create", [&] { return made(hal_tensor_map_create(t.head.get())); });
  call("hal_tensor_name", [&] { return made(hal_tensor_name(t.head.get())); });
  call("hal_tensor_view", [&] { return made(hal_tensor_view(t.image.get(), {0, 0, 8, 8})); });
  call("hal_image_processor_new", [] { return made(hal_image_processor_new()); });
  call("hal_decoder_params_new", [] { return made(hal_decoder_params_new()); });
  call("hal_bytetrack_new_default", [] { return made(hal_bytetrack_new_default()); });
  call("hal_detect_box_list_new", [] {
    const hal_detect_box boxes[3] = {};
    return made(hal_detect_box_list_new(boxes, 3));
  });
}

void make_decoders(Calls& call, Things& t) {
  call("hal_decoder_new (JSON)", [&] { return made(hal_decoder_new(t.json.get())); });
  call("hal_decoder_new (YAML)", [&] { return made(hal_decoder_new(t.yaml.get())); });
  call("hal_decoder_model_type", [&] { return made(hal_decoder_model_type(t.decoder.get())); });
}

void use_decoders(Calls& call, Things& t) {
  call("hal_decoder_decode", [&] { return decoded(t, false); });
  call("hal_decoder_decode (masks)", [&] { return decoded(t, true); });
  call("hal_decoder_decode_proto", [&] { return decoded_proto(t); });
  call("materialize_masks", [&] {
    return made(hal_image_processor_materialize_masks(t.processor.get(), t.boxes.get(),
                                                      t.data.get(), nullptr));
  });
  call("materialize_masks_scaled", [&] {
    return made(hal_image_processor_materialize_masks_scaled(t.processor.get(), t.boxes.get(),
                                                             t.data.get(), nullptr, 64, 48));
  });
  call("hal_bytetrack_update", [&] {
    static std::uint64_t now = 0;
    return made(hal_bytetrack_update(t.tracker.get(), t.boxes.get(), ++now));
  });
  call("hal_bytetrack_get_active_tracks",
       [&] { return made(hal_bytetrack_get_active_tracks(t.tracker.get())); });
  call("hal_merge_tiled_detections", [&] { return merged(t); });
}

void convert(Calls& call, Things& t) {
  call("hal_image_processor_convert", [&] {
    return hal_image_processor_convert(t.processor.get(), t.image.get(), t.target.get(),
                                       HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr) == 0;
  });
  call("hal_image_processor_convert_deferred, flush", [&] {
    return hal_image_processor_convert_deferred(t.processor.get(), t.image.get(), t.target.get(),
                                                HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr) == 0 &&
           hal_image_processor_flush(t.processor.get()) == 0;
  });
  call("hal_processor_explain", [&] {
    return made(hal_processor_explain(t.processor.get(), t.image.get(), t.target.get(),
                                      HAL_ROTATION_NONE, HAL_FLIP_NONE, nullptr));
  });
  call("draw_decoded_masks", [&] {
    return hal_image_processor_draw_decoded_masks(t.processor.get(), t.target.get(), t.boxes.get(),
                                                  nullptr, nullptr, 1, nullptr,
                                                  HAL_COLOR_MODE_CLASS) == 0;
  });
  call("draw_masks", [&] {
    return hal_image_processor_draw_masks(t.processor.get(), t.decoder.get(), t.outputs, 2,
                                          t.target.get(), nullptr, 1, nullptr, HAL_COLOR_MODE_CLASS,
                                          nullptr) == 0;
  });
}

void files(Calls& call, Things& t) {
  call("hal_tensor_load_file",
       [&] { return made(hal_tensor_load_file(t.jpeg_path.c_str(), HAL_PIXEL_FORMAT_RGB)); });
  call("hal_tensor_decode_image_file", [&] {
    return hal_tensor_decode_image_file(t.image.get(), t.jpeg_path.c_str(), -1, nullptr, nullptr) ==
           0;
  });
  call("hal_tensor_save_jpeg",
       [&] { return hal_tensor_save_jpeg(t.target.get(), t.jpeg_path.c_str(), 80) == 0; });
}

using Scenario = void (*)(Calls&, Things&);

/// One point in a child: all calls until one hits the failure; then all once more without failures,
/// because objects of a failed call must be usable afterwards.
Case at_point(Scenario scenario, Kind kind, long point) {
  Things things(kind == Kind::threads);
  Calls call(kind, point);
  call.start();
  scenario(call, things);
  if (call.is_wrong()) return Case::failed;
  if (!failing.has_failed) return Case::beyond;
  failing.has_failed = false;
  Calls again(kind, 1L << 40);
  again.start();
  scenario(again, things);
  return again.is_wrong() ? Case::failed : Case::done;
}

bool all_points(Scenario scenario, std::uint64_t seed) {
  Random random(seed);
  constexpr std::array kinds{Kind::one_allocation, Kind::all_allocations, Kind::threads};
  const Kind kind = kinds[seed / 5 % kinds.size()];
  int failures = 0;
  std::string first;
  for (long point = 0; point < 4000 && failures < 3;
       point += 1 + static_cast<long>(below(random, 2))) {
    const Case ended = in_child([&] { return at_point(scenario, kind, point); });
    if (ended == Case::beyond) break;
    if (ended == Case::failed && failures++ == 0) first = shared().words;
  }
  if (failures != 0) say("%s", first.c_str());
  return failures == 0;
}

}  // namespace

int main(int count, char** words) {
  std::vector<Way> ways;
  const std::pair<const char*, Scenario> scenarios[] = {{"make_objects", make_objects},
                                                        {"make_decoders", make_decoders},
                                                        {"use_decoders", use_decoders},
                                                        {"convert", convert},
                                                        {"files", files}};
  for (const auto& [name, scenario] : scenarios)
    ways.push_back({name, [run = scenario](std::uint64_t seed) { return all_points(run, seed); }});
  char path[] = "/dev/shm/attack-XXXXXX";
  if (::mkdtemp(path) == nullptr) return 2;
  folder() = path;
  const int status = run_all("allocation_failures", count, words, std::move(ways));
  std::filesystem::remove_all(folder());
  return status;
}
