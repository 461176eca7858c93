#include "objects/location.h"

#include "base/file.h"
#include "base/text.h"
#include "objects/object_store.h"

#include <algorithm>

namespace hone::objects {

namespace {

bool is_bucket_name(std::string_view name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return name.size() >= 3 && name.size() <= 63 && is_letter(name.front()) && is_letter(name.back()) &&
           name.find("..") == std::string_view::npos &&
           std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || c == '-' || c == '.'; });
}

bool is_region_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

Error bad_location(const std::string& why) {
    return invalid("object_store: " + why + " (docs/object-store.md)");
}

Result<> set_endpoint(Location& location, const std::string& value) {
    const auto url = net::parse_url(value);
    if (!url.ok() || !url.value().unix_path.empty() || url.value().target != "/" || !url.value().user_info.empty())
        return bad_location("endpoint is an address without a path and without a user: https://host:9000");
    location.endpoint = (url.value().tls ? "https://" : "http://") + url.value().host_header();
    return {};
}

Result<> set_option(Location& location, const std::string& name, const std::string& value, bool& has_style) {
    if (name == "endpoint") return set_endpoint(location, value);
    if (name == "region" && is_region_name(value)) {
        location.region = value;
    } else if (name == "style" && (value == "path" || value == "host")) {
        location.is_host_style = value == "host";
        has_style = true;
    } else if (name == "checksum" && value == "sha256") {
        location.has_checksums = true;
    } else if (name == "encryption" && (value == "AES256" || value == "aws:kms")) {
        location.encryption = value;
    } else if (name == "kms_key" && is_printable_ascii(value) && value.size() <= 2048) {
        location.kms_key = value;
    } else {
        return bad_location("unknown option " + name + "=" + value);
    }
    return {};
}

Result<Location> parse_s3(std::string_view text) {
    Location location;
    location.is_s3 = true;
    const size_t question = std::min(text.find('?'), text.size());
    std::string_view path = text.substr(0, question);
    while (path.ends_with('/')) path.remove_suffix(1);
    const size_t slash = std::min(path.find('/'), path.size());
    location.bucket = path.substr(0, slash);
    if (!is_bucket_name(location.bucket)) return bad_location("not a name of a bucket: " + location.bucket);
    if (slash < path.size()) location.prefix = std::string(path.substr(slash + 1)) + "/";
    if (!location.prefix.empty() && !check_key("check/" + location.prefix + "0").ok())
        return bad_location("a prefix has letters, digits and -_.=+@ between slashes");
    bool has_style = false;
    if (question < text.size())
        for (const auto& [name, value] : TRY(net::parse_query(text.substr(question + 1))))
            TRY(set_option(location, name, value, has_style));
    if (!location.kms_key.empty() && location.encryption != "aws:kms")
        return bad_location("kms_key needs encryption=aws:kms");
    // Certificates of Amazon cover one name before theirs: a bucket with dots needs the path.
    const bool is_amazon = location.endpoint.empty();
    if (is_amazon) location.endpoint = "https://s3." + location.region + ".amazonaws.com";
    if (!has_style) location.is_host_style = is_amazon && location.bucket.find('.') == std::string::npos;
    return location;
}

} // namespace

Result<Location> parse_location(std::string_view text) {
    if (text == "file") return Location{};
    if (text.starts_with("s3://")) return parse_s3(text.substr(5));
    if (text.starts_with("file:/")) {
        Location location;
        location.directory = text.substr(5);
        while (location.directory.size() > 1 && location.directory.ends_with('/')) location.directory.pop_back();
        while (location.directory.starts_with("//")) location.directory.erase(0, 1); // file:///srv
        if (location.directory == "/") return bad_location("name a directory below /");
        return location;
    }
    return bad_location("must be file, file:/directory or s3://bucket/prefix?endpoint=…&region=…");
}

Result<Credentials> parse_credentials(std::string& text) {
    Credentials credentials;
    bool is_known = true;
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view trimmed = trim(line);
        if (trimmed.empty() || trimmed.front() == '#' || trimmed.front() == ';' || trimmed == "[default]") continue;
        const size_t equals = std::min(trimmed.find('='), trimmed.size());
        const std::string_view name = trim(trimmed.substr(0, equals));
        const std::string_view value = equals == trimmed.size() ? "" : trim(trimmed.substr(equals + 1));
        if (name == "aws_access_key_id")
            credentials.key_id = value;
        else if (name == "aws_secret_access_key")
            credentials.secret = crypto::SecretBytes(value);
        else if (name == "aws_session_token")
            credentials.session_token = crypto::SecretBytes(value);
        else
            is_known = false;
    }
    crypto::wipe(text);
    // Nothing of the file is quoted: a line out of place may be a secret.
    if (!is_known || credentials.key_id.empty() || credentials.secret.empty())
        return invalid("the file of credentials for the object store must have the lines aws_access_key_id = … and "
                       "aws_secret_access_key = …, and no others but aws_session_token = …");
    return credentials;
}

Result<Credentials> find_credentials(const std::string& file, const Environment& environment) {
    Credentials credentials;
    if (!file.empty()) {
        std::string text = TRY(read_file(file, 64 << 10));
        credentials = TRY(parse_credentials(text));
    } else {
        credentials.key_id = environment("AWS_ACCESS_KEY_ID").value_or("");
        credentials.secret = crypto::SecretBytes(environment("AWS_SECRET_ACCESS_KEY").value_or(""));
        credentials.session_token = crypto::SecretBytes(environment("AWS_SESSION_TOKEN").value_or(""));
        if (credentials.key_id.empty() || credentials.secret.empty())
            return invalid(
                "the object store needs credentials: set object_store_credentials_file, or AWS_ACCESS_KEY_ID "
                "and AWS_SECRET_ACCESS_KEY in the environment of the server");
    }
    if (!is_printable_ascii(credentials.key_id) || !is_printable_ascii(credentials.secret.reveal()) ||
        !is_printable_ascii(credentials.session_token.reveal()) ||
        credentials.key_id.find_first_of(" /,") != std::string::npos)
        return invalid("the credentials for the object store contain characters that no key has");
    return credentials;
}

} // namespace hone::objects
