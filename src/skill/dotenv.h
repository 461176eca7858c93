// Reads the text of a .env file. Values may be secrets, so they are SecretBytes from the start; problems name the line,
// never its content. Pure functions over bounded text, any thread.
#pragma once

#include "base/result.h"
#include "crypto/secret_bytes.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::skill {

struct EnvEntry {
    std::string name;
    crypto::SecretBytes value;
    int64_t line = 0;
};

struct EnvText {
    std::vector<EnvEntry> entries;     // in order; a name that comes again replaces the earlier one
    std::vector<std::string> problems; // "line 3: …"
};

// NAME=value, export NAME=value, '…' literally, "…" with \n \r \t \" \\ \$ and \` (any other backslash stays), comments
// after # (in an unquoted value only after a blank). Quoted values can span lines; lines end with LF or CRLF, and a
// line end within a value is LF. `export NAME` alone is ignored. At most 256 KiB and 500 variables. $NAME is not
// expanded.
Result<EnvText> parse_dotenv(std::string_view text);

} // namespace hone::skill
