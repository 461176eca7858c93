// What `error.code` of a failed command is, given the exit code that scripts see. Any thread.
#pragma once

#include "base/result.h"
#include "cli/table/exit_code.h"

namespace hone::cli {

constexpr Code code_of(Exit exit) {
    switch (exit) {
    case Exit::usage:
    case Exit::refused:
        return Code::invalid;
    case Exit::unauthorized:
        return Code::unauthorized;
    case Exit::forbidden:
        return Code::forbidden;
    case Exit::not_found:
        return Code::not_found;
    case Exit::conflict:
    case Exit::gate_failed:
        return Code::conflict;
    case Exit::unavailable:
        return Code::unavailable;
    case Exit::busy:
        return Code::busy;
    case Exit::ok:
    case Exit::failure:
        break;
    }
    return Code::internal;
}

} // namespace hone::cli
