#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures a model on your images: average precision by COCO's protocol.

    evaluate.py MODEL INSTANCES.json IMAGES
"""
from __future__ import annotations

import sys

import halyard


def evaluate(file: str, truth: str, images: str) -> halyard.Scores:
    scores = halyard.Model(file).val(truth, images)
    print(scores)  # the table of `halyard val`
    for name, ap in scores.by_class.items():
        print(f"  {name:<12} {'-' if ap is None else f'{ap:.3f}'}")
    return scores


def evaluate_results(truth: str, scores: halyard.Scores) -> halyard.Scores:
    """The same for the results of any program: a results file, or its list of dicts."""
    return halyard.val(truth, scores.results)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(str(__doc__))
    measured = evaluate(*sys.argv[1:])
    assert evaluate_results(sys.argv[2], measured).summary == measured.summary
