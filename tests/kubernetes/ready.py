"""Pods that are kept prepared."""

import time

import driving

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def made_at(sandbox):
    """Seconds since 1970: the first part of its id."""
    milliseconds = 0
    for letter in sandbox.split("_")[1][:10].upper():
        milliseconds = milliseconds * 32 + LETTERS.index(letter)
    return milliseconds / 1000


def a_run_gets_a_pod_that_was_prepared(bench, namespace, image, pods_of_cluster):
    """`pods_of_cluster`: how many there are now."""
    before = pods_of_cluster()
    with driving.pods(bench, namespace, image, storage=("", "2")) as driver:
        first = driver.start()
        assert driver.call("ready")["ready"], "no pods were prepared"
        assert pods_of_cluster() == before + 3
        assert driver.call("list")["sandboxes"] == [first], "a pod that waits is no sandbox yet"
        asked = int(time.time() * 1000) / 1000  # as precise as an id
        second = driver.start()
        took = time.time() - asked
        assert made_at(second) < asked, "it was made when it was asked for"
        print(f"      a prepared pod took {took:.2f} s to start", flush=True)
        assert driver.shell(second, "echo hello; ls /workspace")["out"] == "hello\n"
        assert sorted(driver.call("list")["sandboxes"]) == sorted([first, second])
        # Another one does not do, and is made.
        asked = int(time.time() * 1000) / 1000  # as precise as an id
        other = driver.start(limits={"pids": 32})
        assert made_at(other) >= asked, "a pod with other limits was taken"
        assert driver.call("ready")["ready"], "none were prepared for what is wanted now"
        asked = int(time.time() * 1000) / 1000  # as precise as an id
        again = driver.start(limits={"pids": 32})
        assert made_at(again) < asked
        for sandbox in (first, second, other, again):
            driver.call("destroy", sandbox=sandbox)
        driver.call("close")
    # The provider has ended, and so have those that waited.
    bench.wait_for(lambda: pods_of_cluster() == before, "prepared pods are deleted")
