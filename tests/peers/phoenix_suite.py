"""A suite of an application that is measured with the pytest plugin of arize-phoenix-client; phoenix_server.py runs it. With
WRONG=1 one of its cases fails."""

import os

import pytest
from phoenix.client.pytest import log_evaluation, log_output


def add(a, b):
    return a + b + (1 if a == 3 and os.environ.get("WRONG") else 0)


@pytest.mark.phoenix(dataset="sums", repetitions=2)
@pytest.mark.parametrize("a, b, expected", [(1, 1, 2), (2, 5, 7), (3, 4, 7)], ids=["small", "middle", "large"])
def test_sums(a, b, expected):
    found = add(a, b)
    log_output(found)
    log_evaluation(name="close", score=1 / (1 + abs(found - expected)))
    assert found == expected
