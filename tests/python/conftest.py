# SPDX-License-Identifier: Apache-2.0
"""With --record, writes a line `status seconds name` for each case of a part and prints those that
failed, as run-cases.py does for those of C++; a part may have no case. A case is called
python.FILE.case; HALYARD_CASES and HALYARD_CASES_NOT, two regular expressions, choose by that
name."""
import os
import pathlib
import re

import pytest

_results = {}


def _name_of(nodeid):
    file, _, case = nodeid.partition("::")
    name = f"python.{pathlib.Path(file).stem.removeprefix('test_')}"
    return f"{name}.{case}" if case else name


def pytest_addoption(parser):
    parser.addoption("--record", type=pathlib.Path, help="file for the results")


def pytest_collection_modifyitems(items):
    wanted = re.compile(os.environ.get("HALYARD_CASES", ""))
    unwanted = os.environ.get("HALYARD_CASES_NOT")
    items[:] = [item for item in items if wanted.search(_name_of(item.nodeid))
                and not (unwanted and re.search(unwanted, _name_of(item.nodeid)))]


def pytest_collectreport(report):
    if report.outcome != "passed":
        _results[report.nodeid] = report.outcome, 0


def pytest_runtest_logreport(report):
    status, seconds = _results.get(report.nodeid, ("passed", 0))
    if report.outcome != "passed":
        status = report.outcome
    _results[report.nodeid] = status, seconds + report.duration


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("record"):
        return
    for report in terminalreporter.getreports("failed") + terminalreporter.getreports("error"):
        terminalreporter.write_line(f"--- {_name_of(report.nodeid)}\n{report.longreprtext}")
        for _, text in report.sections:
            terminalreporter.write_line(text)


def pytest_sessionfinish(session, exitstatus):
    record = session.config.getoption("record")
    if not record:
        return
    # A process that died before has no record, and all of its part has failed.
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("".join(f"{status} {seconds:.3f} {_name_of(nodeid)}\n"
                              for nodeid, (status, seconds) in _results.items()))
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
