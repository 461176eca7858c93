#include "telemetry/engine/engine.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/path.h"
#include "base/text.h"
#include "telemetry/engine/chdb.h"
#include "telemetry/engine/engine_config.h"
#include "telemetry/engine/engine_confinement.h"
#include "telemetry/engine/engine_request.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace hone::telemetry {

namespace {

Result<EngineOptions> read_options(int argc, char** argv) {
    EngineOptions options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::string value = argv[i + 1];
        if (name == "--directory")
            options.directory = value;
        else if (name == "--socket")
            options.socket = value;
        else if (name == "--library")
            options.library = value;
        else if (name == "--memory-bytes")
            options.memory_bytes = TRY(parse_integer(value));
        else if (name == "--threads")
            options.threads = TRY(parse_integer(value));
        else if (name == "--reads-files")
            options.reads_files = value == "1";
        else if (name == "--unconfined")
            options.unconfined = value == "1";
        else
            return invalid("unknown option " + std::string(name));
    }
    if (options.directory.empty() || options.socket.empty()) return invalid("--directory and --socket are required");
    // ClickHouse joins a relative path with itself, and then finds nothing.
    options.directory = TRY(resolve_directory(options.directory));
    options.socket = TRY(absolute_path(options.socket));
    return options;
}

std::string quote_sql(std::string_view text) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "'";
}

class Engine {
public:
    Engine(EngineOptions options, Chdb& library) : m_options(std::move(options)), m_library(library) {}

    Result<ChdbConnection> connect() {
        return m_library.connect({"clickhouse", "--path=" + m_options.directory + "/data",
                                  "--config-file=" + m_options.directory + "/config.xml"});
    }

    void serve(Fd socket);
    void watch(); // kills queries whose reader is gone

private:
    struct Running {
        int socket;
        std::string marker;
        bool killed = false;
    };

    Result<> respond(EngineConnection& connection, const EngineRequest& request, int socket);
    Result<> execute(EngineConnection& connection, const EngineRequest& request, int socket);
    Result<> run(EngineConnection& connection, const EngineRequest& request, int socket, ChdbConnection& engine,
                 const std::string& sql);
    Result<ChdbConnection> take_idle(const EngineRequest& request, const std::string& names);
    void keep_idle(const std::string& names, ChdbConnection engine);
    Result<> stream(EngineConnection& connection, ChdbConnection& engine, const std::string& sql);

    EngineOptions m_options;
    Chdb& m_library;
    std::atomic<uint64_t> m_number{0};
    Mutex m_mutex;
    std::map<uint64_t, Running> m_running GUARDED_BY(m_mutex);
    std::multimap<std::string, ChdbConnection> m_idle GUARDED_BY(m_mutex); // by the names of what was set on them
    Fd m_changed{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};                // m_running has a new entry
};

void Engine::serve(Fd socket) {
    EngineConnection connection(socket.get());
    for (;;) {
        auto request = connection.read_head();
        if (!request.ok()) {
            if (request.error().code != Code::not_found)
                (void)connection.respond(400, "Connection: close\r\n", request.error().message).ok();
            return;
        }
        if (!respond(connection, request.value(), socket.get()).ok() || !request.value().keep_alive) return;
    }
}

Result<> Engine::respond(EngineConnection& connection, const EngineRequest& request, int socket) {
    if (request.path == "/ping") return connection.respond(200, "", "Ok.\n");
    auto done = execute(connection, request, socket);
    if (done.ok()) return {};
    if (done.error().trail.empty()) return done; // the connection itself is broken
    const EngineFailure failure = parse_engine_failure(done.error().trail);
    while (!TRY(connection.read_body(request)).empty()) continue; // the rest of an insert that failed
    const std::string header = "X-ClickHouse-Exception-Code: " + std::to_string(failure.code) + "\r\n";
    return connection.respond(500, header, failure.message);
}

bool is_reader(const EngineRequest& request) {
    return request.user == reader_user;
}

std::string_view database_of(const EngineRequest& request) {
    for (const auto& [name, value] : request.settings)
        if (name == "database") return value;
    return {};
}

// The library's own words for a request that never reaches it.
Error refused_request(int code, const std::string& why) {
    return internal("the request is refused", "Code: " + std::to_string(code) + ". DB::Exception: " + why);
}

// The user, and the database of the connection. A request without a user is rejected.
Result<> enter(ChdbConnection& engine, const EngineRequest& request) {
    const std::string_view database = database_of(request);
    const bool is_plain = database.size() <= 128 && database.find_first_not_of(database_letters) == database.npos;
    if (!is_plain) return refused_request(81, "no such database");
    if (!is_reader(request) && request.user != owner_user)
        return refused_request(516, "the request names no known user");
    if (is_reader(request) && !database.starts_with("hone_project_"))
        return refused_request(81, "a reader needs a database");
    if (!database.empty()) TRY(engine.query("USE `" + std::string(database) + "`", "TSV"));
    if (is_reader(request)) TRY(engine.query("SET ROLE NONE", "TSV"));
    return {};
}

