// Where objects are kept, as the setting object_store names it, and the credentials for it. Pure but for the file of
// credentials. Any thread.
#pragma once

#include "base/result.h"
#include "objects/sigv4.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::objects {

struct Location {
    bool is_s3 = false;
    std::string directory; // of a file store; empty: the data directory

    std::string bucket;
    std::string prefix;   // "" or "team/hone/", before each key
    std::string endpoint; // "https://s3.eu-central-1.amazonaws.com"
    std::string region = "us-east-1";
    bool is_host_style = false; // the bucket is in the host name, else it is the first part of the path
    bool has_checksums = false; // send x-amz-checksum-sha256, which some servers do not know
    std::string encryption;     // "", "AES256" or "aws:kms"
    std::string kms_key;
};

// "file", "file:/srv/objects", or
// "s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1&style=path&checksum=sha256&encryption=AES256".
Result<Location> parse_location(std::string_view text);

using Environment = std::function<std::optional<std::string>(const std::string&)>;
// From the file if one is named, else AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
Result<Credentials> find_credentials(const std::string& file, const Environment& environment);
// Lines of `aws_access_key_id = …`, `aws_secret_access_key = …`, `aws_session_token = …`; comments and [default] are
// fine, other sections are not. The text is wiped.
Result<Credentials> parse_credentials(std::string& text);

} // namespace hone::objects
