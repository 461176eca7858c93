#include "objects/s3_store.h"

#include "base/text.h"
#include "objects/s3_upload.h"

#include <algorithm>

namespace hone::objects {

namespace {

constexpr size_t smallest_part = 16 << 20;
constexpr int64_t longest_presigned_s = 7 * 86400;

bool is_unsupported(const Error& error) {
    return error.trail == "NotImplemented" || error.trail == "MethodNotAllowed" || error.trail == "status 501" ||
           error.trail == "status 405";
}

Error named(Error error, const std::string& key) {
    if (error.message == "object not found") error.message = "object " + key + " not found";
    return error;
}

// A file's name of letters that every server signs alike and no header misreads.
std::string plain_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(),
        [](char c) {
            return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                     c == '-');
        },
        '_');
    return name.substr(0, 200);
}

Result<int64_t> length_of(const net::ClientResponse& response) {
    const auto length = parse_integer(response.header("Content-Length"));
    if (!length.ok() || length.value() < 0) return unavailable("the object store sent an object without its length");
    return length.value();
}

} // namespace

size_t S3Store::part_bytes(int number) {
    return number <= 2000 ? smallest_part : number <= 5000 ? 4 * smallest_part : 16 * smallest_part;
}

Result<std::unique_ptr<S3Store>> S3Store::open(S3Options options, const Clock& clock) {
    return std::unique_ptr<S3Store>(new S3Store(TRY(S3Client::create(std::move(options), clock))));
}

std::string S3Store::description() const {
    const Location& location = m_client->location();
    return "s3://" + location.bucket + "/" + location.prefix + " at " + location.endpoint;
}

Result<Stored> S3Store::put(const std::string& key, const Pieces& pieces, const std::optional<std::string>& sha256) {
    TRY(check_key(key));
    return S3Upload(*m_client, key, pieces, sha256).run();
}

// How far a download is.
struct S3Store::Download {
    int64_t first = 0;            // of the next request
    std::optional<int64_t> count; // still wanted; nothing: to the end
    int64_t received = 0;         // in all requests
    bool is_whole = false;        // the object from its first byte to its last
    std::string etag;             // all requests read the same content
    std::string sha256;           // that the object was stored with
    crypto::Sha256 hash;
};

Result<> S3Store::get_once(const std::string& key, Download& download, const Sink& sink) {
    S3Call call{.what = "read objects", .key = key};
    const bool is_range = download.first > 0 || download.count;
    if (is_range)
        call.headers.push_back(
            {"Range", "bytes=" + std::to_string(download.first) + "-" +
                          (download.count ? std::to_string(download.first + *download.count - 1) : "")});
    if (!download.etag.empty()) call.headers.push_back({"If-Match", download.etag});
    int64_t announced = 0, received = 0;
    call.on_head = [&](const net::ClientResponse& head) -> Result<> {
        if (head.status != (is_range ? 206 : 200))
            return unavailable("the object store responded to a request for " + key + " with status " +
                               std::to_string(head.status));
        announced = TRY(length_of(head));
        if (download.count && announced > *download.count)
            return unavailable("the object store sent more of " + key + " than requested");
        download.etag = head.header("ETag");
        download.sha256 = head.header("x-amz-meta-sha256");
        return {};
    };
    call.on_body = [&](std::string_view piece) -> Result<> {
        TRY(sink(piece));
        const auto bytes = static_cast<int64_t>(piece.size());
        received += bytes;
        download.received += bytes;
        download.first += bytes;
        if (download.count) *download.count -= bytes;
        if (download.is_whole) download.hash.add(piece);
        return {};
    };
    TRY(m_client->send(call));
    if (received != announced) return unavailable("the object store sent " + key + " incompletely");
    return {};
}

Result<> S3Store::get(const std::string& key, const Range& range, const Sink& sink) {
    TRY(check_key(key));
    if (range.first < 0 || (range.count && *range.count < 1)) return invalid("the range is outside of the object");
    Download download;
    download.first = range.first;
    download.count = range.count;
    download.is_whole = range.first == 0 && !range.count;
    for (int attempt = 1;; ++attempt) {
        const int64_t before = download.received;
        const auto done = get_once(key, download, sink);
        if (done.ok()) break;
        if (!S3Client::is_passing(done.error())) return named(done.error(), key);
        if (download.received > before) attempt = 1; // it made progress: only attempts without a byte count
        if (attempt >= m_client->attempts()) return done.error();
        if (download.count && *download.count == 0) break; // cut after its last byte
        m_client->pause_before(attempt);
    }
    if (download.is_whole && !download.sha256.empty() && to_hex(download.hash.finish()) != download.sha256)
        return corrupt(key + " in the object store has another SHA-256 than it was stored with");
    return {};
}

