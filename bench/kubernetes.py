"""What sandboxes in pods cost. See kubernetes.sh."""

import contextlib
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "tests/kubernetes"))

import cluster as clusters  # noqa: E402
import driving  # noqa: E402
import policy  # noqa: E402
import run as suite  # noqa: E402

STARTS, COMMANDS = 10, 40
# Inside a sandbox: round trips of 512 bytes over one connection, as a token of a stream is one; then connections with one round
# trip each, as a request to a model begins; then bytes there and back.
CLIENT = """
import json, socket, threading, time
def connect():
    made = socket.create_connection(("127.0.0.1", 3129))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
def trip(connection, size=512):
    began = time.perf_counter()
    connection.sendall(b"x" * size)
    left = size
    while left:
        left -= len(connection.recv(left))
    return (time.perf_counter() - began) * 1000
def request():
    began = time.perf_counter()
    with connect() as connection:
        trip(connection)
    return (time.perf_counter() - began) * 1000
with connect() as connection:
    trip(connection)
    trips = [trip(connection) for _ in range(400)]
requests = [request() for _ in range(100)]
size = 32 << 20
with connect() as connection:
    began = time.perf_counter()
    sender = threading.Thread(target=connection.sendall, args=(bytes(size),))
    sender.start()
    left = size
    while left:
        left -= len(connection.recv(min(left, 1 << 20)))
    sender.join()
    took = time.perf_counter() - began
print(json.dumps({"trips": trips, "requests": requests, "megabytes_per_second": size / took / 1e6}))
"""


def spread(values, digits=2):
    ordered = sorted(values)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], digits)
    return {"p50": at(0.5), "p99": at(0.99), "max": round(ordered[-1], digits), "count": len(ordered)}


def timed(work):
    began = time.perf_counter()
    result = work()
    return result, (time.perf_counter() - began) * 1000


# To the first byte of the first command, as a harness is started.
def first_byte(driver):
    sandbox = driver.start()
    driver.run(sandbox, "/bin/echo", "ready")
    return sandbox


def prepared_starts(driver):
    """Of pods that wait for their run. The first start is a cold one: it shows what to prepare."""
    driver.call("destroy", sandbox=driver.start())
    starts = []
    for _ in range(STARTS):
        assert driver.call("ready")["ready"], "no pod was prepared"
        sandbox, took = timed(lambda: first_byte(driver))
        starts.append(took)
        driver.call("destroy", sandbox=sandbox)
    return spread(starts)


def measure(driver):
    """One provider: starts, commands, connections."""
    starts, stops, commands = [], [], []
    for _ in range(STARTS):
        sandbox, took = timed(lambda: first_byte(driver))
        starts.append(took)
        stops.append(timed(lambda sandbox=sandbox: driver.call("destroy", sandbox=sandbox))[1])
    sandbox = driver.start(limits={"cpus": 1})
    for _ in range(COMMANDS):
        commands.append(timed(lambda: driver.run(sandbox, "/bin/echo", "ready"))[1])
    driver.call("echo", sandbox=sandbox)
    seen = json.loads(driver.run(sandbox, "/usr/bin/python3", "-c", CLIENT)["out"])
    driver.call("destroy", sandbox=sandbox)
    return {"start_to_first_byte_ms": spread(starts), "destroy_ms": spread(stops), "command_ms": spread(commands),
            "round_trip_512_bytes_ms": spread(seen["trips"], 3), "connection_and_round_trip_ms": spread(seen["requests"], 3),
            "megabytes_per_second_there_and_back": round(seen["megabytes_per_second"], 1)}


def at_once(bench, driver, count):
    before = driver.call("memory")["bytes"]
    small = driving.specification(limits={"memory_bytes": 48 << 20, "cpus": 0.02, "disk_bytes": 16 << 20})
    started, up = timed(lambda: [driving.result_of(each)["sandbox"] for each in
                                 [driver.send("start", spec=small) for _ in range(count)]])
    memory = driver.call("memory")["bytes"]
    for sandbox in started:
        driver.run(sandbox, "/bin/true")
    bench.cluster.tell("kill", "kube-apiserver")
    time.sleep(1)
    bench.cluster.tell("start", "kube-apiserver")
    bench.until("the API", "get", f"/api/v1/namespaces/{suite.NAMESPACE}")
    _, back = timed(lambda: [driving.result_of(each) for each in
                             [driver.send("run", sandbox=sandbox, command={"argv": ["/bin/true"]}) for sandbox in started]])

    def down():
        for each in [driver.send("destroy", sandbox=sandbox) for sandbox in started]:
            driving.result_of(each)
        path = f"/api/v1/namespaces/{suite.NAMESPACE}/pods"
        bench.wait_for(lambda: bench.must("get", path)["body"]["items"] == [], "no pod is left")
    return {"pods": count, "up_seconds": round(up / 1000, 1), "down_seconds": round(timed(down)[1] / 1000, 1),
            "all_respond_after_the_api_server_is_ready_ms": round(back), "server_bytes_per_channel": (memory - before) // count}


def model_calls(bench):
    """Through the gateway of a server, in a process of the cluster's network."""
    done = bench.cluster.run(sys.executable, here / "kubernetes_models.py", bench.hone, bench.cluster.state / "hone.conf",
                             suite.NAMESPACE, clusters.WORKER_IMAGE)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
    return json.loads(done.stdout)


def main():
    hone, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    if why := clusters.why_not():
        sys.exit(f"bench kubernetes: {why}")
    client = hone.parent / "tests/kubernetes_client"
    with contextlib.ExitStack() as stack:
        cluster = clusters.Cluster(stack, hone.parent / "hone-pod")
        bench = suite.Bench(cluster, client)
        suite.a_namespace_enforces_restricted_pods(bench)
        policy.create(bench, suite.NAMESPACE)
        enforcer = stack.enter_context(policy.Enforcer(bench, suite.NAMESPACE))
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        with driving.Driver(bench.driver, "local", None, hone) as local:
            result = {"cluster_ready_seconds": round(cluster.took, 1), "local": measure(local)}
        with driving.pods(bench, suite.NAMESPACE, clusters.WORKER_IMAGE) as pods:
            result["kubernetes"] = measure(pods)
            result["at_once"] = at_once(bench, pods, count)
        with driving.pods(bench, suite.NAMESPACE, clusters.WORKER_IMAGE, storage=("", "1")) as pods:
            result["kubernetes"]["prepared_start_to_first_byte_ms"] = prepared_starts(pods)
        result["through_the_gateway"] = model_calls(bench)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
