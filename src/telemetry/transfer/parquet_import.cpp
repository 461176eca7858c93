#include "telemetry/transfer/parquet_import.h"

#include "base/file.h"
#include "base/text.h"
#include "telemetry/span/binary.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr int64_t largest_file = int64_t{16} << 30;
constexpr Duration import_deadline = std::chrono::hours(2);

// A directory that is removed with everything in it.
class ScratchDirectory {
public:
    static Result<ScratchDirectory> make(const std::string& beside) {
        std::string path = beside + "/import-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) return system_error("make " + path, errno);
        return ScratchDirectory(std::move(path));
    }
    ScratchDirectory(ScratchDirectory&& other) noexcept : m_path(std::exchange(other.m_path, {})) {}
    ScratchDirectory& operator=(ScratchDirectory&&) = delete;
    ~ScratchDirectory() {
        std::error_code ignored;
        if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
    }
    const std::string& path() const { return m_path; }

private:
    explicit ScratchDirectory(std::string path) : m_path(std::move(path)) {}
    std::string m_path;
};

Result<> write_upload(const std::string& path, const PieceSource& next) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) return system_error("write " + path, errno);
    int64_t bytes = 0;
    for (std::string piece; !(piece = TRY(next())).empty();) {
        bytes += static_cast<int64_t>(piece.size());
        if (bytes > largest_file) return too_large("a Parquet file may have 16 GB");
        TRY(write_all(file.get(), piece));
    }
    if (bytes < 12) return invalid("this is not a Parquet file");
    return {};
}

} // namespace

Result<> read_parquet(const std::string& directory, const EngineProcessOptions& engine, const PieceSource& next,
                      const std::function<Result<>(const ParquetRows&)>& begin,
                      const std::function<Result<>(std::string_view)>& take) {
    const ScratchDirectory scratch = TRY(ScratchDirectory::make(directory));
    const std::string path = scratch.path() + "/engine/upload.parquet";
    TRY(make_directories(scratch.path() + "/engine"));
    TRY(write_upload(path, next));

    EngineProcessOptions options = engine;
    options.directory = scratch.path() + "/engine";
    options.socket = scratch.path() + "/s";
    options.reads_files = true;
    EngineProcess process(options);
    ClickHouse reader({"", "", "", &process});
    // As the engine sees it from its directory, whose own name may have what SQL or a pattern gives a meaning.
    const std::string source = "file('/proc/self/cwd/upload.parquet', Parquet)";
    ClickHouseQuery describe("DESCRIBE TABLE " + source + " FORMAT RowBinary");
    describe.database.clear(); // this engine has none
    describe.deadline = std::chrono::minutes(1);
    auto described = reader.query(describe);
    if (!described.ok()) {
        if (described.error().code == Code::unavailable) return std::move(described).error();
        return invalid("this is not a Parquet file: " + described.error().message);
    }
    std::set<std::string> names;
    for (BinaryReader rows(described.value()); !rows.at_end();) {
        names.emplace(rows.text());
        for (int i = 0; i < 6; ++i) rows.text(); // type, defaults, comment, codec, ttl
    }
    const bool is_ours = names.contains("trace_id") && names.contains("attributes");
    const bool is_phoenix = names.contains("context.trace_id") && names.contains("context.span_id");
    const bool is_langsmith = names.contains("trace_id") && names.contains("run_type");
    if (!is_ours && !is_phoenix && !is_langsmith)
        return invalid("the Parquet file has no columns trace_id and attributes (an export of Hone), "
                       "context.trace_id and context.span_id (a data frame of Phoenix), or trace_id and run_type (a "
                       "bulk export of LangSmith)");
    TRY(begin({is_ours ? ImportFormat::jsonl : is_phoenix ? ImportFormat::phoenix : ImportFormat::langsmith}));
    ClickHouseQuery rows("SELECT * FROM " + source + " FORMAT JSONEachRow");
    rows.database.clear();
    rows.deadline = import_deadline;
    rows.set("output_format_json_quote_64bit_integers", "0");
    rows.set("output_format_json_named_tuples_as_objects", "1");
    rows.set("date_time_output_format", "iso");
    rows.set("input_format_parquet_max_block_size", "1024");
    rows.set("max_threads", "1");
    return reader.stream(rows, take);
}

} // namespace hone::telemetry
