"""Which cases of similar tests run by default; the others are ``thorough``, and run nightly.

All of these take seconds of Spark; tests without Spark always run. The number is how many cases of a function stay,
spread over its parameters; names are those that stay. 0: another test in the file covers the rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

KEPT: dict[str, int | tuple[str, ...]] = {
    "cli/test_cli_spark.py::test_a_plan_goes_through_a_pipe": 0,
    "crash/test_kills.py::test_a_plan_that_dies_leaves_nothing_and_a_plan_file_that_is_whole": 1,
    "crash/test_kills.py::test_an_apply_that_dies_is_committed_once_or_not_at_all": 2,
    "crash/test_races_placed.py::test_a_commit_in_the_middle_of_an_apply": 3,
    "crash/test_races_placed.py::test_a_commit_in_the_middle_of_an_undo": 3,
    "engine/test_apply.py::test_a_delta_source_that_is_gone_or_another_is_refused": 1,
    "engine/test_apply.py::test_a_promise_is_compared_though_the_session_lets_commits_tell_no_metrics": 0,
    "engine/test_apply.py::test_a_table_whose_path_is_long": 0,
    "engine/test_apply.py::test_the_setup_of_a_plan_is_run_where_another_session_applies_it": 0,
    "engine/test_as_people_write_it.py::test_a_merge_does_what_the_plain_one_does": (
        "an INSERT with a column called end before another clause",
        "CASE and columns called case, when, then",
        "a text in ON that holds no boolean",
        "braces in a WITH",
        "forged structure in a string",
        "unqualified names that both sides have",
        "IDENTIFIER",
        "evolution by columns of a frozen source that no expression reads",
        "a column called _metadata",
    ),
    "engine/test_as_people_write_it.py::test_a_source_that_is_named_in_full_is_compared_when_the_plan_is_applied": 1,
    "engine/test_as_people_write_it.py::test_a_source_whose_path_names_its_version_is_read_at_that_version": 1,
    "engine/test_as_people_write_it.py::test_a_table_whose_location_looks_like_a_pattern_or_a_version": 1,
    "engine/test_assignments.py::test_structs_by_place_and_null_structs_that_become_structs_of_nulls": 0,
    "engine/test_changes.py::test_a_row_that_several_source_rows_delete_is_one_row": 0,
    "engine/test_changes.py::test_an_update_that_changes_no_value_is_counted_apart": 0,
    "engine/test_commit_identity.py::test_a_commit_whose_log_is_kept_elsewhere_is_known_by_what_it_names": 0,
    "engine/test_commit_identity.py::test_a_compaction_of_somebody_else_is_a_commit_that_would_be_lost": 0,
    "engine/test_commit_identity.py::test_a_plan_whose_script_sets_one_is_refused_where_it_is_applied": 0,
    "engine/test_commit_identity.py::test_a_table_made_by_a_query_is_ours_whatever_is_committed_after_it": 1,
    "engine/test_commit_identity.py::test_a_transaction_id_among_the_options_of_a_write_is_refused": 1,
    "engine/test_commit_identity.py::test_a_transaction_id_of_the_operator_is_refused": 1,
    "engine/test_commit_identity.py::test_a_transaction_id_that_the_script_sets_is_refused": 1,
    "engine/test_delta_log.py::test_a_file_is_known_by_the_path_that_spark_reads_it_by": 1,
    "engine/test_delta_log.py::test_a_file_is_known_however_its_writer_encodes_its_path": 2,
    "engine/test_derive_conjuncts.py::test_a_plan_of_elsewhere_may_narrow_on_by_what_its_source_says_alone": 1,
    "engine/test_derive_conjuncts.py::test_nothing_is_derived_where_it_could_be_untrue_or_hide_an_error": 2,
    "engine/test_derive_conjuncts.py::test_what_is_derived": 2,
    "engine/test_derive_generated.py::test_a_partition_column_is_held_to_what_is_generated_from_the_keys": 1,
    "engine/test_derive_generated.py::test_nothing_is_derived_where_the_expression_may_give_another_value": 1,
    "engine/test_derive_ranges.py::test_a_plan_of_elsewhere_may_leave_out_the_gaps_of_its_own_source": 0,
    "engine/test_derive_ranges.py::test_strings_have_no_gaps": 0,
    "engine/test_duplicate_keys.py::test_rows_that_stay_may_be_lost_as_well_by_the_ids_of_source_rows": 1,
    "engine/test_duplicate_keys.py::test_target_rows_with_the_same_key_are_one_conflict_of_rivals": 0,
    "engine/test_duplicate_keys.py::test_without_a_feed_or_duplicates_or_inserts_no_row_is_lost": 0,
    "engine/test_duplicate_keys.py::test_without_an_equality_in_on_no_dedupe_is_offered": 0,
    "engine/test_evolution_errors.py::test_a_new_column_is_refused_as_delta_refuses_it": 7,
    "engine/test_exact_rows.py::test_rows_that_differ_have_other_fingerprints": 8,
    "engine/test_expectations.py::test_what_can_never_be_computed_is_refused_at_once": 1,
    "engine/test_failing_conditions.py::test_a_condition_that_fails_where_its_clause_takes_no_row": 2,
    "engine/test_failing_conditions.py::test_of_several_inserts_each_condition_is_computed_for_each_new_row": 1,
    "engine/test_few_rows.py::test_rows_that_have_a_match_are_broadcast_where_they_are_few": 1,
    "engine/test_few_rows.py::test_what_the_join_needs_of_the_source_is_broadcast_where_that_is_small": 1,
    "engine/test_insert_only.py::test_the_promise_is_kept_whatever_on_is": 2,
    "engine/test_join_of_match.py::test_the_rows_of_the_source_are_promised_as_delta_counts_them": 3,
    "engine/test_lost_commit.py::test_a_created_table_that_is_overwritten_is_lost": 1,
    "engine/test_plan_create_table.py::test_a_plan_equals_what_delta_does": 3,
    "engine/test_plan_create_table.py::test_a_relative_location_is_two_places": 1,
    "engine/test_plan_create_table.py::test_a_replace_without_a_query_is_applied_once": 0,
    "engine/test_plan_create_table.py::test_handle_commit_checks_that_the_path_is_empty": 1,
    "engine/test_plan_create_table.py::test_like_a_delta_table_or_with_delta_as_its_provider": 1,
    "engine/test_plan_create_table.py::test_overwrite_schema_goes_with_what_a_data_frame_can_write": 1,
    "engine/test_plan_create_table.py::test_overwrite_schema_of_a_data_frame_replaces_the_metadata": 1,
    "engine/test_planning_state.py::test_a_table_is_created_in_the_state_that_it_was_planned_in": 3,
    "engine/test_planning_state.py::test_what_a_plan_depends_on_is_compared_by_name": 8,
    "engine/test_prepare_delta_scan.py::test_the_promised_files_are_those_that_the_merge_keeps": 7,
    "engine/test_protocols.py::test_a_protocol_that_this_delta_cannot_write_is_foreseen": 3,
    "engine/test_same_as_typed.py::test_a_condition_that_asks_the_time_is_warned_of": 1,
    "engine/test_same_as_typed.py::test_a_generated_column_is_computed_in_the_width_of_its_base": 0,
    "engine/test_same_as_typed.py::test_a_source_whose_keys_narrow_on_is_merged_as_it_was_looked_at": 1,
    "engine/test_same_as_typed.py::test_an_empty_text_in_a_generated_partition_column_is_null_there": 1,
    "engine/test_same_as_typed.py::test_an_error_of_a_row_that_would_be_skipped_is_still_raised": 2,
    "engine/test_samples.py::test_a_row_that_several_source_rows_delete_is_shown_once": 1,
    "engine/test_samples.py::test_each_clause_shows_rows_that_it_takes_whatever_type_the_keys_are_of": 2,
    "engine/test_scan_explorer.py::test_partition_filters_are_extracted_before_the_index_is_prepared": 0,
    "engine/test_scan_explorer.py::test_scans_of_a_table_that_differ_are_told_together": 0,
    "engine/test_scan_explorer.py::test_the_limit_of_files_for_scan_is_not_used": 0,
    "engine/test_source_lost.py::test_a_frozen_source_is_left_to_spark": 1,
    "engine/test_source_lost.py::test_a_plan_whose_blocks_are_always_lost_fails_with_deltas_error": 0,
    "engine/test_source_lost.py::test_another_hint_of_the_operator_stays": 0,
    "engine/test_stage_source.py::test_a_column_may_have_any_name_and_hints_stay": 0,
    "engine/test_stage_source.py::test_a_plan_of_which_nothing_is_merged_leaves_none": 1,
    "engine/test_stage_source.py::test_a_plan_that_drops_one_merges_it": 0,
    "engine/test_stage_source.py::test_a_source_without_rows_is_kept_too": 0,
    "engine/test_stage_source.py::test_a_target_by_its_path_has_it_in_the_current_schema": 0,
    "engine/test_stage_source.py::test_one_that_is_gone_or_another_is_refused": 1,
    "engine/test_stage_source.py::test_what_stands_before_the_merge_runs_again_in_another_schema": 0,
    "engine/test_statistics_of_others.py::test_deletes_in_files_without_statistics_are_promised_as_committed": 2,
    "engine/test_statistics_of_others.py::test_keys_of_the_listed_types_skip_files_of_delta_rs_and_miss_no_row": 2,
    "engine/test_statistics_of_others.py::test_nothing_is_derived_from_keys_of_other_types": 1,
    "engine/test_statistics_of_others.py::test_partition_values_of_another_hand_are_what_a_merge_reads": 1,
    "engine/test_statistics_of_others.py::test_statistics_that_lack_something_keep_their_files": 2,
    "engine/test_time_zones.py::test_what_a_row_was_checked_for_may_break_in_another_zone": 4,
    "engine/test_undo_possible.py::test_a_catalog_entry_over_a_table_that_was_there_is_not_dropped": 0,
    "engine/test_undo_possible.py::test_a_replaced_table_is_judged_by_the_properties_that_it_gets": 0,
    "engine/test_undo_possible.py::test_a_session_without_the_check_restores_any_age": 0,
    "engine/test_undo_possible.py::test_a_table_by_path_is_not_dropped": 0,
    "engine/test_undo_possible.py::test_a_table_that_was_created_is_dropped": 1,
    "engine/test_undo_possible.py::test_a_table_that_was_replaced_is_restored": 1,
    "engine/test_undo_possible.py::test_an_empty_table_that_was_cloned_over_is_restored": 0,
    "engine/test_undo_possible.py::test_an_old_table_is_taken_back_after_its_property_is_raised": 1,
    "engine/test_undo_possible.py::test_files_with_odd_names_are_found": 0,
    "engine/test_undo_possible.py::test_in_commit_timestamps_count_where_the_table_has_them": 0,
    "engine/test_unmatched_dv_rows.py::test_a_row_without_a_match_that_passes_for_matched_is_foreseen": 2,
    "engine/test_unmatched_dv_rows.py::test_an_on_without_a_column_of_that_side_has_no_keys_to_show": 0,
    "engine/test_unmatched_dv_rows.py::test_and_no_other_is": 2,
    "engine/test_unmatched_dv_rows.py::test_without_deletion_vectors_there_is_none": 1,
    "engine/test_volatile_parts.py::test_a_source_that_asks_the_time_is_merged_as_it_was_previewed": 1,
    "engine/test_volatile_parts.py::test_a_subquery_that_asks_the_time_is_unknown_and_can_be_applied": 1,
}


def mark_nightly(items: Iterable[Any]) -> None:
    """Mark as ``thorough`` what :data:`KEPT` does not keep of the tests of one run."""
    by_function: dict[str, list[Any]] = {}
    for item in items:
        function = item.nodeid.partition("[")[0].removeprefix("tests/")
        if function in KEPT and item.get_closest_marker("thorough") is None:
            by_function.setdefault(function, []).append(item)
    for function, cases in by_function.items():
        kept = KEPT[function]
        if isinstance(kept, tuple):
            stays = {at for at, case in enumerate(cases) if case.callspec.id in kept}
        else:
            stays = {at * len(cases) // kept for at in range(kept)}
        for at, case in enumerate(cases):
            if at not in stays:
                case.add_marker(pytest.mark.thorough)
