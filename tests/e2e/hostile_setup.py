"""Setup as a hostile repository writes it: what it can reach, keep, read and spoil. It needs no registry."""

from workbench import Bench, results_of

CANARY = "canary-setup-4f1d"


def bench_with(binary, stack, files, *flags, name="shop2", links=()):
    bench = Bench(binary, stack, *flags, kinds={})
    def write(work):
        for path, content in files.items():
            file = work / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        for path, target in links:
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).symlink_to(target)
    return bench, bench.add(name, write)


def over(bench, url, script="true", **sandbox):
    id = bench.start(url, script, sandbox={"setup": "auto"} | sandbox)
    return id, bench.shop.until(id)


def test_home_and_search_path_are_the_same_in_a_layer_a_run_and_a_verification(binary, stack):
    tell = 'echo "$HOME|$(command -v tool)|$(tool)|$XDG_CACHE_HOME|$(cat ~/.cache/kept)|${PATH##*/opt/harness/node_modules/.bin:}"'
    setup = ("mkdir -p ~/.local/bin ~/.cache; printf '#!/bin/sh\\necho works\\n' > ~/.local/bin/tool; chmod +x ~/.local/bin/tool; "
             f"echo cached > ~/.cache/kept; {tell} > ~/told; mkdir -p made; echo in-tree > made/file")
    bench, url = bench_with(binary, stack, {"a.txt": "one\n", ".hone/setup.sh": setup + "\n"})
    check = f"test \"$({tell})\" = \"$(cat ~/told)\" && cat made/file a.txt && cat ~/told"
    id = bench.start(url, f"cd shop2; {tell}; cat ~/told; cat made/file; git status --porcelain; echo two > a.txt; "
                          "git commit -qam two; git push > /dev/null 2>&1; echo pushed", check, {"setup": "auto"})
    run = bench.shop.until(id)
    assert run["state"] == "succeeded", (run, bench.shop.texts(id))
    said = bench.shop.texts(id, "message")
    told = "/home/worker|/home/worker/.local/bin/tool|works||cached|/home/worker/.local/bin:/usr/local/bin:/usr/bin:/bin"
    assert said[:4] == [told, told, "in-tree", "pushed"], said
    _, revision = bench.verified(id)
    assert results_of(revision) == {"setup": (0, 0), "tests": (0, 0)}, revision
    assert told in revision["verification_results"][1]["branch"]["output"], revision


def test_setup_reaches_nothing_that_its_preset_does_not_open(binary, stack):
    ask = ("for url in http://127.0.0.1:3129/ http://127.0.0.1:3129/v1/projects http://example.com/ http://169.254.169.254/; do "
           "curl -sS -m 5 -o /dev/null -w '%{http_code}\\n' $url 2>&1 || true; done; env | grep -i -E 'key|token|secret' || true")
    bench, url = bench_with(binary, stack, {".hone/setup.sh": f"({ask}) > ~/answers\n"})
    # Without packages and hosts there is no network.
    id, run = over(bench, url, "cat ~/answers")
    assert run["state"] == "succeeded", bench.shop.texts(id)
    said = bench.shop.texts(id, "message")
    assert said and all("000" in line or line.startswith("curl: (") for line in said), said
    # With a host of its own it has that one, and no gateway; the worker has not even that.
    probe = "curl -sS -m 5 -o /dev/null -w '%{http_code}\\n' http://example.com/ 2>&1 || true"
    id, run = over(bench, url, f"cat ~/answers; {probe}", setup_hosts=["example.com:80"])
    assert run["state"] == "succeeded", bench.shop.texts(id)
    requests = bench.egress(id)
    targets = {(one["target"], one["allowed"]) for one in requests}
    assert ("example.com:80", True) in targets and ("example.com:80", False) in targets, requests
    assert ("169.254.169.254:80", False) in targets, requests
    said = bench.shop.texts(id, "message")
    assert said[1] == "000" and said[3] == "000" and said[-1] == "403", said  # port 3129 is not served to setup


def test_setup_leaves_no_process_and_cannot_fill_the_disk_or_the_time(binary, stack):
    leave = "(setsid sh -c 'while :; do date >> ~/ticks; sleep 0.1; done' &) ; sleep 0.5; cp ~/ticks ~/then\n"
    bench, url = bench_with(binary, stack, {".hone/setup.sh": leave})
    id, run = over(bench, url, "sleep 1; cmp ~/ticks ~/then || wc -l ~/ticks; pgrep -x sleep || echo nobody", setup_hosts=["example.com"])
    assert run["state"] == "succeeded" and bench.shop.texts(id, "message")[-1] == "nobody", bench.shop.texts(id)
    for script, words, more in (("dd if=/dev/zero of=/home/worker/big bs=1M count=300; sleep 60\n", "disk", {"disk_bytes": 64 << 20}),
                                ("sleep 600\n", "timeout", {"init_seconds": 2}),
                                ("bomb() { bomb | bomb & }; bomb; sleep 5; exit 9\n", "setup (.hone/setup.sh)", {"pids": 64, "init_seconds": 20})):
        (bench.scratch / "shop2/.hone/setup.sh").write_text(script)
        bench.change("shop2")
        id, run = over(bench, url, **more)
        assert run["state"] == "failed" and words in run["reason"], (script, run)
    assert not list((bench.shop.server.data_dir / "sandbox/layers").glob(".build-*")), "a half-made layer is left"
    assert not list((bench.shop.server.data_dir / "runs").glob("*")), "files of a build are left"


