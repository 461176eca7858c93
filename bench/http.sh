#!/usr/bin/env bash
# bench/http.sh HONE_BINARY [SECONDS]
# Requests per second and latency of hone beside nginx on the same machine in the same run, start-to-ready time, idle
# memory and idle CPU. Needs wrk, nginx, curl and python3. Prints one JSON object on standard output.
set -euo pipefail

hone=$(realpath "${1:?usage: bench/http.sh HONE_BINARY [SECONDS]}")
seconds=${2:-5}
work=$(mktemp -d)
hone_pid=
nginx_pid=

clean_up() {
    for pid in $hone_pid $nginx_pid; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# wrk's report as "requests_per_second p50_us p99_us errors".
cat > "$work/report.lua" <<'LUA'
done = function(summary, latency, requests)
    local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
    io.write(string.format("REPORT %.0f %.0f %.0f %d\n", summary.requests / summary.duration * 1e6,
        latency:percentile(50), latency:percentile(99), errors))
end
LUA
measure() { # URL [HEADER]
    local header=()
    [ -n "${2:-}" ] && header=(-H "$2")
    wrk -t2 -c64 -d1s "${header[@]}" "$1" >/dev/null
    wrk -t2 -c64 -d"${seconds}s" -s "$work/report.lua" "${header[@]}" "$1" | sed -n 's/^REPORT //p'
}

# --- nginx: two workers, one small static file, no log.
nginx_port=$(free_port)
mkdir -p "$work/nginx/root"
echo ok > "$work/nginx/root/small.txt"
cat > "$work/nginx/nginx.conf" <<CONF
worker_processes 2;
daemon off;
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 100000000;
    sendfile on;
    open_file_cache max=100;
    default_type text/plain;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    server { listen 127.0.0.1:$nginx_port; root $work/nginx/root; }
}
CONF
chmod -R a+rX "$work"
nginx -c "$work/nginx/nginx.conf" -e "$work/nginx/error.log" 2>"$work/nginx/stderr" &
nginx_pid=$!
nginx_url="http://127.0.0.1:$nginx_port/small.txt"
curl --silent --fail --output /dev/null --retry 50 --retry-delay 1 --retry-connrefused "$nginx_url"

# --- hone, with the time from exec to the first 200 of /readyz.
export HONE_ADMIN_PASSWORD=bench-password-$RANDOM$RANDOM HONE_REQUESTS_PER_MINUTE=0
python3 - "$hone" "$work" > "$work/ready_ms" <<'PY' &
import json, os, subprocess, sys, time, urllib.request
hone, work = sys.argv[1], sys.argv[2]
data = work + "/data"
command = [hone, "serve", "--data-dir", data, "--listen", "127.0.0.1:0", "--otlp-http-listen", "127.0.0.1:0",
           "--otlp-grpc-listen", "127.0.0.1:0"]

def start():
    """Milliseconds until /readyz answers, and the process."""
    began = time.monotonic()
    with open(work + "/hone.log", "a") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    while time.monotonic() - began < 30 and process.poll() is None:
        try:
            url = json.load(open(data + "/addresses.json"))["http"]
            if urllib.request.urlopen(url + "/readyz", timeout=5).status == 200:
                return round((time.monotonic() - began) * 1000, 1), process
        except (OSError, ValueError, KeyError):
            time.sleep(0.001)
    sys.exit(1)

first, process = start()  # creates the data directory and the first user
process.terminate()
process.wait()
again, process = start()
with open(work + "/hone.pid", "w") as file:
    file.write(str(process.pid))
print(first, again, flush=True)
process.wait()
PY
hone_pid=
for _ in $(seq 1 300); do
    [ -s "$work/hone.pid" ] && hone_pid=$(cat "$work/hone.pid")
    [ -s "$work/ready_ms" ] && [ -n "$hone_pid" ] && break
    sleep 0.1
done
hone_url=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["http"])' "$work/data/addresses.json") || {
    echo "hone did not become ready:" >&2
    tail -20 "$work/hone.log" >&2
    exit 1
}

# --- idle: ten seconds without a request.
ticks() { awk '{print $14 + $15}' "/proc/$hone_pid/stat"; }
before=$(ticks)
sleep 10
after=$(ticks)
idle_cpu=$(python3 -c "print(round(($after - $before) / $(getconf CLK_TCK) / 10 * 100, 2))")
idle_rss=$(awk '/^VmRSS/ {print $2 / 1024}' "/proc/$hone_pid/status")

# --- a key for the authenticated list.
jar=$work/cookies
login=$(curl --silent --show-error --cookie-jar "$jar" -H 'Content-Type: application/json' \
    -d "{\"email\":\"admin@localhost\",\"password\":\"$HONE_ADMIN_PASSWORD\"}" "$hone_url/v1/login")
csrf=$(python3 -c 'import json, sys; d = json.loads(sys.argv[1]).get("data", {}); print(d.get("csrf_token", ""))' "$login" 2>/dev/null || true)
key_answer=$(curl --silent --show-error --cookie "$jar" -H "X-CSRF-Token: $csrf" -H 'Content-Type: application/json' \
    -d '{"name":"bench"}' "$hone_url/v1/keys")
key=$(python3 -c 'import json, sys; d = json.loads(sys.argv[1]).get("data", {}); print(d.get("key") or d.get("secret") or d.get("token") or "")' "$key_answer" 2>/dev/null || true)
list_status=$(curl --silent --output /dev/null --write-out '%{http_code}' -H "Authorization: Bearer $key" "$hone_url/v1/projects")

nginx_report=$(measure "$nginx_url")
health_report=$(measure "$hone_url/healthz")
list_report="0 0 0 0"
[ "$list_status" = 200 ] && list_report=$(measure "$hone_url/v1/projects" "Authorization: Bearer $key")
nginx_again=$(measure "$nginx_url") # a second time: the machine may have been busy

kill "$hone_pid" "$nginx_pid"
wait
hone_pid=
nginx_pid=

python3 - "$nginx_report" "$nginx_again" "$health_report" "$list_report" "$(cat "$work/ready_ms")" "$idle_rss" "$idle_cpu" "$list_status" <<'PY'
import json, sys
def report(text):
    rate, p50, p99, errors = (int(part) for part in text.split())
    return {"requests_per_second": rate, "p50_us": p50, "p99_us": p99, "errors": errors}
nginx, again, health, projects = (report(text) for text in sys.argv[1:5])
nginx = max(nginx, again, key=lambda r: r["requests_per_second"])
result = {
    "nginx_static": nginx,
    "healthz": health,
    "projects": projects if sys.argv[8] == "200" else {"skipped": "status " + sys.argv[8]},
    "nginx_over_healthz": round(nginx["requests_per_second"] / max(1, health["requests_per_second"]), 2),
    "first_start_to_ready_ms": float(sys.argv[5].split()[0]),
    "start_to_ready_ms": float(sys.argv[5].split()[1]),
    "idle_rss_mb": round(float(sys.argv[6]), 1),
    "idle_cpu_percent": float(sys.argv[7]),
}
if sys.argv[8] == "200":
    result["nginx_over_projects"] = round(nginx["requests_per_second"] / max(1, projects["requests_per_second"]), 2)
print(json.dumps(result, indent=2))
PY
