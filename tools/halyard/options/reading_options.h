// SPDX-License-Identifier: Apache-2.0
// What the commands read frames from, and how: for run and serve.
#pragma once

#include <string>
#include <vector>

#include "halyard/capture.h"

namespace halyard::tool {

struct CommandSpec;

struct ReadingOptions {
  std::vector<std::string> inputs;  ///< after the command line was read, with camera and topic
  std::string camera, topic;
  double speed = 0;           ///< as FrameSourceOptions::speed
  double start_s = 0;         ///< seconds
  std::string video_decoder;  ///< as FrameSourceOptions::video_decoder
  bool loops = false;
  bool reconnects = false;

  /// Moves `camera` and `topic` into `inputs`. A number is a camera of this machine.
  void complete();
  /// For FrameSource; reading ends when the user interrupts the program.
  FrameSourceOptions source_options() const;
};

/// Adds the inputs, --camera, --topic, --start and --video-decoder.
void add_reading_options(CommandSpec& spec, ReadingOptions& options);

/// The usage error of a command line without an input; exit_ok if there is one.
int check_inputs(const ReadingOptions& options);

}  // namespace halyard::tool
