"""The wall clock of a run goes on when there is no server: its own file, since it only waits."""

import signal
import time

from runs import Shop
from server import wait_until


def test_a_wall_clock_that_runs_out_without_a_server_is_named(binary, stack):
    shop = Shop(binary, stack)
    id = shop.start("/bin/sleep", "300", sandbox={"wall_clock_minutes": 1})["id"]
    shop.until(id, "running")
    began = time.monotonic()
    shop.server.process.send_signal(signal.SIGKILL)
    shop.server.process.wait()
    wait_until(lambda: time.monotonic() - began > 63, "the minute is over", 120)
    shop.again()
    run = shop.until(id)
    assert (run["state"], run["reason"]) == ("timed_out", "the wall clock ran out"), (run, shop.texts(id))
