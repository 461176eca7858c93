// What S3 servers respond with: listings, uploads, errors. Each is bounded and refused when it is not what was
// expected. Pure functions, any thread.
#pragma once

#include "net/client/client.h"
#include "objects/object_store.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::objects {

// <Error>; empty parts when the body is not one.
struct S3Error {
    std::string code; // "NoSuchKey"
    std::string message;
    std::string region;
};
S3Error read_error(std::string_view body);

// <ListBucketResult>; keys as the server names them.
Result<ObjectPage> read_listing(std::string_view body);

struct UnfinishedUpload {
    std::string key;
    std::string upload_id;
    Time began_at{};
};
struct UploadPage {
    std::vector<UnfinishedUpload> uploads;
    std::string next_key; // both empty: this is the last page
    std::string next_upload_id;
};
// <ListMultipartUploadsResult>
Result<UploadPage> read_uploads(std::string_view body);
// <InitiateMultipartUploadResult>
Result<std::string> read_upload_id(std::string_view body);

// Where a request went, for messages.
struct S3Place {
    std::string bucket;
    std::string endpoint;
    std::string region;
};

// What a failed request means.
struct S3Failure {
    Error error;
    bool is_repeatable = false;
    bool is_clock = false;      // the server's clock is far from ours
    bool is_credential = false; // expired, unknown or wrong: a file may hold newer ones by now
};
// Of a request that got no response.
S3Failure explain_no_response(const Error& error, const S3Place& place);
// Of a response with an error: a status that is not 2xx, or <Error> in the body of a 200.
S3Failure explain_refusal(const net::ClientResponse& response, const std::string& what, const S3Place& place);

} // namespace hone::objects
