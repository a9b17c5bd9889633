// SPDX-License-Identifier: Apache-2.0
// What the programs of the oracle tests share: a folder of .npy files, and an end with a reason.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "decode/naive.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

namespace halyard::oracle {

[[noreturn]] inline void stop(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(1);
}

template <class T>
T good(Result<T> result) {
  if (!result) stop(result.error().message());
  return *std::move(result);
}
inline void good(const Status& status) {
  if (!status) stop(status.error().message());
}

struct Job {
  std::string folder;
  std::vector<double> numbers;

  naive::Npy load(const char* name) const {
    auto out = naive::Npy::load(folder + "/" + name + ".npy");
    if (out.shape.empty()) stop(std::string("no array ") + name);
    return out;
  }
  Tensor tensor(const char* name) const {
    const naive::Npy array = load(name);
    const DType dtype = array.descr == "|u1"   ? DType::u8
                        : array.descr == "|i1" ? DType::i8
                        : array.descr == "<f4" ? DType::f32
                                               : DType::i64;
    Tensor out = good(Tensor::create(dtype, array.shape, Memory::mem));
    const auto map = good(out.map(Access::write));
    std::memcpy(map.writable(), array.bytes.data(), array.bytes.size());
    return out;
  }
  void save(const char* name, const std::string& shape,
            const std::vector<std::uint8_t>& bytes) const {
    write(name, "|u1", shape, bytes.data(), bytes.size());
  }
  void save_floats(const char* name, const std::string& shape,
                   const std::vector<float>& values) const {
    write(name, "<f4", shape, values.data(), values.size() * sizeof(float));
  }
  void write(const char* name, const std::string& descr, const std::string& shape, const void* data,
             std::size_t bytes) const {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((10 + header.size() + 64) / 64 * 64 - 11, ' ');
    header += '\n';
    std::ofstream out(folder + "/" + name + ".npy", std::ios::binary);
    out.write("\x93NUMPY\x01\x00", 8);
    out.put(static_cast<char>(header.size() & 255U));
    out.put(static_cast<char>(header.size() >> 8));
    out << header;
    out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  }
  int whole(std::size_t i) const { return static_cast<int>(numbers.at(i)); }
};

}  // namespace halyard::oracle
