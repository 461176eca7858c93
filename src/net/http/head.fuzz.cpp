// Request heads and chunked bodies as the edge reads them: cut anywhere, the outcome must be the same as in one piece.
#include "net/http/body_decoder.h"
#include "net/http/head_parser.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace hone::net;

namespace {

struct Outcome {
    int kind = 0; // 0 more, 1 request, else the status of the refusal
    size_t head_size = 0;
    size_t body_used = 0;
    std::string body;
    bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view bytes, size_t step) {
    const HeadLimits limits{4096, 20, 1024};
    HeadScanner scanner;
    Outcome outcome;
    for (size_t seen = 0; seen < bytes.size();) {
        seen = std::min(bytes.size(), seen + step);
        const HeadScanner::Outcome found = scanner.scan(bytes.substr(0, seen), limits);
        if (found == HeadScanner::Outcome::more) continue;
        if (found == HeadScanner::Outcome::bad) {
            outcome.kind = scanner.error().status;
            return outcome;
        }
        auto parsed = parse_request_head(bytes.substr(0, scanner.size()), limits);
        if (auto* error = std::get_if<HeadError>(&parsed)) {
            outcome.kind = error->status;
            return outcome;
        }
        const auto& request = std::get<ParsedRequest>(parsed);
        outcome.kind = 1;
        outcome.head_size = scanner.size();
        BodyDecoder decoder(request.framing, request.length);
        std::string_view rest = bytes.substr(scanner.size());
        while (!rest.empty() && !decoder.is_done() && !decoder.is_failed()) {
            const size_t used = decoder.feed(rest.substr(0, step), outcome.body);
            outcome.body_used += used;
            rest.remove_prefix(used);
        }
        if (decoder.is_failed()) outcome.body_used = 0;
        return outcome;
    }
    return outcome;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    const size_t step = 1 + data[0] % 32;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    const Outcome whole = read(bytes, bytes.size() + 1);
    const Outcome pieces = read(bytes, step);
    // A limit may be noticed earlier in pieces, a refusal stays a refusal.
    if (whole.kind == 1 && !(whole == pieces)) std::abort();
    if (whole.kind > 1 && pieces.kind <= 1) std::abort();
    parse_response_head(bytes, step % 2 == 0);
    return 0;
}