Result<std::optional<ObjectInfo>> S3Store::head(const std::string& key) {
    TRY(check_key(key));
    const auto response = m_client->send({.what = "read objects", .method = "HEAD", .key = key});
    if (!response.ok() && response.error().code == Code::not_found) return std::optional<ObjectInfo>();
    if (!response.ok()) return response.error();
    const auto changed = parse_http_date(response.value().header("Last-Modified"));
    if (!changed) return unavailable("the object store sent an object without its time");
    const int64_t bytes = TRY(length_of(response.value()));
    return std::optional<ObjectInfo>({key, bytes, *changed});
}

Result<ObjectPage> S3Store::list(const std::string& prefix, const std::string& cursor, int limit) {
    TRY(check_prefix(prefix));
    TRY(check_list_limit(limit));
    const std::string& own = m_client->location().prefix;
    S3Call call{.what = "list objects"};
    call.query = {{"list-type", "2"}, {"max-keys", std::to_string(limit)}, {"prefix", own + prefix}};
    if (!cursor.empty()) call.query.emplace_back("continuation-token", cursor);
    const auto response = TRY(m_client->send(call));
    ObjectPage page = TRY(read_listing(response.body));
    if (page.objects.size() > static_cast<size_t>(limit))
        return unavailable("the object store sent a longer list than requested");
    for (ObjectInfo& object : page.objects) {
        if (!object.key.starts_with(own + prefix))
            return unavailable("the object store sent a list of other objects than requested");
        object.key.erase(0, own.size());
    }
    // What others put into the bucket is none of ours.
    std::erase_if(page.objects, [](const ObjectInfo& object) { return !check_key(object.key).ok(); });
    return page;
}

Result<> S3Store::reach(Duration limit) {
    S3Call call{.what = "list objects"};
    call.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", m_client->location().prefix + "check/"}};
    call.only_within = limit;
    TRY(m_client->send(call));
    return {};
}

Result<> S3Store::remove(const std::string& key) {
    TRY(check_key(key));
    const auto removed = m_client->send({.what = "remove objects", .method = "DELETE", .key = key});
    if (removed.ok() || (removed.error().code == Code::not_found && removed.error().trail != "NoSuchBucket")) return {};
    return removed.error();
}

Result<std::optional<std::string>> S3Store::presigned_get(const std::string& key, Duration valid_for,
                                                          const std::string& file_name) {
    TRY(check_key(key));
    const int64_t seconds = valid_for.count() / 1'000'000'000;
    if (seconds < 1 || seconds > longest_presigned_s) return invalid("an address is valid for 1 s to 7 days");
    // Never shown by a browser: what runs made may be hostile, and the store's origin is not ours to protect.
    return std::optional(
        m_client->presigned(key, seconds,
                            {{"response-content-disposition", "attachment; filename=\"" + plain_name(file_name) + "\""},
                             {"response-content-type", "application/octet-stream"}}));
}

Result<> S3Store::abort_upload(const std::string& key, const std::string& upload_id) {
    const auto aborted =
        m_client->send({.what = "abort uploads", .method = "DELETE", .key = key, .query = {{"uploadId", upload_id}}});
    if (!aborted.ok() && aborted.error().code != Code::not_found) return aborted.error();
    return {};
}

Result<int64_t> S3Store::discard_unfinished(Duration older_than) {
    const std::string& own = m_client->location().prefix;
    const Time before = m_client->now() - older_than;
    int64_t discarded = 0;
    for (const std::string_view area : areas) {
        UploadPage page;
        do {
            S3Call call{.what = "list uploads"};
            call.query = {{"prefix", own + std::string(area) + "/"}, {"uploads", ""}};
            if (!page.next_key.empty()) call.query.emplace_back("key-marker", page.next_key);
            if (!page.next_upload_id.empty()) call.query.emplace_back("upload-id-marker", page.next_upload_id);
            const auto response = m_client->send(call);
            if (!response.ok() && is_unsupported(response.error())) return discarded; // it has no such list
            if (!response.ok()) return response.error();
            const std::string last_key = page.next_key, last_id = page.next_upload_id;
            page = TRY(read_uploads(response.value().body));
            for (const UnfinishedUpload& upload : page.uploads) {
                if (upload.began_at >= before || !upload.key.starts_with(own + std::string(area) + "/")) continue;
                TRY(abort_upload(upload.key.substr(own.size()), upload.upload_id));
                ++discarded;
            }
            if (page.next_key == last_key && page.next_upload_id == last_id) break; // no progress: stop
        } while (!page.next_key.empty());
    }
    return discarded;
}

} // namespace hone::objects
