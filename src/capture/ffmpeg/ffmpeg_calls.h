// SPDX-License-Identifier: Apache-2.0
// The FFmpeg functions that Halyard calls. They are found when the first video is opened or
// written, so a process without videos loads none of FFmpeg's hundred libraries. Only built with
// FFmpeg's headers.
#pragma once

#ifdef HALYARD_HAVE_FFMPEG

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
}

#include "halyard/result.h"

// The functions by library. Inline functions of the headers (av_q2d, av_inv_q) need no entry.
// First: functions that FFmpeg 7 renamed.
#if LIBAVFORMAT_VERSION_MAJOR >= 61
#define HALYARD_AVCODEC_SIDE_DATA(X) X(av_packet_side_data_get) X(av_packet_side_data_new)
#define HALYARD_AVFORMAT_SIDE_DATA(X)
#else
#define HALYARD_AVCODEC_SIDE_DATA(X)
#define HALYARD_AVFORMAT_SIDE_DATA(X) X(av_stream_get_side_data) X(av_stream_new_side_data)
#endif
#define HALYARD_AVUTIL_CALLS(X) \
  X(av_buffer_create)           \
  X(av_d2q)                     \
  X(av_dict_free)               \
  X(av_dict_set)                \
  X(av_frame_alloc)             \
  X(av_frame_free)              \
  X(av_frame_get_buffer)        \
  X(av_free)                    \
  X(av_freep)                   \
  X(av_get_pix_fmt_name)        \
  X(av_log_format_line2)        \
  X(av_log_set_callback)        \
  X(av_malloc)                  \
  X(av_mallocz)                 \
  X(av_match_list)              \
  X(av_opt_set)                 \
  X(av_pix_fmt_desc_get)        \
  X(av_rescale_q)               \
  X(av_strerror)
#define HALYARD_AVCODEC_CALLS(X)     \
  X(av_bsf_alloc)                    \
  X(av_bsf_flush)                    \
  X(av_bsf_free)                     \
  X(av_bsf_get_by_name)              \
  X(av_bsf_init)                     \
  X(av_bsf_receive_packet)           \
  X(av_bsf_send_packet)              \
  X(av_new_packet)                   \
  X(av_packet_alloc)                 \
  X(av_packet_free)                  \
  X(av_packet_rescale_ts)            \
  X(av_packet_unref)                 \
  X(avcodec_alloc_context3)          \
  X(avcodec_find_decoder)            \
  X(avcodec_find_encoder)            \
  X(avcodec_find_encoder_by_name)    \
  X(avcodec_flush_buffers)           \
  X(avcodec_free_context)            \
  X(avcodec_get_name)                \
  X(avcodec_open2)                   \
  X(avcodec_parameters_alloc)        \
  X(avcodec_parameters_copy)         \
  X(avcodec_parameters_free)         \
  X(avcodec_parameters_from_context) \
  X(avcodec_parameters_to_context)   \
  X(avcodec_receive_frame)           \
  X(avcodec_receive_packet)          \
  X(avcodec_send_frame)              \
  X(avcodec_send_packet)             \
  HALYARD_AVCODEC_SIDE_DATA(X)
#define HALYARD_AVFORMAT_CALLS(X)   \
  X(av_find_best_stream)            \
  X(av_find_input_format)           \
  X(av_guess_format)                \
  X(av_guess_frame_rate)            \
  X(av_interleaved_write_frame)     \
  X(av_probe_input_buffer2)         \
  X(av_read_frame)                  \
  X(av_seek_frame)                  \
  X(av_write_trailer)               \
  X(avformat_alloc_context)         \
  X(avformat_alloc_output_context2) \
  X(avformat_close_input)           \
  X(avformat_find_stream_info)      \
  X(avformat_free_context)          \
  X(avformat_new_stream)            \
  X(avformat_open_input)            \
  X(avformat_write_header)          \
  X(avio_alloc_context)             \
  X(avio_close_dyn_buf)             \
  X(avio_closep)                    \
  X(avio_context_free)              \
  X(avio_open2)                     \
  X(avio_open_dyn_buf)              \
  X(avio_read)                      \
  X(avio_seek)                      \
  HALYARD_AVFORMAT_SIDE_DATA(X)

namespace halyard::capture {

/// Pointers to FFmpeg's functions under their own names.
struct FfmpegCalls {
#define HALYARD_MEMBER(name) decltype(&::name) name = nullptr;
  HALYARD_AVUTIL_CALLS(HALYARD_MEMBER)
  HALYARD_AVCODEC_CALLS(HALYARD_MEMBER)
  HALYARD_AVFORMAT_CALLS(HALYARD_MEMBER)
#undef HALYARD_MEMBER
};

/// Loads the FFmpeg version whose headers this build used (the major versions must match) and sends
/// its log to Halyard's. Later calls after a success do nothing. Thread-safe; takes no lock of
/// Halyard's. Errors: unsupported (a library or function is missing: the message names the packages
/// to install).
Status load_ffmpeg();

/// Call it only after load_ffmpeg() has succeeded. Thread-safe.
const FfmpegCalls& ffmpeg() noexcept;

}  // namespace halyard::capture

#endif
