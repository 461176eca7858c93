#include "telemetry/engine/chdb.h"

#include "base/file.h"

#include <charconv>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::telemetry {

// The exported functions that we use; all handles are opaque.
struct ChdbFunctions {
    void** (*connect)(int, char**);
    void (*close)(void**);
    void* (*query)(void*, const char*, size_t, const char*, size_t);
    void* (*stream_query)(void*, const char*, size_t, const char*, size_t);
    void* (*stream_fetch)(void*, void*);
    void (*stream_cancel)(void*, void*);
    const char* (*result_buffer)(void*);
    size_t (*result_length)(void*);
    const char* (*result_error)(void*);
    void (*destroy_result)(void*);
    void* (*insert_begin)(void*, const char*, const char*);
    int (*insert_append)(void*, const char*, size_t);
    void* (*insert_done)(void*);
    const char* (*insert_error)(void*);
    void (*insert_destroy)(void*);
    int (*classify)(void*, const char*, size_t, const char*, size_t, void*);
    void (*set_signal_handlers)(int);
    const char* (*version)();
};

namespace {

Error chdb_error(const char* message) {
    return internal("the span engine refused the query", message ? message : "unknown");
}

// Frees a result when it leaves the scope.
class ChdbResult {
public:
    ChdbResult(const ChdbFunctions& functions, void* result) : m_functions(functions), m_result(result) {}
    ~ChdbResult() {
        if (m_result) m_functions.destroy_result(m_result);
    }
    ChdbResult(const ChdbResult&) = delete;
    ChdbResult& operator=(const ChdbResult&) = delete;
    explicit operator bool() const { return m_result != nullptr; }
    void* get() const { return m_result; }
    const char* error() const { return m_functions.result_error(m_result); }
    std::string_view bytes() const {
        const size_t length = m_functions.result_length(m_result);
        return length ? std::string_view(m_functions.result_buffer(m_result), length) : std::string_view();
    }

private:
    const ChdbFunctions& m_functions;
    void* m_result;
};

bool is_ours(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && (found.st_uid == ::geteuid() || found.st_uid == 0);
}

} // namespace

EngineFailure parse_engine_failure(std::string_view message) {
    EngineFailure failure{0, std::string(message)};
    const size_t at = message.find("Code: ");
    if (at != std::string_view::npos)
        std::from_chars(message.data() + at + 6, message.data() + message.size(), failure.code);
    return failure;
}

Result<std::string> find_chdb_library(const std::string& given) {
    std::vector<std::string> places;
    if (!given.empty())
        places.push_back(given);
    else {
        if (const char* named = std::getenv("HONE_CHDB_LIBRARY")) places.emplace_back(named);
        std::error_code failed;
        const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path();
        places.push_back((folder / "libchdb.so").string());
        // A checkout's, from build/release. A library from another user is not loaded: the folder above ours may be
        // writable by all users.
        const std::string built = (folder.parent_path() / "deps/package/libchdb.so").string();
        if (is_ours(built)) places.push_back(built);
    }
    for (const std::string& place : places)
        if (file_exists(place)) return place;
    return not_found("the span engine's library (libchdb.so): run ./dev setup, or set HONE_CHDB_LIBRARY; it was");
}

Chdb::Chdb(std::unique_ptr<ChdbFunctions> functions) : m_functions(std::move(functions)) {}
Chdb::~Chdb() = default;

