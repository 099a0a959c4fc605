#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""Run rdma-core's own Python tests and report them as TAP.

Usage: rdma_core_tests.py FOLDER DEVICE ALLOWED

FOLDER is rdma-core's source, ALLOWED a file of regular expressions, one a
line: of the tests that may be skipped, as "MODULE.CLASS.TEST: REASON". Any
other skip is a failure: the device lacks something that it should have.
"""
import gc
import glob
import os
import re
import sys
import unittest


class Tap(unittest.TestResult):
    """One line for each test, a trace behind what failed."""

    def __init__(self, allowed):
        super().__init__()
        self.allowed = allowed
        self.count = 0
        self.bad = 0

    def say(self, test, good, more=""):
        name = test.id().removeprefix("tests.")
        self.count += 1
        self.bad += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{more}", flush=True)

    def explain(self, test, err):
        for line in self._exc_info_to_string(err, test).splitlines():
            print("#", line)

    def addSuccess(self, test):
        self.say(test, True)

    def addFailure(self, test, err):
        self.explain(test, err)
        self.say(test, False)

    addError = addFailure

    def addSkip(self, test, reason):
        what = f"{test.id().removeprefix('tests.')}: {reason}"
        if any(re.search(pattern, what) for pattern in self.allowed):
            self.say(test, True, f" # SKIP {reason}")
        else:
            print(f"# skipped, and should not be: {reason}")
            self.say(test, False)


def files(folder):
    """The tests of verbs; those of other providers need their devices."""
    for path in sorted(glob.glob(f"{folder}/tests/test_*.py")):
        name = os.path.basename(path).removesuffix(".py")
        if not re.match("test_(mlx5|efa)", name):
            yield f"tests.{name}"


def main():
    folder, device, allowed = sys.argv[1:]
    with open(allowed, encoding="utf-8") as lines:
        patterns = [line.strip() for line in lines if line.strip() and line[0] != "#"]
    sys.path[:0] = [folder, f"{folder}/tests"]
    # a skipped test leaves objects that pyverbs closes in the wrong order
    gc.disable()
    from args_parser import parser
    sys.argv[1:] = ["--dev", device]
    parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromNames(files(folder))
    print(f"1..{suite.countTestCases()}", flush=True)
    result = Tap(patterns)
    suite.run(result)
    sys.stdout.flush()
    # not by the interpreter's end, for the reason above
    os._exit(result.bad != 0)


main()
