// Sends one object to a bucket, whole or in parts. Used by S3Store.
#pragma once

#include "crypto/crypto.h"
#include "objects/s3_client.h"

namespace hone::objects {

class S3Upload {
public:
    S3Upload(S3Client& client, std::string key, const Pieces& pieces, const std::optional<std::string>& sha256)
        : m_client(client),
          m_key(std::move(key)),
          m_pieces(pieces),
          m_expected(sha256) {}

    Result<Stored> run();

private:
    struct Part {
        std::string etag;
        std::string sha256; // base64
    };
    // Up to `bytes` bytes; fewer only at the end.
    Result<std::string> take(size_t bytes);
    Result<Stored> put_whole(std::string content);
    Result<std::string> begin();
    Result<> send_parts(std::string first);
    Result<> send_part(std::string content);
    Result<> complete();
    void abort();
    Stored stored();
    Result<> check_hash(const Stored& stored) const;
    void add_object_headers(S3Call& call, const std::string& sha256) const;

    S3Client& m_client;
    const std::string m_key;
    const Pieces& m_pieces;
    const std::optional<std::string>& m_expected;
    std::string m_ahead; // read, not yet part of a request
    bool m_is_over = false;
    int64_t m_bytes = 0;
    crypto::Sha256 m_hash;
    std::string m_upload_id;
    std::vector<Part> m_parts;
};

} // namespace hone::objects
