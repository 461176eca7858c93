#include "server/demo/demo_repository.h"

#include "base/file.h"
#include "base/text.h"
#include "sandbox/image/tree.h"
#include "server/demo/demo_progress.h"

namespace hone::server {

namespace {

constexpr std::string_view main_branch = "/refs/heads/main";

// Leaves one pack and the name of the commit. The dates are fixed: the commit is the same on every machine.
constexpr std::string_view make_script = R"(set -e
mkdir -p "$HONE_ROOT"/workspace/demo/agent "$HONE_ROOT"/workspace/demo/tests "$HONE_ROOT"/workspace/out/pack
cd "$HONE_ROOT"/workspace/demo
git init --quiet
cat > README.md <<'END'
# support-agent

The application whose traces the project support-agent holds. `python3 -m unittest discover -s tests` runs its tests.
END
touch agent/__init__.py
cat > agent/stock.py <<'END'
"""Reads the stock with the tool check_stock."""

MOST_CALLS = 3


def stock_of(item, call_tool):
    """How many of an item there are; None when the warehouse does not list it."""
    while True:
        stock = call_tool("check_stock", item)
        if stock["known"]:
            return stock["count"]


def reply(item, call_tool):
    count = stock_of(item, call_tool)
    if count is None:
        return f"I could not find {item} in our warehouse."
    return f"We have {count} of {item}."
END
cat > agent/replay.py <<'END'
"""Runs one recorded ticket again: JSON on stdin, JSON on stdout. Tools are not called; recorded results are used."""

import json
import sys

from agent import stock


class Ended(Exception):
    """The trace recorded no further result."""


def main():
    recorded = json.load(sys.stdin).get("replay", {}).get("tools", [])
    results = iter([tool.get("result") for tool in recorded if tool["name"] == "check_stock"])
    calls = 0

    def call_tool(_name, _item):
        nonlocal calls
        result = next(results, Ended)
        if result is Ended:
            raise Ended
        calls += 1
        return {"known": isinstance(result, dict) and result.get("status") == "known", "count": 1}

    text = "Your ticket is with us."
    try:
        if any(tool["name"] == "check_stock" for tool in recorded):
            text = stock.reply("blue lamp", call_tool)
    except Ended:
        text = None
    json.dump({"text": text, "tool_calls": calls}, sys.stdout)


main()
END
cat > tests/test_stock.py <<'END'
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from agent import stock


class Warehouse:
    def __init__(self, known):
        self.known, self.calls = known, 0

    def __call__(self, tool, item):
        self.calls += 1
        if self.calls > 50:
            raise RuntimeError("called more than 50 times")
        return {"known": item in self.known, "count": self.known.get(item)}


class Stock(unittest.TestCase):
    def test_an_item_that_is_there(self):
        self.assertEqual(stock.reply("red lamp", Warehouse({"red lamp": 4})), "We have 4 of red lamp.")

    def test_an_unknown_item_does_not_cause_a_loop(self):
        warehouse = Warehouse({})
        self.assertIn("could not find", stock.reply("blue lamp", warehouse))
        self.assertLessEqual(warehouse.calls, stock.MOST_CALLS)


if __name__ == "__main__":
    unittest.main()
END
git add .
git commit --quiet -m 'A support agent that knows the stock'
git repack --quiet -a -d
cp .git/objects/pack/pack-*.pack .git/objects/pack/pack-*.idx "$HONE_ROOT"/workspace/out/pack/
git rev-parse HEAD > "$HONE_ROOT"/workspace/out/head
)";

forge::GitJob job_that_makes_it(const std::string& export_to) {
    forge::GitJob job;
    job.script = make_script;
    job.export_to = export_to;
    for (const std::string who : {"AUTHOR", "COMMITTER"}) {
        job.environment["GIT_" + who + "_NAME"] = "Hone demo";
        job.environment["GIT_" + who + "_EMAIL"] = "demo@localhost";
        job.environment["GIT_" + who + "_DATE"] = "1760000000 +0000";
    }
    return job;
}

Result<> make_repository(const forge::Git& git, const std::string& brought, const std::string& path) {
    const forge::GitOutput made = TRY(git.run(job_that_makes_it(brought)));
    if (made.exit_code != 0) return internal("the demo's repository could not be created", made.err);
    const std::string head(trim(TRY(read_file(brought + "/head", 1 << 10))));
    if (!forge::is_object_name(head)) return internal("git did not name the demo's commit");
    TRY(forge::make_bare_repository(path));
    TRY(forge::take_packs(brought + "/pack", path));
    return write_file(path + std::string(main_branch), head + "\n", 0644);
}

} // namespace

Result<run::Run> propose_demo_fix(const forge::Git& git, run::Runs& runs, const Clock& clock,
                                  const access::SpaceId& space, const std::string& project,
                                  const std::string& data_directory) {
    const std::string folder = data_directory + "/repos/" + space.text();
    const std::string path = folder + "/support-agent.git";
    run::StartRun start;
    start.project = project;
    start.prompt = "The agent calls check_stock repeatedly for unknown items. Propose a fix.";
    start.title = "Fix the stock loop";
    if (auto started = TRY(find_demo_run(runs, space, *start.title))) return std::move(*started);
    if (!file_exists(path + std::string(main_branch))) { // written last
        TRY(make_directories(data_directory + "/git", 0700));
        TRY(make_directories(folder, 0700));
        TRY(sandbox::remove_tree(path));
        const std::string brought = data_directory + "/git/demo-" + make_ulid(clock.now());
        const auto made = make_repository(git, brought, path);
        (void)sandbox::remove_tree(brought).ok();
        TRY(made);
    }
    run::Settings& settings = start.settings.emplace();
    settings.harness = "playbook";
    settings.command = std::vector<std::string>{"propose_fix"};
    settings.repos.value.push_back({"file://" + path});
    settings.review.value.verification.value.push_back({"tests", "python3 -m unittest discover -s tests"});
    review::ReplayPolicy& replay = settings.review.value.replay.value;
    replay.command = std::string("python3 -m agent.replay");
    replay.evaluator = std::string("no-repeated-calls");
    replay.evidence = int64_t{8};
    replay.control = int64_t{8};
    return runs.start(access::Caller::system(), space, start);
}

} // namespace hone::server