Result<> apply(ChdbConnection& engine, const EngineRequest& request) {
    std::string assignments, last;
    for (const auto& [name, value] : request.parameters)
        assignments += (assignments.empty() ? "" : ", ") + ("param_" + name) + " = " + quote_sql(value);
    for (const auto& [name, value] : request.settings) {
        if (name == "default_format" || name == "database") continue;
        if (name == "readonly")
            last = value; // it forbids further changes
        else
            assignments += (assignments.empty() ? "" : ", ") + name + " = " + quote_sql(value);
    }
    if (!assignments.empty()) TRY(engine.query("SET " + assignments, "TSV"));
    if (is_reader(request)) last = "1";
    if (!last.empty()) TRY(engine.query("SET readonly = " + quote_sql(last), "TSV"));
    return {};
}

// A connection is used again only by a request of ours for the same database that sets the same settings: nothing of
// the one before is left. Never one that was made read-only, which cannot be set again.
std::string reusable_names(const EngineRequest& request) {
    std::set<std::string> names;
    for (const auto& [name, value] : request.settings) names.insert(name);
    if (names.contains("readonly") || is_reader(request)) return {};
    std::string all = std::string(database_of(request)) + ":";
    for (const std::string& name : names) all += name + ",";
    return all;
}

Result<ChdbConnection> Engine::take_idle(const EngineRequest& request, const std::string& names) {
    {
        Lock lock(m_mutex);
        if (auto node = m_idle.extract(names)) return std::move(node.mapped());
    }
    auto engine = connect();
    if (engine.ok()) TRY(enter(engine.value(), request));
    return engine;
}

void Engine::keep_idle(const std::string& names, ChdbConnection engine) {
    constexpr size_t most_idle = 8;
    Lock lock(m_mutex);
    if (!names.empty() && m_idle.size() < most_idle) m_idle.emplace(names, std::move(engine));
}

Result<> Engine::execute(EngineConnection& connection, const EngineRequest& request, int socket) {
    std::string sql = request.query;
    if (sql.empty())
        for (std::string_view piece; !(piece = TRY(connection.read_body(request))).empty();) {
            sql += piece;
            if (sql.size() > 16 << 20) return internal("the query is too large", "Code: 62. the query is too large");
        }
    if (request.user != owner_user && !is_reader(request))
        return refused_request(516, "the request names no known user");
    const std::string names = reusable_names(request);
    ChdbConnection engine = TRY(take_idle(request, names));
    TRY(apply(engine, request));
    if (is_reader(request) && !engine.is_one_read_query(sql))
        return refused_request(164, "a reader can run one SELECT only");
    TRY(run(connection, request, socket, engine, sql)); // a failed one may have sent half a response: it is dropped
    keep_idle(names, std::move(engine));
    return {};
}

Result<> Engine::run(EngineConnection& connection, const EngineRequest& request, int socket, ChdbConnection& engine,
                     const std::string& sql) {
    std::string format = "TabSeparated";
    for (const auto& [name, value] : request.settings)
        if (name == "default_format") format = value;
    if (!request.query.empty() &&
        (request.chunked || request.content_length > 0)) { // an insert: the body holds the rows
        TRY(engine.insert(sql, format, [&] { return connection.read_body(request); }));
        return connection.respond(200, "", "");
    }
    const uint64_t number = ++m_number;
    const std::string marker = "/*hone:" + std::to_string(number) + "*/ ";
    {
        Lock lock(m_mutex);
        m_running[number] = {socket, marker};
        const uint64_t one = 1;
        if (::write(m_changed.get(), &one, sizeof one) < 0) log(Level::debug, "watcher is awake already");
    }
    Result<> done;
    if (request.stream)
        done = stream(connection, engine, marker + sql);
    else {
        auto result = engine.query(marker + sql, format);
        done = result.ok() ? connection.respond(200, "", result.value()) : Result<>(std::move(result).error());
    }
    Lock lock(m_mutex);
    m_running.erase(number);
    return done;
}

Result<> Engine::stream(EngineConnection& connection, ChdbConnection& engine, const std::string& sql) {
    bool begun = false;
    auto done = engine.stream(sql, "TabSeparated", [&](std::string_view bytes) {
        if (!begun && !connection.begin_chunks().ok()) return false;
        begun = true;
        return connection.chunk(bytes).ok();
    });
    if (!done.ok()) {
        if (begun) done.error().trail.clear(); // too late for a status: cut the connection, so that the reader notices
        return done;
    }
    if (!begun) TRY(connection.begin_chunks());
    return connection.end_chunks();
}

