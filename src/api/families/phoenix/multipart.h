// multipart/form-data, as browsers and HTTP libraries send files with fields. Pure; any thread. Fuzzed.
#pragma once

#include "net/http/http.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::api {

struct FormPart {
    std::string name;
    std::string file_name;
    std::vector<net::Header> headers;
    std::string_view content; // of the body that was parsed

    std::string_view header(std::string_view name_of_header) const {
        return net::header_value(headers, name_of_header);
    }
};

// `content_type` gives the boundary.
Result<std::vector<FormPart>> parse_form(std::string_view content_type, std::string_view body);

} // namespace hone::api
