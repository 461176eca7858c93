#include "objects/s3_upload.h"

#include "base/log.h"
#include "base/text.h"
#include "objects/s3_store.h"
#include "objects/xml.h"

namespace hone::objects {

namespace {

constexpr size_t most_parts = 10'000;

std::string base64_of_hex(const std::string& hex) {
    return to_base64(from_hex(hex).value());
}

} // namespace

Result<std::string> S3Upload::take(size_t bytes) {
    while (!m_is_over && m_ahead.size() < bytes) {
        const std::string piece = TRY(m_pieces());
        m_is_over = piece.empty();
        m_ahead += piece;
    }
    std::string taken;
    if (m_ahead.size() <= bytes)
        taken.swap(m_ahead);
    else {
        taken = m_ahead.substr(0, bytes);
        m_ahead.erase(0, bytes);
    }
    m_hash.add(taken);
    m_bytes += static_cast<int64_t>(taken.size());
    return taken;
}

Result<Stored> S3Upload::run() {
    std::string first = TRY(take(S3Store::part_bytes(1)));
    // A content of exactly one part is known to be whole only when the next piece is empty.
    if (!m_is_over && m_ahead.empty()) {
        m_ahead = TRY(m_pieces());
        m_is_over = m_ahead.empty();
    }
    if (m_is_over && m_ahead.empty()) return put_whole(std::move(first));
    m_upload_id = TRY(begin());
    Result<> sent = send_parts(std::move(first));
    const Stored made = stored();
    if (sent.ok()) sent = check_hash(made);
    if (sent.ok()) sent = complete();
    if (sent.ok()) return made;
    abort();
    return std::move(sent).error();
}

Stored S3Upload::stored() {
    return {m_bytes, to_hex(m_hash.finish())};
}

Result<> S3Upload::check_hash(const Stored& made) const {
    if (m_expected && *m_expected != made.sha256)
        return corrupt(m_key + " has another SHA-256 than announced; it was not stored");
    return {};
}

void S3Upload::add_object_headers(S3Call& call, const std::string& sha256) const {
    const Location& location = m_client.location();
    call.headers.push_back({"Content-Type", "application/octet-stream"});
    // Some servers keep the metadata of the object that is replaced when the new one has none: its hash would be that
    // of the older content.
    call.headers.push_back(sha256.empty() ? net::Header{"x-amz-meta-parts", "1"}
                                          : net::Header{"x-amz-meta-sha256", sha256});
    if (!location.encryption.empty()) call.headers.push_back({"x-amz-server-side-encryption", location.encryption});
    if (!location.kms_key.empty())
        call.headers.push_back({"x-amz-server-side-encryption-aws-kms-key-id", location.kms_key});
}

Result<Stored> S3Upload::put_whole(std::string content) {
    const Stored made = stored();
    TRY(check_hash(made));
    S3Call call{.what = "write objects", .method = "PUT", .key = m_key};
    call.body = std::move(content);
    call.body_sha256 = made.sha256;
    add_object_headers(call, made.sha256);
    if (m_client.location().has_checksums)
        call.headers.push_back({"x-amz-checksum-sha256", base64_of_hex(made.sha256)});
    TRY(m_client.send(call));
    return made;
}

Result<std::string> S3Upload::begin() {
    S3Call call{.what = "write objects", .method = "POST", .key = m_key, .query = {{"uploads", ""}}};
    add_object_headers(call, m_expected.value_or(""));
    if (m_client.location().has_checksums) call.headers.push_back({"x-amz-checksum-algorithm", "SHA256"});
    const auto response = TRY(m_client.send(call));
    return read_upload_id(response.body);
}

Result<> S3Upload::send_parts(std::string first) {
    TRY(send_part(std::move(first)));
    for (;;) {
        std::string next = TRY(take(S3Store::part_bytes(static_cast<int>(m_parts.size()) + 1)));
        if (next.empty()) return {};
        if (m_parts.size() == most_parts) return too_large(m_key + " is larger than 10,000 parts");
        TRY(send_part(std::move(next)));
    }
}

Result<> S3Upload::send_part(std::string content) {
    S3Call call{.what = "write objects",
                .method = "PUT",
                .key = m_key,
                .query = {{"partNumber", std::to_string(m_parts.size() + 1)}, {"uploadId", m_upload_id}}};
    call.body_sha256 = sha256_hex(content);
    call.body = std::move(content);
    Part part;
    if (m_client.location().has_checksums) {
        part.sha256 = base64_of_hex(call.body_sha256);
        call.headers.push_back({"x-amz-checksum-sha256", part.sha256});
    }
    const auto response = TRY(m_client.send(call));
    part.etag = response.header("ETag");
    if (part.etag.empty()) return unavailable("the object store accepted a part without an ETag");
    m_parts.push_back(std::move(part));
    return {};
}

Result<> S3Upload::complete() {
    S3Call call{.what = "write objects", .method = "POST", .key = m_key, .query = {{"uploadId", m_upload_id}}};
    call.headers.push_back({"Content-Type", "application/xml"});
    call.body = "<CompleteMultipartUpload>";
    for (size_t i = 0; i < m_parts.size(); ++i)
        call.body += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
                     escape_xml(m_parts[i].etag) + "</ETag>" +
                     (m_parts[i].sha256.empty() ? "" : "<ChecksumSHA256>" + m_parts[i].sha256 + "</ChecksumSHA256>") +
                     "</Part>";
    call.body += "</CompleteMultipartUpload>";
    const auto completed = m_client.send(call);
    if (completed.ok()) return {};
    // The response to an attempt that succeeded may have been lost; the upload is then unknown and the object is there.
    if (completed.error().trail != "NoSuchUpload") return completed.error();
    const auto found = m_client.send({.what = "read objects", .method = "HEAD", .key = m_key});
    if (found.ok() && found.value().header("Content-Length") == std::to_string(m_bytes)) return {};
    return unavailable("the object store lost an upload of " + m_key + " before it was complete");
}

void S3Upload::abort() {
    const auto aborted = m_client.send(
        {.what = "abort uploads", .method = "DELETE", .key = m_key, .query = {{"uploadId", m_upload_id}}});
    if (!aborted.ok() && aborted.error().code != Code::not_found)
        log(Level::warning, "could not abort an upload to the object store, it is discarded later",
            {{"key", m_key}, {"error", aborted.error().message}});
}

} // namespace hone::objects
