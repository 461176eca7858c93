// Durations, counts and money as people read them: 340 ms, 12.4k, $0.0312. The same forms as in the web UI. Pure
// functions, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace hone::cli {

// "0 ms", "85 µs", "340 ms", "1.2 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(int64_t ns);
// "999", "12.4k", "3.1M".
std::string count_text(int64_t count);
// "$0.0312", "$12.40"; "$0" for nothing.
std::string money_text(int64_t micro_usd);
// "12.3 MB"
std::string bytes_text(uint64_t bytes);
// "12.5 %" of a share from 0 to 1.
std::string share_text(double share);
// "0.2", "792925153.06": all digits that a double has, no exponent for what people call ordinary numbers.
std::string decimal_text(double number);

} // namespace hone::cli
