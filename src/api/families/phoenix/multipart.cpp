#include "api/families/phoenix/multipart.h"

#include "base/text.h"

namespace hone::api {

namespace {

constexpr size_t most_parts = 1000;

// name="value" or name=value of a header; empty when it is absent.
std::string parameter_of(std::string_view header, std::string_view name) {
    for (size_t at = header.find(';'); at != header.npos; at = header.find(';', at)) {
        std::string_view rest = trim(header.substr(++at));
        if (rest.size() <= name.size() || !equals_ignoring_case(rest.substr(0, name.size()), name) ||
            rest[name.size()] != '=')
            continue;
        rest.remove_prefix(name.size() + 1);
        if (!rest.starts_with('"')) return std::string(trim(rest.substr(0, rest.find(';'))));
        std::string value;
        for (size_t i = 1; i < rest.size() && rest[i] != '"'; ++i) {
            if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
            value += rest[i];
        }
        return value;
    }
    return "";
}

Result<FormPart> read_part(std::string_view text) {
    FormPart part;
    for (;;) {
        const size_t end = text.find("\r\n");
        if (end == text.npos) return invalid("a part of the form has no end of its headers");
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 2);
        if (line.empty()) break;
        const size_t colon = line.find(':');
        if (colon == line.npos || part.headers.size() >= 20)
            return invalid("a part of the form has a malformed header");
        part.headers.push_back({std::string(trim(line.substr(0, colon))), std::string(trim(line.substr(colon + 1)))});
    }
    part.content = text;
    const std::string_view disposition = part.header("Content-Disposition");
    part.name = parameter_of(disposition, "name");
    part.file_name = parameter_of(disposition, "filename");
    if (part.name.empty()) return invalid("a part of the form has no name");
    return part;
}

} // namespace

Result<std::vector<FormPart>> parse_form(std::string_view content_type, std::string_view body) {
    const std::string boundary = parameter_of(content_type, "boundary");
    if (boundary.empty() || boundary.size() > 200) return invalid("the Content-Type of the form has no boundary");
    const std::string mark = "--" + boundary;
    const std::string between = "\r\n" + mark;
    if (!body.starts_with(mark)) return invalid("the form does not begin with its boundary");
    body.remove_prefix(mark.size());
    std::vector<FormPart> parts;
    for (;;) {
        if (body.starts_with("--")) return parts;
        if (!body.starts_with("\r\n")) return invalid("the form has a malformed boundary");
        body.remove_prefix(2);
        const size_t end = body.find(between);
        if (end == body.npos) return invalid("the form has no end");
        if (parts.size() >= most_parts)
            return invalid("the form has more than " + std::to_string(most_parts) + " parts");
        parts.push_back(TRY(read_part(body.substr(0, end))));
        body.remove_prefix(end + between.size());
    }
}

} // namespace hone::api
