// SPDX-License-Identifier: Apache-2.0
// Three lists: cases whose outcome is known in closed form, mistakes that decoders are known for,
// and bad input; each with the test of this program that shows it. A name without a test fails.
// Those of trackers are in tests/track, those of decoding with a tracker in tests/scene.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace halyard {
namespace {

struct Case {
  const char* what;
  const char* suite;
  const char* test;
};

constexpr Case closed_forms[] = {
    {"a threshold of 0.5 as a byte is 133", "Threshold", "of_the_reference_case_is_133"},
    {"dequantization", "ClosedForm", "stored_integers_have_their_real_values"},
    {"dequantization of scores", "Dequantize", "gives_the_worked_values"},
    {"centre and extent", "ClosedForm", "a_centre_and_an_extent_make_corners"},
    {"grid of 2 x 2", "ClosedForm", "centres_of_a_grid_of_two_by_two_lie_at_halves"},
    {"softmax", "ClosedForm", "softmax_of_equal_dominant_and_large_logits"},
    {"sigmoid", "ClosedForm", "sigmoid_is_the_logistic_function"},
    {"means of distributions", "ClosedForm", "distributions_have_their_mean_bin"},
    {"distances", "ClosedForm", "distances_reach_from_the_centre_of_the_cell"},
    {"a one-hot distribution", "ClosedForm", "a_certain_bin_5_of_stride_8_is_80_wide_about_4"},
    {"distances of a level", "ClosedForm", "distances_1_1_3_3_of_stride_8_are_a_box_about_12"},
    {"order of cells", "ClosedForm", "cells_of_uniform_distributions_count_columns_then_rows"},
    {"zeros of i8", "ClosedForm", "stored_distributions_of_zeros_reach_7_and_a_half_bins"},
    {"zeros of floats", "Levels", "all_zero_distributions_are_half_of_the_bins_on_each_side"},
    {"channels first and last", "Levels", "channels_first_and_last_agree"},
    {"scales by channel", "ClosedForm", "distributions_with_a_scale_for_each_channel_use_each"},
    {"several labels", "MultiLabel", "makes_a_detection_of_every_class_that_passes"},
    {"suppression by class", "Nms", "overlapping_pair_of_two_classes_by_mode"},
    {"most detections; 0 is all", "Nms", "cap_keeps_the_best_and_zero_means_all"},
    {"best k", "Select", "top_k_keeps_the_best_scores_and_of_equal_ones_the_earlier"},
    {"30000 of 50000", "ClosedForm", "of_50000_candidates_the_best_30000_enter"},
    {"IoS and IoU", "TileMetric", "a_part_of_a_box_has_ios_one_and_iou_one_sixth"},
    {"IoS of one half", "TileMerge", "ios_of_exactly_the_threshold_merges_into_the_union"},
    {"lift", "TileLift", "fractions_of_a_tile_become_frame_pixels"},
    {"lift from a letterbox", "TileLift", "a_letterbox_is_undone"},
    {"lift from the pad", "TileLift", "what_lies_in_the_pad_ends_at_the_tile"},
    {"lift from no extent", "TileLift", "a_letterbox_of_no_extent_stays_finite"},
    {"apart, or nothing", "TileMerge", "disjoint_boxes_stay_best_first"},
    {"classes of tiles", "TileMerge",
     "labels_are_apart_unless_it_is_agnostic_and_takes_the_stronger_label"},
    {"most of tiles", "TileMerge", "at_most_so_many_are_given_and_zero_is_no_limit"},
    {"threshold of tiles", "TileMerge", "a_score_of_exactly_the_threshold_stays"},
    {"either order of tiles", "TileAccumulation", "either_order_gives_the_identical_result"},
    {"fractions of the frame", "TileAccumulation", "normalized_is_pixels_by_the_frame"},
    {"a frame without extent", "TileFractions", "of_a_frame_without_extent_nothing_is_left"},
    {"foreign tiles", "TileAccumulation", "what_does_not_belong_is_refused_and_changes_nothing"},
    {"one track or two", "TileMerge", "a_tracker_sees_one_object_by_ios_and_two_by_iou"},
    {"ten strips and their masks", "SegmentedStrips",
     "of_one_tensor_and_prototypes_of_either_order"},
    {"boxes beside masks", "ClosedForm", "boxes_do_not_depend_on_masks_and_keep_their_own_place"},
    {"pixels and fractions", "ClosedForm", "pixels_taken_for_fractions_make_no_masks"},
    {"rows of coefficients", "DecodedMasks", "pair_rows_with_their_own_boxes"},
    {"a head of 5 boxes, f16", "ClosedForm", "a_head_of_five_boxes_with_masks_is_the_same_in_f16"},
    {"xy and wh in i16", "ClosedForm", "centres_and_extents_in_thousandths_are_a_box"},
    {"an axis of padding", "ClosedForm", "an_axis_of_padding_is_passed_over"},
    {"boxes in other units", "MaskRefusals", "boxes_that_count_other_units"},
    {"boxes on the prototypes", "MaskRules", "boxes_round_outwards_on_the_prototypes_grid"},
    {"one class of pixels", "SemanticMaps", "one_class_is_foreground_from_half_on"},
    {"the best class of pixels", "SemanticMaps", "model_pack_picks_per_pixel"},
    {"both memory orders", "Decoder", "gives_the_same_in_both_memory_orders"},
    {"equal classes: the first", "ClassScan", "first_of_equal_classes_wins_and_nan_never_passes"},
    {"a row of floats", "ClosedForm", "a_row_of_floats_is_its_box"},
    {"a row of bytes", "ClosedForm", "a_row_of_bytes_is_its_box"},
    {"rows in three tensors", "ClosedForm",
     "rows_in_three_tensors_and_with_coefficients_are_the_same_box"},
    {"columns of pixels", "ClosedForm", "columns_of_pixels_are_two_boxes_or_none"},
    {"flat distributions, versions to come", "ClosedForm",
     "flat_distributions_and_versions_to_come_are_refused"},
    {"coefficients stay integers", "MaskRows", "keep_their_integers_as_long_as_all_are_alike"},
    {"no detection", "SegmentedStrips", "without_a_survivor_keep_shape_and_prototypes"},
    {"who chooses suppression", "Decoder",
     "suppression_mode_is_the_callers_then_the_documents_then_class_aware"},
};

constexpr Case mistakes[] = {
    {"coefficients of integers in a tensor of their own are rotated wrongly", "SegmentedStrips",
     "of_separate_coefficients_in_integers_of_any_kind"},
    {"an input of channels first is read as 3 high", "Description",
     "reads_the_input_size_in_both_orders"},
    {"options count for some heads only", "KnownMistakes",
     "a_head_that_ignores_how_many_may_come_out"},
    {"memory of the list is a limit", "KnownMistakes",
     "a_list_whose_memory_decides_how_much_comes_out"},
    {"prototypes of u8 and i16 wrap", "Masks", "wider_integers_follow_the_definitions"},
    {"rows of 6 without names are taken for features", "Decoder",
     "takes_rows_of_six_as_end_to_end_unless_told_otherwise"},
    {"classes of rows are rounded here and cut there", "KnownMistakes",
     "classes_of_rows_that_are_cut_off_in_one_head_and_rounded_in_another"},
    {"codings and tasks are passed over in silence", "KnownMistakes",
     "tasks_and_codings_that_are_passed_over_in_silence"},
    {"objectness is passed over", "Layouts", "with_objectness_of_one_agree_and_of_less_multiply"},
    {"poses are passed over", "Poses", "have_the_points_of_their_own_box"},
    {"rotated boxes are passed over", "RotatedHead", "gives_the_box_its_bounds_and_its_angle"},
    {"classes of the image are passed over", "Classifier", "gives_the_best_classes_in_order"},
    {"activations are passed over", "KnownMistakes",
     "activations_that_are_asked_for_and_not_applied"},
    {"one scale is taken for all channels", "DecodedHeads",
     "equal_the_plain_decode_with_a_scale_for_each_feature"},
    {"tensors are told by shape alone", "KnownMistakes",
     "tensors_of_one_shape_that_take_each_others_place"},
    {"the first element of a batch is the only one", "Decoder",
     "decodes_the_batch_element_asked_for"},
    {"NaN passes", "Decoder", "nan_and_infinite_and_inverted_boxes_never_come_out"},
    {"negative scores are lost", "Nms",
     "equal_scores_keep_their_order_and_negative_scores_are_not_lost"},
    {"of equal classes the last wins", "ClassScan",
     "first_of_equal_classes_wins_and_nan_never_passes"},
    {"suppression is the family's whatever is asked for", "KnownMistakes",
     "a_suppression_that_the_family_overrides"},
    {"channels first, and maps beside boxes", "DecodedHeads",
     "equal_the_plain_decode_in_every_type"},
    {"a constant plane becomes NaN", "SemanticMaps", "one_class_is_foreground_from_half_on"},
    {"f16 costs boxes their precision", "Decoder", "f16_gives_what_its_values_give_as_f32"},
    {"inverted boxes end the program", "MaskRules", "boxes_round_outwards_on_the_prototypes_grid"},
    {"tiles are merged as they come", "TileAccumulation", "equal_detections_go_by_tile_and_place"},
    {"suppression is quadratic", "SuppressedLarge", "boxes_that_nobody_overlaps_all_survive"},
};

constexpr Case bad_inputs[] = {
    {"an output of another rank", "DecoderRefuses", "outputs_that_no_head_has"},
    {"ranks of every role", "DescriptionRules", "ranks_follow_the_role"},
    {"tensors of another shape", "DecoderRefuses", "tensors_that_are_not_the_models"},
    {"tensors of another type", "DecoderRefuses", "tensors_of_another_type_than_described"},
    {"types that no head has", "DecoderRefuses", "integers_without_quantization_and_foreign_types"},
    {"scores and boxes that are not finite, boxes that are negative", "Decoder",
     "nan_and_infinite_and_inverted_boxes_never_come_out"},
    {"scores of every type that are NaN", "StoredScores",
     "give_the_candidates_of_plain_loops_over_real_values"},
    {"softmax of what is not finite", "LazyScores",
     "of_softmax_with_a_background_are_those_of_all_boxes"},
    {"scores all zero, all infinite, all NaN", "BadInput",
     "scores_that_are_all_the_same_pass_together_or_not_at_all"},
    {"integers all saturated", "BadInput", "integers_that_are_all_at_an_end_are_that_value"},
    {"candidates that are inverted or not finite", "Nms",
     "nan_scores_go_and_nan_or_empty_boxes_suppress_nothing"},
    {"masks of boxes that are not finite", "MaskRefusals", "boxes_that_count_other_units"},
    {"coefficients that are not finite", "SegmentedStrips",
     "coefficients_that_are_not_finite_make_an_empty_mask"},
    {"tiles of what is not finite", "TileMerge", "nan_and_infinity_never_pass"},
    {"no class", "BadInput", "heads_without_a_class_are_refused_by_shape"},
    {"outputs that count other boxes", "BadInput",
     "outputs_that_count_other_boxes_are_named_with_both_counts"},
    {"lists that count other boxes", "DescriptionRules", "lists_count_the_same_boxes"},
    {"grids that do not fit their anchors", "DescriptionRules", "grids_fit_their_anchors"},
    {"levels that differ in their cells", "DescriptionLevels",
     "tensors_of_one_level_have_the_same_cells_and_order"},
    {"quantization that is missing or cannot be", "BadInput",
     "quantization_that_cannot_be_is_named_with_its_output"},
    {"scales of zero in a document", "Description", "names_the_path_of_wrong_quantization"},
    {"thresholds that are NaN", "BadInput", "thresholds_outside_their_range_are_refused_by_name"},
    {"selection by NaN", "Selector", "refuses_options_out_of_range_by_name"},
    {"merging by NaN", "TileMerge", "options_outside_their_range_are_refused_by_name"},
    {"a million boxes of a head", "Million", "boxes_that_nobody_overlaps_all_come_out_best_first"},
    {"a million candidates", "Selector", "takes_a_million_candidates"},
    {"a million boxes of tiles", "TileMerge",
     "a_million_boxes_of_one_place_and_many_of_a_field_are_merged"},
    {"a version to come", "Description", "refuses_words_it_does_not_know"},
    {"nesting", "DescriptionText", "nesting_has_a_limit"},
    {"aliases of aliases", "DescriptionText", "values_are_counted_after_aliases"},
    {"texts of aliases", "DescriptionText", "texts_are_measured_after_aliases"},
    {"long documents", "DescriptionText", "length_has_a_limit"},
    {"two scores, without and with names", "BadInput",
     "two_outputs_that_could_both_be_scores_are_named"},
    {"two outputs of a role in a document", "DescriptionRules", "names_and_roles_stand_once"},
    {"two tensors of one shape", "DecoderRefuses", "tensors_that_shapes_do_not_tell_apart"},
};

bool has_part(std::string_view name, std::string_view wanted) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

// Whether this program runs such a test; names of instances have more parts, as in "All/Nms/0".
bool is_registered(const Case& wanted) {
  const auto& program = *testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const auto& suite = *program.GetTestSuite(s);
    if (!has_part(suite.name(), wanted.suite)) continue;
    for (int t = 0; t < suite.total_test_count(); ++t)
      if (has_part(suite.GetTestInfo(t)->name(), wanted.test)) return true;
  }
  return false;
}

template <std::size_t count>
void expect_tests(const Case (&cases)[count]) {
  std::set<std::string_view> known;
  for (const Case& each : cases) {
    EXPECT_TRUE(is_registered(each)) << each.what << ": no test " << each.suite << "." << each.test;
    EXPECT_TRUE(known.insert(each.what).second) << each.what << " stands twice";
  }
}

TEST(KnownCases, of_closed_form_all_have_a_test) {
  expect_tests(closed_forms);
}

TEST(KnownCases, of_mistakes_all_have_a_test) {
  expect_tests(mistakes);
}

TEST(KnownCases, of_bad_input_all_have_a_test) {
  expect_tests(bad_inputs);
}

}  // namespace
}  // namespace halyard
