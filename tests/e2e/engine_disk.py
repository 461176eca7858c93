"""The span engine on a disk that becomes full in the middle of inserts and merges: each insert that it confirmed is there,
whole, after the next start."""

import os
import threading
import time

from faults import SmallStore
from server import needs, seeded, wait_until

ROUNDS = 12
TABLE = """CREATE TABLE hone.rows (block UInt32, text String, INDEX words text TYPE text(tokenizer = 'splitByNonAlpha'))
ENGINE = MergeTree ORDER BY block SETTINGS fsync_after_insert = 1, fsync_part_directory = 1,
min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 1, min_bytes_for_wide_part = 134217728"""
INSERT = "INSERT INTO hone.rows SELECT {block}, randomPrintableASCII(1000) FROM numbers({rows})"


class Inserts(threading.Thread):
    """Blocks of random size one after the other; `confirmed` has those that the engine took."""

    def __init__(self, store, luck, first):
        super().__init__()
        self.store, self.luck, self.block = store, luck, first
        self.confirmed, self.stopping = {}, threading.Event()
        self.start()

    def run(self):
        while not self.stopping.is_set():
            rows = self.luck.randint(1, 4000)
            self.block += 1
            try:
                self.store.query(INSERT.format(block=self.block, rows=rows))
                self.confirmed[self.block] = rows
            except (AssertionError, OSError):  # refused, or the engine ended
                self.stopping.wait(0.05)

    def end(self):
        self.stopping.set()
        self.join()


def test_what_the_engine_confirmed_is_whole_after_a_full_disk(binary, stack):
    needs("root, for a disk of a fixed size", os.geteuid() == 0)
    luck = seeded()
    # Below folders that are named like its own, of which one holds temporary files.
    store = SmallStore(binary, stack, "/data/tmp/place")
    store.query("CREATE DATABASE IF NOT EXISTS hone")
    store.query(TABLE)
    confirmed, ended, refused = {}, 0, 0
    for turn in range(ROUNDS):
        inserts = Inserts(store, luck, turn * 100_000)
        wait_until(lambda: len(inserts.confirmed) >= 3, "blocks are taken")
        time.sleep(luck.uniform(0, 0.3))  # where the fault meets inserts and merges
        store.disk.fill(but=luck.choice([0, luck.randint(0, 4_000_000)]))
        time.sleep(luck.uniform(0, 0.3))  # how long it lasts
        inserts.end()
        store.disk.empty()
        confirmed |= inserts.confirmed
        refused += inserts.block - turn * 100_000 - len(inserts.confirmed)
        ended += store.process.poll() is not None
        store.stop()
        store.start()
        found = store.query("SELECT block, count(), countIf(length(text) = 1000) FROM hone.rows GROUP BY block FORMAT TSV").splitlines()
        found = {block: (rows, whole) for block, rows, whole in (map(int, line.split("\t")) for line in found)}
        for block, rows in confirmed.items():
            assert found.get(block) == (rows, rows), f"turn {turn}: block {block} of {rows} rows is {found.get(block)}"
        assert store.query("SELECT count() FROM system.detached_parts") == "0", "a part was put aside as damaged"
        if sum(confirmed.values()) > 100_000:  # room for the next turn
            store.query("TRUNCATE TABLE hone.rows")
            confirmed.clear()
    print(f"      {ROUNDS} full disks: {refused} inserts were refused or ended with the engine, which ended {ended} times")
    assert refused > 0, "the disk was full for some insert"
