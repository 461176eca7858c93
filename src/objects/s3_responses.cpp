#include "objects/s3_responses.h"

#include "base/text.h"
#include "objects/xml.h"

#include <algorithm>

namespace hone::objects {

namespace {

constexpr size_t quoted_bytes = 200; // of a server's own words in a message

// A server's words: one line, valid text, not long.
std::string server_words(std::string_view text) {
    std::string line = repair_utf8(truncate_utf8(text, quoted_bytes));
    std::replace_if(
        line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
    return line;
}

Result<XmlElement> expect_root(std::string_view body, std::string_view name) {
    XmlElement root = TRY(parse_xml(body));
    if (root.name != name)
        return unavailable("the object store sent <" + server_words(root.name) + "> where <" + std::string(name) +
                           "> was expected");
    return root;
}

Result<ObjectInfo> object_of(const XmlElement& element) {
    ObjectInfo object;
    object.key = element.text_of("Key");
    const auto bytes = parse_integer(element.text_of("Size"));
    const auto changed = parse_time(element.text_of("LastModified"));
    if (object.key.empty() || !bytes.ok() || bytes.value() < 0 || !changed.ok())
        return unavailable("the object store sent a malformed list of objects");
    object.bytes = bytes.value();
    object.changed_at = changed.value();
    return object;
}

bool is_passing_status(int status) {
    return status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

bool is_one_of(const std::string& code, std::initializer_list<std::string_view> codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string words_of(const S3Error& error, int status) {
    std::string words = "status " + std::to_string(status);
    if (!error.code.empty()) words += " " + server_words(error.code);
    if (!error.message.empty()) words += ": " + server_words(error.message);
    return words;
}

// The second is versitygw's, which sends it with 404.
bool is_unknown_key(const S3Error& error) {
    return is_one_of(error.code, {"InvalidAccessKeyId", "XAdminUserNotFound"});
}

S3Failure explain_forbidden(const S3Error& error, const std::string& what, const S3Place& place, int status) {
    const std::string where = " at " + place.endpoint;
    if (error.code == "RequestTimeTooSkewed")
        return {unavailable("the object store" + where +
                            " rejects the time of this machine: set its clock (NTP), or that of the object store"),
                false, true, false};
    if (error.code == "SignatureDoesNotMatch")
        return {unauthorized("the object store" + where +
                             " rejects the signature: the secret key of object_store_credentials_file or "
                             "AWS_SECRET_ACCESS_KEY is wrong"),
                false, false, true};
    if (is_unknown_key(error))
        return {unauthorized("the object store" + where +
                             " does not know the access key: check object_store_credentials_file or "
                             "AWS_ACCESS_KEY_ID"),
                false, false, true};
    if (is_one_of(error.code, {"ExpiredToken", "TokenRefreshRequired", "InvalidToken"}))
        return {unauthorized("the session token for the object store" + where + " has expired: renew it"), false, false,
                true};
    return {forbidden("the object store" + where + " does not allow to " + what + " in the bucket " + place.bucket +
                      " (" + words_of(error, status) +
                      "): the key needs s3:GetObject, s3:PutObject, "
                      "s3:DeleteObject, s3:ListBucket and s3:AbortMultipartUpload there"),
            false, false, false};
}

} // namespace

S3Error read_error(std::string_view body) {
    const auto root = parse_xml(body);
    if (!root.ok() || root.value().name != "Error") return {};
    return {std::string(root.value().text_of("Code")), std::string(root.value().text_of("Message")),
            std::string(root.value().text_of("Region"))};
}

Result<ObjectPage> read_listing(std::string_view body) {
    const XmlElement root = TRY(expect_root(body, "ListBucketResult"));
    ObjectPage page;
    for (const XmlElement& element : root.children)
        if (element.name == "Contents") page.objects.push_back(TRY(object_of(element)));
    if (root.text_of("IsTruncated") != "true") return page;
    page.next = root.text_of("NextContinuationToken");
    if (page.next.empty()) return unavailable("the object store sent a part of a list without how to get the rest");
    return page;
}

Result<UploadPage> read_uploads(std::string_view body) {
    const XmlElement root = TRY(expect_root(body, "ListMultipartUploadsResult"));
    UploadPage page;
    for (const XmlElement& element : root.children) {
        if (element.name != "Upload") continue;
        const auto began = parse_time(element.text_of("Initiated"));
        if (!began.ok() || element.text_of("Key").empty() || element.text_of("UploadId").empty())
            return unavailable("the object store sent a malformed list of uploads");
        page.uploads.push_back(
            {std::string(element.text_of("Key")), std::string(element.text_of("UploadId")), began.value()});
    }
    if (root.text_of("IsTruncated") != "true") return page;
    page.next_key = root.text_of("NextKeyMarker");
    page.next_upload_id = root.text_of("NextUploadIdMarker");
    return page;
}

Result<std::string> read_upload_id(std::string_view body) {
    const XmlElement root = TRY(expect_root(body, "InitiateMultipartUploadResult"));
    std::string id(root.text_of("UploadId"));
    if (id.empty() || id.size() > 1024) return unavailable("the object store began an upload without a usable id");
    return id;
}

S3Failure explain_no_response(const Error& error, const S3Place& place) {
    S3Failure failure{error, error.code == Code::unavailable || error.code == Code::busy, false, false};
    failure.error.message = "the object store at " + place.endpoint + " could not be reached: " + error.message;
    return failure;
}

S3Failure explain_refusal(const net::ClientResponse& response, const std::string& what, const S3Place& place) {
    S3Error error = read_error(response.body);
    const int status = response.status;
    const std::string region =
        error.region.empty() ? std::string(response.header("x-amz-bucket-region")) : error.region;
    const bool is_redirect = status / 100 == 3;
    if ((is_redirect || is_one_of(error.code, {"AuthorizationHeaderMalformed", "PermanentRedirect",
                                               "IllegalLocationConstraintException"})) &&
        region != place.region) {
        if (region.empty())
            return {invalid("the object store at " + place.endpoint + " redirects requests for the bucket " +
                            place.bucket + " (" + words_of(error, status) +
                            "); redirects are not followed: correct endpoint and region in object_store"),
                    false, false, false};
        return {invalid("the bucket " + place.bucket + " is in the region " + server_words(region) + ", not in " +
                        place.region + ": set region=" + server_words(region) + " in object_store"),
                false, false, false};
    }
    // A redirect that gives no other region is refused as well; what is left of 3xx ends below.
    if (status == 404 && error.code == "NoSuchBucket")
        return {Error{Code::not_found,
                      "the bucket " + place.bucket + " does not exist at " + place.endpoint +
                          ": create it, or correct object_store",
                      {}},
                false, false, false};
    // Servers also send this one as 404.
    if (is_unknown_key(error)) return explain_forbidden(error, what, place, status);
    // Without a code: a response to HEAD. Another code is about something else than the object.
    if (status == 404 && is_one_of(error.code, {"", "NoSuchKey", "NotFound", "NoSuchUpload", "NoSuchVersion"}))
        return {not_found("object"), false, false, false};
    if (status == 416) return {invalid("the range is outside of the object"), false, false, false};
    if (is_one_of(error.code,
                  {"BadDigest", "XAmzContentSHA256Mismatch", "InvalidDigest", "XAmzContentChecksumMismatch"}))
        return {corrupt("the object store received other bytes than were sent (" + words_of(error, status) + ")"), true,
                false, false};
    if (is_passing_status(status) || is_one_of(error.code, {"SlowDown", "InternalError", "RequestTimeout",
                                                            "ServiceUnavailable", "OperationAborted"}))
        return {
            unavailable("the object store at " + place.endpoint + " is unavailable (" + words_of(error, status) + ")"),
            true, false, false};
    if (status == 401 || status == 403 ||
        is_one_of(error.code, {"ExpiredToken", "InvalidToken", "TokenRefreshRequired"}))
        return explain_forbidden(error, what, place, status);
    return {unavailable("the object store at " + place.endpoint + " refused to " + what + " (" +
                        words_of(error, status) + ")"),
            false, false, false};
}

} // namespace hone::objects