void Engine::watch() {
    for (;;) {
        std::vector<pollfd> sockets{{m_changed.get(), POLLIN, 0}};
        std::vector<uint64_t> numbers{0};
        {
            Lock lock(m_mutex);
            for (const auto& [number, running] : m_running)
                if (!running.killed) {
                    sockets.push_back({running.socket, POLLRDHUP, 0});
                    numbers.push_back(number);
                }
        }
        if (::poll(sockets.data(), sockets.size(), -1) < 0 && errno != EINTR) return;
        uint64_t ignored = 0;
        if (sockets[0].revents && ::read(m_changed.get(), &ignored, sizeof ignored) < 0) continue;
        for (size_t i = 1; i < sockets.size(); ++i) {
            if (!(sockets[i].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))) continue;
            std::string marker;
            {
                Lock lock(m_mutex);
                const auto running = m_running.find(numbers[i]);
                if (running == m_running.end()) continue;
                running->second.killed = true;
                marker = running->second.marker;
            }
            auto engine = connect();
            if (engine.ok() && (m_options.reads_files || engine.value().query("USE hone", "TSV").ok()))
                (void)engine.value()
                    .query("KILL QUERY WHERE startsWith(query, " + quote_sql(marker) + ") ASYNC", "TSV")
                    .ok();
        }
    }
}

Result<Fd> listen_on(const std::string& path) {
    // An address holds 107 bytes and a folder's name may be longer: by its descriptor it is short.
    const size_t slash = path.rfind('/');
    const Fd folder(::open(path.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return system_error("open the folder of " + path, errno);
    const std::string place = "/proc/self/fd/" + std::to_string(folder.get()) + path.substr(slash);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (place.size() >= sizeof address.sun_path) return invalid("the name of the engine's socket is too long: " + path);
    place.copy(address.sun_path, place.size());
    ::unlink(path.c_str());
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const mode_t mask = ::umask(0177); // for the server's user only
    const int bound = ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::umask(mask);
    if (bound != 0) return system_error("bind " + path, errno);
    if (::listen(socket.get(), 128) != 0) return system_error("listen on " + path, errno);
    return socket;
}

// The server holds the other end: when it dies, so do we.
void end_with_the_server() {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
    ::_exit(0); // parts are atomic on disk; a graceful close would only delay the next start
}

// What the server reads when we end before we are ready. Nothing else may write there: the library prints at times.
Fd take_standard_output() {
    Fd report(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) log(Level::warning, "engine keeps its standard output");
    return report;
}

Result<> run(int argc, char** argv, Fd& report) {
    EngineOptions options = TRY(read_options(argc, argv));
    const std::string found = TRY(find_chdb_library(options.library));
    const std::string library = TRY(absolute_path(found));
    TRY(make_directories(options.directory + "/data/tmp"));
    TRY(make_directories(options.directory + "/backups"));
    // The server's working directory may be removed, or be one that we may not enter.
    if (::chdir(options.directory.c_str()) != 0) return system_error("enter " + options.directory, errno);
    TRY(write_file(options.directory + "/users.xml", users_config(options)));
    TRY(write_file(options.directory + "/config.xml", server_config(options)));
    const auto chdb = TRY(Chdb::load(library));
    const Fd listener = TRY(listen_on(options.socket));
    TRY(confine_engine({options.directory,
                        {"/proc/self", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/sys/fs/cgroup",
                         "/sys/devices/system", "/etc/localtime", "/usr/share/zoneinfo", "/dev/urandom"},
                        options.unconfined}));
    Engine engine(options, *chdb);
    const ChdbConnection first = TRY(engine.connect()); // opens the directory; kept, so that it stays open
    std::thread(end_with_the_server).detach();
    std::thread([&engine] { engine.watch(); }).detach();
    log(Level::info, "engine ready", {{"version", chdb->version()}});
    report.reset();
    for (;;) {
        Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket.is_open()) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return system_error("accept", errno);
        }
        std::thread([&engine, socket = std::move(socket)]() mutable { engine.serve(std::move(socket)); }).detach();
    }
}

} // namespace

int engine_main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGINT, SIG_IGN); // Ctrl-C is for the server, which ends us in order
    Fd report = take_standard_output();
    const auto done = run(argc, argv, report);
    log(Level::error, "engine cannot run", {{"why", done.error().message}});
    if (report.is_open() && !write_all(report.get(), done.error().message).ok())
        log(Level::debug, "the reason of the engine's end could not be written");
    ::_exit(1); // never through destructors of the library: it crashes at exit with open connections
}

} // namespace hone::telemetry