Result<std::unique_ptr<Chdb>> Chdb::load(const std::string& library_path) {
    void* library = ::dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return unavailable(std::string("cannot load the span engine: ") + ::dlerror());
    auto functions = std::make_unique<ChdbFunctions>();
    std::string missing;
    const auto bind = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        if (!function) missing = name;
    };
    bind(functions->connect, "chdb_connect");
    bind(functions->close, "chdb_close_conn");
    bind(functions->query, "chdb_query_n");
    bind(functions->stream_query, "chdb_stream_query_n");
    bind(functions->stream_fetch, "chdb_stream_fetch_result");
    bind(functions->stream_cancel, "chdb_stream_cancel_query");
    bind(functions->result_buffer, "chdb_result_buffer");
    bind(functions->result_length, "chdb_result_length");
    bind(functions->result_error, "chdb_result_error");
    bind(functions->destroy_result, "chdb_destroy_query_result");
    bind(functions->insert_begin, "chdb_stream_insert");
    bind(functions->insert_append, "chdb_stream_append");
    bind(functions->insert_done, "chdb_stream_done");
    bind(functions->insert_error, "chdb_stream_insert_error");
    bind(functions->insert_destroy, "chdb_destroy_insert_stream");
    bind(functions->classify, "chdb_classify_query_n");
    bind(functions->set_signal_handlers, "chdb_set_signal_handlers_enabled");
    bind(functions->version, "chdb_version");
    if (!missing.empty()) return unavailable("the span engine's library lacks " + missing + ": it is another version");
    functions->set_signal_handlers(0); // ours stay
    return std::unique_ptr<Chdb>(new Chdb(std::move(functions)));
}

Result<ChdbConnection> Chdb::connect(const std::vector<std::string>& arguments) {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    void** handle = m_functions->connect(static_cast<int>(pointers.size()), pointers.data());
    if (!handle || !*handle) return unavailable("the span engine cannot open its directory");
    return ChdbConnection(*m_functions, handle);
}

std::string Chdb::version() const {
    return m_functions->version();
}

ChdbConnection::~ChdbConnection() {
    if (m_handle) m_functions->close(static_cast<void**>(m_handle));
}

Result<std::string> ChdbConnection::query(std::string_view sql, const std::string& format) {
    void* connection = *static_cast<void**>(m_handle);
    const ChdbResult result(*m_functions,
                            m_functions->query(connection, sql.data(), sql.size(), format.data(), format.size()));
    if (!result) return chdb_error(nullptr);
    if (const char* error = result.error()) return chdb_error(error);
    return std::string(result.bytes());
}

bool ChdbConnection::is_one_read_query(std::string_view sql) {
    struct {
        uint32_t size;
        uint32_t statements;
        uint32_t unused;
        uint32_t kind;
        uint32_t more[12];
    } found{};
    found.size = sizeof found;
    constexpr uint32_t read_query = 0; // the others: insert, definition, everything else
    void* connection = *static_cast<void**>(m_handle);
    return m_functions->classify(connection, sql.data(), sql.size(), "", 0, &found) == 0 && found.statements == 1 &&
           found.kind == read_query;
}

Result<> ChdbConnection::stream(std::string_view sql, const std::string& format,
                                const std::function<bool(std::string_view)>& take) {
    void* connection = *static_cast<void**>(m_handle);
    const ChdbResult query(*m_functions,
                           m_functions->stream_query(connection, sql.data(), sql.size(), format.data(), format.size()));
    if (!query) return chdb_error(nullptr);
    if (const char* error = query.error()) return chdb_error(error);
    for (;;) {
        const ChdbResult piece(*m_functions, m_functions->stream_fetch(connection, query.get()));
        if (!piece) return {};
        if (const char* error = piece.error()) return chdb_error(error);
        if (piece.bytes().empty()) return {};
        if (!take(piece.bytes())) {
            m_functions->stream_cancel(connection, query.get());
            return conflict("the reader closed the connection");
        }
    }
}

Result<> ChdbConnection::insert(const std::string& sql, const std::string& format,
                                const std::function<Result<std::string_view>()>& next) {
    void* stream = m_functions->insert_begin(*static_cast<void**>(m_handle), sql.c_str(), format.c_str());
    if (!stream) return chdb_error(nullptr);
    const std::unique_ptr<void, void (*)(void*)> owner(stream, m_functions->insert_destroy);
    if (const char* error = m_functions->insert_error(stream)) return chdb_error(error);
    for (;;) {
        const std::string_view piece = TRY(next());
        if (piece.empty()) break;
        if (m_functions->insert_append(stream, piece.data(), piece.size()) != 0)
            return chdb_error(m_functions->insert_error(stream));
    }
    const ChdbResult result(*m_functions, m_functions->insert_done(stream));
    if (!result) return chdb_error(m_functions->insert_error(stream));
    if (const char* error = result.error()) return chdb_error(error);
    return {};
}

} // namespace hone::telemetry
