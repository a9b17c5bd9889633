// SPDX-License-Identifier: Apache-2.0
// Class names of public data sets, as comma-separated lists.
#include <string>
#include <string_view>
#include <vector>

#include "halyard/describe.h"

namespace halyard {
namespace {

constexpr std::string_view coco =
    "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,"
    "stop sign,parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,"
    "backpack,umbrella,handbag,tie,suitcase,frisbee,skis,snowboard,sports ball,kite,baseball bat,"
    "baseball glove,skateboard,surfboard,tennis racket,bottle,wine glass,cup,fork,knife,spoon,bowl,"
    "banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,couch,"
    "potted plant,bed,dining table,toilet,tv,laptop,mouse,remote,keyboard,cell "
    "phone,microwave,oven,"
    "toaster,sink,refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush";

constexpr std::string_view voc =
    "aeroplane,bicycle,bird,boat,bottle,bus,car,cat,chair,cow,diningtable,dog,horse,motorbike,"
    "person,pottedplant,sheep,sofa,train,tvmonitor";

constexpr std::string_view dota =
    "plane,ship,storage tank,baseball diamond,tennis court,basketball court,ground track field,"
    "harbor,bridge,large vehicle,small vehicle,helicopter,roundabout,soccer ball field,"
    "swimming pool";

constexpr std::string_view cityscapes =
    "road,sidewalk,building,wall,fence,pole,traffic light,traffic sign,vegetation,terrain,sky,"
    "person,rider,car,truck,bus,train,motorcycle,bicycle";

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> out;
  while (!names.empty()) {
    const auto comma = names.find(',');
    out.emplace_back(names.substr(0, comma));
    names = comma == std::string_view::npos ? std::string_view() : names.substr(comma + 1);
  }
  return out;
}

}  // namespace

std::vector<std::string> labels_of(std::string_view data_set) {
  if (data_set == "coco") return split_names(coco);
  if (data_set == "voc") return split_names(voc);
  if (data_set == "dota") return split_names(dota);
  if (data_set == "cityscapes") return split_names(cityscapes);
  return {};
}

}  // namespace halyard
