// Answers of a mail server: whatever comes, a reply is taken whole or not at all and stays within its bounds.
#include "notice/smtp.h"
#include "base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string input(reinterpret_cast<const char*>(data), size);
    for (;;) {
        const size_t before = input.size();
        const auto reply = hone::notice::take_reply(input);
        if (!reply.ok() || !reply.value()) {
            CHECK_OR_ABORT(input.size() == before);
            return 0;
        }
        CHECK_OR_ABORT(input.size() < before);
        CHECK_OR_ABORT(reply.value()->code >= 200 && reply.value()->code < 600);
        CHECK_OR_ABORT(reply.value()->lines.size() <= 100 && reply.value()->text().size() <= 300);
    }
}
