// SPDX-License-Identifier: Apache-2.0
// Makes errors without the library's functions.
#include "model/openvino/failure.h"

#include <memory>
#include <string>

#include "model/one_line.h"

namespace halyard::model {

Error failure(Errc code, const char* what, const std::exception& why) {
  Error error;
  error.code = code;
  error.what = what;
  error.detail = std::make_shared<const std::string>(one_line(why.what()));
  return error;
}

}  // namespace halyard::model
