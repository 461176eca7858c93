#!/usr/bin/env python3
"""Prints how the unit tests ended, from the JUnit file of ctest: one line per program, every failure with its output,
skipped cases by name, and as the last line the sum of the cases.

    tools/unit_report.py build/debug/unit.xml"""
import re
import sys
import xml.etree.ElementTree

passed, failed, skipped = 0, 0, []
for program in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
    name, status, output = program.get("name"), program.get("status"), program.findtext("system-out") or ""
    if status == "disabled":
        skipped.append(f"{name}: all of its cases are disabled")
        continue
    if status == "notrun":
        output = program.find("skipped").get("message")
    # ASan and others end a program after its sum was printed: then the program itself is one failure more.
    sums = re.findall(r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed", output, re.M)
    of_program = [int(each) for each in sums[-1]] if sums else [0, 0, 0]
    here = [f"{name}: {case}" for case in re.findall(r"^skipped: (.*)$", output, re.M)]
    empty = re.findall(r"^no assertion: (.*)$", output, re.M)
    empty = [case for case in empty if not any(line.startswith(f"{name}: {case}: ") for line in here)]
    bad = of_program[2] + len(empty)
    if status != "run" and bad == 0:
        bad = 1
    passed += max(0, of_program[1] - len(empty) - len(here)) if sums else int(status == "run")
    failed += bad
    skipped += here
    print(f"  {'ok  ' if bad == 0 else 'FAIL'}  {float(program.get('time')):6.1f} s  {name}")
    for case in dict.fromkeys(re.findall(r"^TEST CASE: +(.*)$", output, re.M)) if status != "run" else ():
        print(f"  FAIL  {name}: {case}")
    for case in empty:
        print(f"        has no assertion: {case}")
    if status != "run":
        print("".join(f"        {line}\n" for line in output.splitlines()), end="")
for case in skipped:
    print(f"  skip  {case}")
print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
sys.exit(1 if failed or not passed else 0)
