#include "telemetry/transfer/unpack_stream.h"

#include "base/text.h"

#include <zlib.h>
#include <zstd.h>

namespace hone::telemetry {

namespace {

constexpr size_t unpacked_piece_bytes = 256 << 10;

class Plain final : public UnpackStream {
public:
    Result<> add(std::string_view bytes, const std::function<Result<>(std::string_view)>& take) override {
        return take(bytes);
    }
    Result<> finish() override { return {}; }
};

class Gzip final : public UnpackStream {
public:
    Gzip() { ::inflateInit2(&m_stream, 15 + 16); }
    ~Gzip() override { ::inflateEnd(&m_stream); }

    Result<> add(std::string_view bytes, const std::function<Result<>(std::string_view)>& take) override {
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        m_stream.avail_in = static_cast<uInt>(bytes.size());
        do {
            if (m_is_whole) { // another member follows
                if (m_stream.avail_in == 0) return {};
                ::inflateReset(&m_stream);
                m_is_whole = false;
            }
            m_stream.next_out = reinterpret_cast<Bytef*>(m_piece.data());
            m_stream.avail_out = static_cast<uInt>(m_piece.size());
            const int outcome = ::inflate(&m_stream, Z_NO_FLUSH);
            if (outcome != Z_OK && outcome != Z_STREAM_END && outcome != Z_BUF_ERROR)
                return invalid("the file is not gzip, or damaged");
            m_is_whole = outcome == Z_STREAM_END;
            TRY(take(std::string_view(m_piece).substr(0, m_piece.size() - m_stream.avail_out)));
        } while (m_stream.avail_in > 0 || m_stream.avail_out == 0);
        return {};
    }
    Result<> finish() override { return m_is_whole ? Result<>() : Result<>(invalid("the gzip file is incomplete")); }

private:
    z_stream m_stream{};
    std::string m_piece = std::string(unpacked_piece_bytes, '\0');
    bool m_is_whole = false;
};

class Zstd final : public UnpackStream {
public:
    Zstd() : m_stream(ZSTD_createDCtx(), ZSTD_freeDCtx) {
        ZSTD_DCtx_setParameter(m_stream.get(), ZSTD_d_windowLogMax, 27); // no frame may need more than 128 MB
    }

    Result<> add(std::string_view bytes, const std::function<Result<>(std::string_view)>& take) override {
        ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
        for (bool is_full = true; input.pos < input.size || is_full;) {
            ZSTD_outBuffer output{m_piece.data(), m_piece.size(), 0};
            m_state = ZSTD_decompressStream(m_stream.get(), &output, &input);
            if (ZSTD_isError(m_state)) return invalid("the file is not zstd, or damaged");
            is_full = output.pos == output.size;
            if (output.pos > 0) TRY(take(std::string_view(m_piece).substr(0, output.pos)));
        }
        return {};
    }
    Result<> finish() override { return m_state == 0 ? Result<>() : Result<>(invalid("the zstd file is incomplete")); }

private:
    std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> m_stream;
    std::string m_piece = std::string(unpacked_piece_bytes, '\0');
    size_t m_state = 1;
};

} // namespace

Result<std::unique_ptr<UnpackStream>> UnpackStream::make(std::string_view encoding) {
    const std::string name = lowercase_ascii(trim(encoding));
    if (name.empty() || name == "identity") return std::unique_ptr<UnpackStream>(std::make_unique<Plain>());
    if (name == "gzip") return std::unique_ptr<UnpackStream>(std::make_unique<Gzip>());
    if (name == "zstd") return std::unique_ptr<UnpackStream>(std::make_unique<Zstd>());
    return invalid("unknown content encoding; use gzip, zstd or none");
}

} // namespace hone::telemetry
