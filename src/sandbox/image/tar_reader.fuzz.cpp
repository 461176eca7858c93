// Any bytes as a tar archive, in one piece and in two: no crash, clean paths, no more content than stated, and the same
// outcome however the bytes are cut.
#include "sandbox/image/tar_reader.h"

#include <cstdlib>
#include <vector>

using namespace hone;
using namespace hone::sandbox;

namespace {

class Checker final : public TarSink {
public:
    Result<> begin(const TarEntry& entry) override {
        if (m_open) std::abort();
        m_open = true;
        m_left = entry.kind == TarEntry::file ? entry.size : 0;
        if (entry.path.starts_with("/") || ("/" + entry.path + "/").find("/../") != std::string::npos) std::abort();
        if (entry.kind == TarEntry::hard_link && ("/" + entry.target + "/").find("/../") != std::string::npos)
            std::abort();
        seen += entry.path + "\n";
        return {};
    }
    Result<> data(std::string_view bytes) override {
        m_left -= static_cast<int64_t>(bytes.size());
        if (!m_open || m_left < 0) std::abort();
        seen += bytes;
        return {};
    }
    Result<> end() override {
        if (!m_open || m_left != 0) std::abort();
        m_open = false;
        return {};
    }
    std::string seen;

private:
    bool m_open = false;
    int64_t m_left = 0;
};

std::string outcome(std::string_view bytes, size_t cut) {
    Checker checker;
    TarReader reader(checker, {1000, 1 << 20});
    Result<> result = reader.feed(bytes.substr(0, cut));
    if (result.ok()) result = reader.feed(bytes.substr(cut));
    if (result.ok()) result = reader.finish();
    return checker.seen + (result.ok() ? "ok" : result.error().message);
}

// The sums of all blocks as a writer would have them: without it hardly any change gets past the first header.
std::string with_sums(std::string bytes) {
    for (size_t block = 0; block + 512 <= bytes.size(); block += 512) {
        bytes.replace(block + 148, 8, 8, ' ');
        unsigned sum = 0;
        for (size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[block + i]);
        if (sum == 8 * ' ') bytes.replace(block + 148, 8, 8, '\0'); // an empty block stays one
        for (size_t digit = 0; sum != 8 * ' ' && digit < 6; ++digit)
            bytes[block + 153 - digit] = static_cast<char>('0' + (sum >> 3 * digit & 7));
    }
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (size > 0 && data[size - 1] % 2 == 0) bytes = with_sums(std::move(bytes));
    if (outcome(bytes, size) != outcome(bytes, size == 0 ? 0 : data[0] * size / 256)) std::abort();
    return 0;
}
