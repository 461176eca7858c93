"""SQL of people: attacks that are known, random ones, and the questions of analysts that must keep working."""

import os
import pathlib
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "sql"))

import isolation  # noqa: E402
from attacks import ATTACKS  # noqa: E402

SECONDS = int(os.environ.get("HONE_TEST_SECONDS", "20"))  # more with tests/sql/isolation.py


def test_known_attacks_on_sql_get_nothing_with_the_guard_and_nothing_without_it(binary, stack):
    stage = isolation.Stage(binary, stack)
    failures = [isolation.check_attack(stage, attack) for attack in ATTACKS]
    failures += [isolation.check_attack_past_the_guard(stage, attack) for attack in ATTACKS]
    assert not any(failures), "\n".join(why for why in failures if why)
    stage.check_nothing_changed()


def test_random_sql_shows_and_changes_nothing_of_another_project(binary, stack):
    seed = int(os.environ.get("HONE_TEST_SEED") or time.time_ns() % 1_000_000_000)
    print(f"      again with HONE_TEST_SEED={seed}")
    stage = isolation.Stage(binary, stack)
    seen = isolation.run_generated(stage, SECONDS, seed)
    print(f"      {seen}")
    assert all(seen.values()), seen  # statements of every sort were tried
    stage.check_nothing_changed()


def test_the_questions_of_analysts_are_answered(binary, stack):
    stage = isolation.Stage(binary, stack)
    text = (TESTS / "corpus/sql/analytics.sql").read_text()
    questions = [each for each in text.split("\n\n")[1:] if each.strip()]
    assert len(questions) >= 200, len(questions)
    failures = []
    for question in questions:
        status, answer = stage.ask(question)
        if status != 200 or stage.tells(answer, question):
            failures.append(f"{status} {answer[:300]!r}\n    {question}")
    assert not failures, "\n".join(failures)
    stage.check_nothing_changed()
