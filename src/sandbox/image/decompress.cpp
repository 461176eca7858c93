#include "sandbox/image/decompress.h"

#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace hone::sandbox {

namespace {
constexpr size_t step_bytes = 256 << 10;
constexpr int most_window_log = 27; // 128 MiB, as the zstd program
constexpr size_t head_bytes = 4;
} // namespace

struct Decompressor::Stream {
    virtual ~Stream() = default;
    virtual Result<> feed(std::string_view bytes, const Taker& take) = 0;
    virtual bool whole() const = 0;
};

struct Decompressor::Plain final : Stream {
    Result<> feed(std::string_view bytes, const Taker& take) override { return take(bytes); }
    bool whole() const override { return true; }
};

struct Decompressor::Gzip final : Stream {
    Gzip() : m_good(inflateInit2(&m_state, 15 + 16) == Z_OK), m_buffer(step_bytes) {}
    ~Gzip() override { inflateEnd(&m_state); }
    Result<> feed(std::string_view bytes, const Taker& take) override {
        if (!m_good) return internal("zlib did not start");
        m_state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        m_state.avail_in = static_cast<uInt>(bytes.size());
        // Output may be pending when all input was taken: ask until the buffer stays half empty.
        do {
            if (m_ended) { // one gzip file may follow another
                if (m_state.avail_in == 0) break;
                if (inflateReset(&m_state) != Z_OK) return internal("zlib did not start");
                m_ended = false;
            }
            m_state.next_out = m_buffer.data();
            m_state.avail_out = static_cast<uInt>(m_buffer.size());
            const int outcome = inflate(&m_state, Z_NO_FLUSH);
            if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
                return corrupt("the gzip archive is damaged or incomplete");
            m_ended = outcome == Z_STREAM_END;
            const size_t made = m_buffer.size() - m_state.avail_out;
            if (made > 0) TRY(take({reinterpret_cast<const char*>(m_buffer.data()), made}));
        } while (m_state.avail_in > 0 || m_state.avail_out == 0);
        return {};
    }
    bool whole() const override { return m_ended; }

private:
    z_stream m_state{};
    bool m_good;
    bool m_ended = false;
    std::vector<Bytef> m_buffer;
};

struct Decompressor::Zstd final : Stream {
    Zstd() : m_state(ZSTD_createDStream()), m_buffer(step_bytes) {
        ZSTD_DCtx_setParameter(m_state, ZSTD_d_windowLogMax, most_window_log);
    }
    ~Zstd() override { ZSTD_freeDStream(m_state); }
    Result<> feed(std::string_view bytes, const Taker& take) override {
        ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
        ZSTD_outBuffer output{};
        do {
            output = {m_buffer.data(), m_buffer.size(), 0};
            const size_t left = ZSTD_decompressStream(m_state, &output, &input);
            if (ZSTD_isError(left)) return corrupt("the zstd archive is damaged or incomplete");
            m_ended = left == 0;
            if (output.pos > 0) TRY(take({m_buffer.data(), output.pos}));
        } while (input.pos < input.size || output.pos == output.size);
        return {};
    }
    bool whole() const override { return m_ended; }

private:
    ZSTD_DStream* m_state;
    bool m_ended = false;
    std::vector<char> m_buffer;
};

Decompressor::Decompressor(Taker take) : m_take(std::move(take)) {}
Decompressor::~Decompressor() = default;

Result<> Decompressor::choose() {
    if (m_head.starts_with("\x1f\x8b"))
        m_stream = std::make_unique<Gzip>();
    else if (m_head.starts_with("\x28\xb5\x2f\xfd"))
        m_stream = std::make_unique<Zstd>();
    else if (m_head.starts_with("BZh") || m_head.starts_with("\xfd"
                                                             "7z"))
        return invalid("bzip2 and xz archives are not supported: use gzip, zstd or none");
    else
        m_stream = std::make_unique<Plain>();
    return {};
}

Result<> Decompressor::feed(std::string_view bytes) {
    if (m_stream) return m_stream->feed(bytes, m_take);
    m_head += bytes;
    if (m_head.size() < head_bytes) return {};
    TRY(choose());
    return m_stream->feed(std::exchange(m_head, {}), m_take);
}

Result<> Decompressor::finish() {
    if (!m_stream && !m_head.empty()) {
        TRY(choose());
        TRY(m_stream->feed(std::exchange(m_head, {}), m_take));
    }
    if (m_stream && !m_stream->whole()) return corrupt("the archive ends in the middle");
    return {};
}

} // namespace hone::sandbox
