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

} // namespace hone
