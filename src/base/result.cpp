#include "base/result.h"

#include <system_error>

namespace hone {

Error system_error(std::string what, int error_number) {
    const Code code = error_number == ENOENT                                                      ? Code::not_found
                      : error_number == EACCES || error_number == EPERM                           ? Code::forbidden
                      : error_number == EEXIST                                                    ? Code::conflict
                      : error_number == ENOSPC || error_number == EDQUOT || error_number == EROFS ? Code::unavailable
                                                                                                  : Code::internal;
    return {code, std::move(what) + ": " + std::generic_category().message(error_number), {}};
}

const char* code_name(Code code) {
    switch (code) {
    case Code::invalid:
        return "invalid";
    case Code::unauthorized:
        return "unauthorized";
    case Code::forbidden:
        return "forbidden";
    case Code::not_found:
        return "not_found";
    case Code::conflict:
        return "conflict";
    case Code::too_large:
        return "too_large";
    case Code::busy:
        return "busy";
    case Code::unavailable:
        return "unavailable";
    case Code::corrupt:
        return "corrupt";
    case Code::internal:
        return "internal";
    }
    return "internal";
}

} // namespace hone
