#include "run/files/uploads.h"

#include "base/file.h"
#include "base/id.h"
#include "base/text.h"
#include "sandbox/image/workspace.h"
#include "sql/columns.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::run {

using access::Caller, access::Permission, access::SpaceId;
using sandbox::checked_workspace_path;

namespace {

constexpr Pack upload_columns{
    sql::Column{"id", &Upload::id},
    sql::Column{"space_id", &Upload::space_id},
    sql::Column{"run_id", &Upload::run_id},
    sql::Column{"path", &Upload::path},
    sql::Column{"bytes", &Upload::bytes},
    sql::Column{"uploaded_by_name", &Upload::uploaded_by},
    sql::Column{"placed_at", &Upload::placed_at},
    sql::Column{"created_at", &Upload::created_at},
    sql::Column{"content", &Upload::content},
};
const std::string select_upload = "SELECT " + sql::names(upload_columns) + " FROM uploads";
constexpr std::string_view unfinished = ".part";

// $1: folder; $2: path; $3: a name beside it. A link of that name is replaced itself.
constexpr std::string_view write_script = R"(
set -e
mkdir -p "./$1"
if [ -d "./$2" ] && [ ! -h "./$2" ]; then echo "it is a folder" >&2; exit 1; fi
cat > "./$3" || { rm -f "./$3"; exit 1; }
mv -fT "./$3" "./$2"
)";
constexpr int64_t write_time_ms = 120'000;

Result<> send_bytes(int from, sandbox::Sandbox& sandbox, int64_t command) {
    std::string piece(256 << 10, '\0');
    for (;;) {
        const ssize_t got = ::read(from, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read the upload", errno);
        if (got == 0) return {};
        for (std::string_view rest(piece.data(), static_cast<size_t>(got)); !rest.empty();) {
            const size_t accepted = TRY(sandbox.write_input(command, rest, write_time_ms));
            if (accepted == 0) return busy("the command in the sandbox does not read");
            rest.remove_prefix(accepted);
        }
    }
}

Result<> write_inside(sandbox::Sandbox& sandbox, const std::string& path, int from) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    sandbox::Command command;
    command.argv = {"/bin/sh",
                    "-c",
                    std::string(write_script),
                    "sh",
                    folder,
                    path,
                    folder + "/.upload-" + make_ulid(SystemClock().now())};
    command.open_stdin = true;
    command.timeout_ms = write_time_ms;
    const int64_t number = TRY(sandbox.execute(command));
    const Result<> sent = send_bytes(from, sandbox, number);
    TRY(sandbox.close_input(number));
    const sandbox::CommandResult result = TRY(sandbox.wait(number, write_time_ms + 10'000));
    if (result.exit_code == 0 && sent.ok()) return {};
    std::string why = sent.ok() ? "the command in the sandbox failed" : sent.error().message;
    if (const auto output = sandbox.output(number, 0, 0); output.ok())
        for (const sandbox::Output::Part& part : output.value().parts) why = repair_utf8(trim(part.bytes));
    return conflict("could not write " + path + ": " + std::string(truncate_utf8(why, 300)));
}

Result<int64_t> write_pieces(const Uploads::Source& next, int into, int64_t most) {
    int64_t bytes = 0;
    for (;;) {
        const std::string piece = TRY(next());
        if (piece.empty()) return bytes;
        bytes += static_cast<int64_t>(piece.size());
        if (bytes > most) return too_large(fmt::format("an upload has at most {} MiB", most >> 20));
        TRY(write_all(into, piece));
    }
}

} // namespace

Result<Upload> Uploads::receive(const Caller& caller, const SpaceId& space, const std::string& path,
                                const Source& next) {
    TRY(caller.require(Permission::run_start, space));
    Upload made;
    made.path = TRY(checked_workspace_path(path));
    made.space_id = space;
    made.uploaded_by = caller.name;
    made.content = make_ulid(m_clock.now());
    TRY(make_directories(m_directory, 0700));
    const std::string part = file_of(made.content) + std::string(unfinished);
    const auto written = [&]() -> Result<int64_t> {
        const Fd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.is_open()) return system_error("store the upload", errno);
        return write_pieces(next, file.get(), m_limits.bytes);
    }();
    if (written.ok() && ::rename(part.c_str(), file_of(made.content).c_str()) != 0)
        return system_error("store the upload", errno);
    if (!written.ok()) {
        ::unlink(part.c_str());
        return written.error();
    }
    made.bytes = written.value();
    made.id = make_id<UploadTag>(m_clock);
    made.created_at = m_clock.now();
    const auto added = m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto unused =
            TRY(transaction.query("SELECT COUNT(*) FROM uploads WHERE space_id = ? AND run_id IS NULL", made.space_id));
        if (unused.front().integer(0) >= m_limits.unused)
            return conflict("the space has 1,000 uploads that no session uses; they expire after a day");
        TRY(transaction.execute(
            "INSERT INTO uploads (id, space_id, path, bytes, uploaded_by, uploaded_by_name, content, "
            "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            made.id, made.space_id, made.path, made.bytes, caller.actor(), caller.name, made.content, made.created_at));
        return {};
    });
    if (!added.ok()) ::unlink(file_of(made.content).c_str());
    TRY(added);
    return made;
}