def test_a_layer_is_read_by_its_own_repository_and_space_only(binary, stack):
    files = {".hone/setup.sh": f"test -e ~/mark && cat ~/mark; echo {CANARY} > ~/mark\n"}
    bench, url = bench_with(binary, stack, files)
    id, run = over(bench, url, "cat ~/mark")
    assert bench.shop.texts(id, "message") == [CANARY], bench.shop.texts(id)
    # The same files as another repository: built anew.
    def write(work):
        (work / ".hone").mkdir(parents=True)
        (work / ".hone/setup.sh").write_text(files[".hone/setup.sh"])
    twin = bench.add("twin", write)
    id, run = over(bench, twin)
    assert "took" in bench.setup_steps(id)[0] and CANARY not in bench.setup_steps(id)[0], bench.setup_steps(id)
    # Layers are no place that a sandbox can see.
    layers = bench.shop.server.data_dir / "sandbox/layers"
    id, run = over(bench, url, f"ls {layers} 2>&1; ls /proc/1/root 2>&1 | head -1; true")
    assert "No such file" in bench.shop.texts(id, "message")[0], bench.shop.texts(id)


def test_a_branch_never_becomes_what_later_runs_begin_with(binary, stack):
    bench, url = bench_with(binary, stack, {".hone/setup.sh": "echo clean > ~/state\n", "a.txt": "a\n"})
    poison = "cd shop2; echo 'echo poisoned > ~/state' > .hone/setup.sh; git commit -qam poison; git push > /dev/null 2>&1; cat ~/state"
    id = bench.start(url, poison, "cat ~/state", {"setup": "auto"})
    assert bench.shop.until(id)["state"] == "succeeded", bench.shop.texts(id)
    artifact, revision = bench.verified(id)
    result = revision["verification_results"][1]
    assert (result["base"]["output"], result["branch"]["output"]) == ("clean\n", "poisoned\n"), revision
    assert any(flag["kind"] == "protected" or flag["blocking"] for flag in revision["flags"]), revision["flags"]
    id, run = over(bench, url, "cat ~/state")
    assert bench.shop.texts(id, "message") == ["clean"] and "reused" in bench.setup_steps(id)[0], bench.shop.texts(id)


def test_files_that_cannot_be_used_are_refused_by_name(binary, stack):
    bench, url = bench_with(binary, stack, {"a.txt": "a\n"}, links=[(".hone/setup.sh", "/etc/passwd")])
    id, run = over(bench, url)
    assert run["state"] == "failed" and ".hone/setup.sh is not a regular file, but a symbolic link" in run["reason"], run
    work = bench.scratch / "shop2"
    (work / ".hone/setup.sh").unlink()
    deep = '{"postCreateCommand": ' + "[" * 1000 + "]" * 1000 + "}"
    for text, words in ((deep, "devcontainer.json cannot be read"), ('{"a": "' + "x" * 70000 + '"}', "larger than 64 KiB"),
                        ('{"postCreateCommand": 7}', "neither text nor a list")):
        (work / ".devcontainer.json").write_text(text)
        bench.change("shop2")
        id, run = over(bench, url)
        assert run["state"] == "failed" and words in run["reason"], run
    (work / ".devcontainer.json").write_text('// comments\n{ /* "x": */ "postCreateCommand": ["sh", "-c", "echo \\"it\'s\\" > ~/made"], }\n')
    bench.change("shop2")
    id, run = over(bench, url, "cat ~/made")
    assert bench.shop.texts(id, "message") == ["it's"], bench.shop.texts(id)


def test_a_lock_file_of_100_megabytes_is_a_name_in_a_key(binary, stack):
    bench, url = bench_with(binary, stack, {".hone/setup.sh": "wc -c < package-lock.json > ~/size\n"})
    (bench.scratch / "shop2/package-lock.json").write_bytes(b"x" * (100 << 20))
    bench.change("shop2")
    id, run = over(bench, url, "cat ~/size")
    assert run["state"] == "succeeded" and bench.shop.texts(id, "message") == [str(100 << 20)], bench.shop.texts(id)


def test_a_policy_of_the_space_holds_for_packages_and_hosts_of_setup(binary, stack):
    bench, url = bench_with(binary, stack, {"a.txt": "a\n"}, "--packages-go", "")
    client = bench.client
    def refused(**sandbox):
        body = {"project": "shop", "prompt": "x", "settings": {"harness": "command", "command": ["true"], "sandbox": sandbox}}
        return client.call("POST", "/v1/runs", body)
    assert "packages_go" in refused(packages=["go"]).message
    assert refused(packages=["nonsense"]).status == 400
    assert "setup_hosts" in refused(setup_hosts=["no host"]).message
    assert "gvisor" in refused(setup="auto", minimum_tier="gvisor").message
    space = client.must("GET", "/v1/spaces").data[0]["id"]
    client.must("PUT", f"/v1/spaces/{space}/policy", {"hosts": ["files.example.com"]})
    for sandbox, words in (({"packages": ["npm"]}, "sandbox.packages opens"), ({"setup_hosts": ["other.example.com"]}, "sandbox.setup_hosts opens")):
        answer = refused(**sandbox)
        assert answer.status == 403 and words in answer.message, answer.text
    allowed = refused(setup_hosts=["files.example.com"])
    assert allowed.status == 200, allowed.text
