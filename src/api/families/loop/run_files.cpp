// Files of runs: uploads, and the workspace to browse and download.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "run/run_services.h"

#include <cerrno>
#include <unistd.h>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct WorkspaceUpload {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> path;
    static constexpr Pack fields{
        Field{"space", &WorkspaceUpload::space, "Id or name of the space; the caller's first one if not given."},
        Field{"path", &WorkspaceUpload::path, "Path in the workspace: `data/in.csv`; relative, without `..`."},
    };
};

struct GiveFiles {
    std::vector<std::string> uploads;
    static constexpr Pack fields{
        Field{"uploads", &GiveFiles::uploads, "Ids of uploads of the caller that no run has yet."},
    };
};

struct FolderQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> path;
    static constexpr Pack fields{
        Field{"path", &FolderQuery::path, "Folder of the workspace; the workspace itself if not given."},
    };
};

enum class PreviewAs { page };
constexpr auto enum_names(PreviewAs) {
    return std::array{EnumName{PreviewAs::page, "page"}};
}

struct FileQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> path;
    std::optional<PreviewAs> preview;
    static constexpr Pack fields{
        Field{"path", &FileQuery::path, "File of the workspace."},
        Field{"preview", &FileQuery::preview,
              "page: an HTML file as a page without scripts, frames and requests, for a sandboxed frame."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t largest_upload = size_t{256} << 20;
constexpr int64_t largest_page_preview = 4 << 20;

// A copy of a file of a worker, a piece at a time.
class DownloadSource final : public net::BodySource {
public:
    explicit DownloadSource(run::Download download) : m_download(std::move(download)) {}
    Result<std::string> next() override {
        std::string piece(64 << 10, '\0');
        ssize_t got = 0;
        do got = ::read(m_download.file.get(), piece.data(), piece.size());
        while (got < 0 && errno == EINTR);
        if (got < 0) return system_error("read a download", errno);
        piece.resize(static_cast<size_t>(got));
        return piece;
    }

private:
    run::Download m_download;
};

bool is_inline(std::string_view media_type) {
    return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
           media_type == "image/webp" || media_type == "image/svg+xml" || media_type == "application/pdf" ||
           media_type.starts_with("text/") || media_type == "application/json";
}

std::string file_disposition(std::string_view kind, std::string_view name) {
    std::string plain;
    for (const char c : name) plain += (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') ? c : '_';
    return std::string(kind) + "; filename=\"" + plain + "\"; filename*=UTF-8''" + percent_encode(name);
}

// Made by a worker, so nothing in it may run: no script, no frame, no request, an origin of its own. The browser's own
// viewer of PDF does not work in a sandbox; it runs no script of the page's origin.
net::Response serve_download(run::Download download, const std::string& type, bool is_shown) {
    net::Response response;
    response.content_type = type;
    response.set_header("Content-Disposition", file_disposition(is_shown ? "inline" : "attachment", download.name));
    const std::string_view sandbox = type == "application/pdf" ? "" : "sandbox; ";
    response.set_header("Content-Security-Policy",
                        std::string("default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; ") +
                            "form-action 'none'; base-uri 'none'; " + std::string(sandbox) + "frame-ancestors 'self'");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "private, no-store");
    response.stream = std::make_unique<DownloadSource>(std::move(download));
    return response;
}

} // namespace

Result<One<run::Upload>> upload_file(const Call& call, const WorkspaceUpload& query, const StreamedBody& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<run::Upload>{TRY(
        call.services.run.uploads.receive(call.caller, space, query.path.value_or(""), [&]() -> Result<std::string> {
            if (body.reader == nullptr) return invalid("there is no body");
            return body.reader->read();
        }))};
}

Result<One<run::Run>> give_files(const Call& call, const GiveFiles& body) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    return One<run::Run>{TRY(call.services.run.files.give(call.caller, id, body.uploads))};
}

Result<List<run::FileEntry>> list_files(const Call& call, const FolderQuery& query) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    return List<run::FileEntry>{TRY(call.services.run.files.list(call.caller, id, query.path.value_or(""))), {}};
}

Result<net::Response> get_file(const Call& call, const FileQuery& query) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    run::Download download = TRY(call.services.run.files.download(call.caller, id, query.path.value_or("")));
    const std::string type = download.media_type;
    if (query.preview) {
        if (!type.starts_with("text/")) return invalid("only text is shown as a page");
        if (download.bytes > largest_page_preview) return too_large("the page is larger than 4 MiB: download it");
        return serve_download(std::move(download), "text/html; charset=utf-8", true);
    }
    const std::string served = type.starts_with("text/") ? "text/plain; charset=utf-8" : type;
    return serve_download(std::move(download), served, is_inline(type));
}

Result<net::Response> get_archive(const Call& call, const FolderQuery& query) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    run::Download download = TRY(call.services.run.files.archive(call.caller, id, query.path.value_or("")));
    return serve_download(std::move(download), "application/x-tar", false);
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route run_files_table[] = {
    route<upload_file>("POST", "/v1/uploads", need(run_start),
                       "Upload a file for a session; give its id to POST /v1/runs or POST /v1/runs/{run}/files.")
        .takes("application/octet-stream")
        .with_body_limit(largest_upload),
    route<give_files>("POST", "/v1/runs/{run}/files", need(run_start),
                      "Give uploaded files to a session: written into its workspace now, or before its next turn."),
    route<list_files>("GET", "/v1/runs/{run}/files", need(run_read),
                      "Files of a folder of the workspace, while the run lives and after its end."),
    route<get_file>("GET", "/v1/runs/{run}/files/content", need(run_read), "Content of a file of the workspace.")
        .raw("*/*"),
    route<get_archive>("GET", "/v1/runs/{run}/files/archive", need(run_read),
                       "A folder of the workspace as a tar file; links are left out.")
        .raw("application/x-tar"),
};

} // namespace

std::span<const Route> run_files_routes() {
    return run_files_table;
}

} // namespace hone::api