Result<std::vector<Upload>> Uploads::attach(sql::Transaction& transaction, const Caller& caller, const SpaceId& space,
                                            const RunId& run, const std::vector<std::string>& ids) const {
    std::vector<Upload> attached;
    const auto known = TRY(transaction.query("SELECT COUNT(*) FROM uploads WHERE run_id = ?", run));
    if (known.front().integer(0) + static_cast<int64_t>(ids.size()) > m_limits.count)
        return too_large(fmt::format("a run has at most {} uploaded files", m_limits.count));
    for (const std::string& id : ids) {
        const auto rows = TRY(
            transaction.query(select_upload + " WHERE id = ? AND space_id = ? AND uploaded_by = ? AND run_id IS NULL",
                              id, space, caller.actor()));
        if (rows.empty()) return not_found("upload " + id + " of yours that no run has");
        TRY(transaction.execute("UPDATE uploads SET run_id = ? WHERE id = ?", run, id));
        attached.push_back(sql::read<Upload>(upload_columns, rows.front()));
    }
    return attached;
}

Result<> Uploads::copy(sql::Transaction& transaction, const RunId& from, const RunId& to) const {
    const auto rows = TRY(transaction.query("SELECT space_id, path, bytes, uploaded_by, uploaded_by_name, content FROM "
                                            "uploads WHERE run_id = ?",
                                            from));
    for (const auto& row : rows)
        TRY(transaction.execute(
            "INSERT INTO uploads (id, space_id, run_id, path, bytes, uploaded_by, uploaded_by_name, "
            "content, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            make_id<UploadTag>(m_clock), row.text(0), to, row.text(1), row.integer(2), row.text(3), row.text(4),
            row.text(5), m_clock.now()));
    return {};
}

Result<std::vector<Upload>> Uploads::of_run(const RunId& run) const {
    const auto rows = TRY(m_database.query(select_upload + " WHERE run_id = ? ORDER BY id", run));
    std::vector<Upload> all;
    for (const auto& row : rows) all.push_back(sql::read<Upload>(upload_columns, row));
    return all;
}

Result<std::vector<Upload>> Uploads::place(const RunId& run, sandbox::Sandbox& sandbox) const {
    std::vector<Upload> placed;
    for (Upload& upload : TRY(of_run(run))) {
        if (upload.placed_at) continue;
        const Fd content(::open(file_of(upload.content).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (!content.is_open()) return conflict("the uploaded file " + upload.path + " has expired; upload it again");
        const auto written = write_inside(sandbox, upload.path, content.get());
        if (!written.ok()) {
            if (written.error().code == Code::conflict)
                TRY(m_database.execute("DELETE FROM uploads WHERE id = ?", upload.id));
            return written.error();
        }
        TRY(m_database.execute("UPDATE uploads SET placed_at = ? WHERE id = ?", m_clock.now(), upload.id));
        placed.push_back(std::move(upload));
    }
    return placed;
}

Result<std::vector<Uploads::StoredContent>> Uploads::stored() const {
    std::map<std::string, StoredContent> by_content;
    for (const auto& row : TRY(m_database.query("SELECT content, run_id, created_at FROM uploads"))) {
        StoredContent& one = by_content[row.text(0)];
        one.is_named = true;
        one.used = std::max(one.used, row.time(2));
        if (!row.is_null(1)) one.runs.push_back(row.text(1));
    }
    std::error_code failed;
    std::vector<StoredContent> all;
    for (const auto& entry : std::filesystem::directory_iterator(m_directory, failed)) {
        StoredContent one;
        const std::string name = entry.path().filename().string();
        if (const auto found = by_content.find(name); found != by_content.end()) one = found->second;
        one.content = name;
        one.bytes = static_cast<int64_t>(entry.file_size(failed));
        if (!one.is_named) {
            struct stat status {};
            if (::stat(entry.path().c_str(), &status) != 0) continue;
            one.used = from_ns(status.st_mtim.tv_sec * 1'000'000'000);
        }
        all.push_back(std::move(one));
    }
    return all;
}

Result<> Uploads::remove(const std::string& content) const {
    TRY(m_database.execute("DELETE FROM uploads WHERE content = ?", content));
    if (::unlink(file_of(content).c_str()) != 0 && errno != ENOENT) return system_error("remove an upload", errno);
    return {};
}

} // namespace hone::run
