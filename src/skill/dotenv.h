// Reads a pasted .env file. Values may be secrets, so they are kept as such from the first moment; problems name the
// line, never its content. Pure functions over bounded text, any thread.
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

// NAME=value, export NAME=value, '…' as it is, "…" with \n \t \" \\ and \$, # comments. Quoted values may span lines.
// At most 256 KiB and 500 variables. No expansion of $NAME.
Result<EnvText> parse_dotenv(std::string_view text);

} // namespace hone::skill
