// Sends agent traces over OTLP/HTTP in protobuf, as fast as the receiver acknowledges them, on connections that stay
// open.
//   bench_ingest_http URL KEY SECONDS CONNECTIONS [PAUSE_MS [RATE]]     prints one JSON object
// URL is the address that takes traces, of any receiver; after a refusal a connection waits PAUSE_MS (50). With RATE it
// sends that many spans a second, and prints when each request was acknowledged, by the steady clock.
#include "bench/agent_requests.h"

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace hone;
using Moment = std::chrono::steady_clock::time_point;

namespace {

double seconds_since(Moment begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Address {
    std::string host, path;
    uint16_t port = 80;
};

// "http://127.0.0.1:4318/v1/traces"
bool read_address(std::string_view url, Address& address) {
    if (!url.starts_with("http://")) return false;
    url.remove_prefix(7);
    const size_t slash = std::min(url.find('/'), url.size());
    const std::string_view place = url.substr(0, slash);
    address.path = slash < url.size() ? std::string(url.substr(slash)) : "/v1/traces";
    const size_t colon = place.rfind(':');
    address.host = std::string(place.substr(0, colon));
    if (colon != place.npos) address.port = static_cast<uint16_t>(std::atoi(place.data() + colon + 1));
    return !address.host.empty() && address.port != 0;
}

int open_connection(const Address& address) {
    const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(address.port);
    const int yes = 1;
    ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::inet_pton(AF_INET, address.host.c_str(), &to.sin_addr) != 1 ||
        ::connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
        ::close(file);
        return -1;
    }
    return file;
}

struct Answer {
    int status = 0; // 0: the connection ended
    bool has_retry_after = false;
};

bool send_whole(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
}

std::string lowercase(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

Answer receive(int file) {
    std::string bytes;
    char piece[4096];
    size_t head = std::string::npos;
    size_t length = 0;
    Answer answer;
    for (;;) {
        if (head == std::string::npos && (head = bytes.find("\r\n\r\n")) != std::string::npos) {
            const std::string lines = lowercase(bytes.substr(0, head + 2));
            answer.status = std::atoi(lines.c_str() + std::min<size_t>(9, lines.size()));
            answer.has_retry_after = lines.find("\r\nretry-after:") != lines.npos;
            const size_t at = lines.find("\r\ncontent-length:");
            length = at == lines.npos ? 0 : static_cast<size_t>(std::atoll(lines.c_str() + at + 17));
        }
        if (head != std::string::npos && bytes.size() >= head + 4 + length) return answer;
        const ssize_t read = ::recv(file, piece, sizeof piece, 0);
        if (read <= 0) return {};
        bytes.append(piece, static_cast<size_t>(read));
    }
}

struct Counts {
    std::mutex mutex;
    std::map<int, int64_t> by_status;                          // requests; 0: without a response
    int64_t refused_with_delay = 0, refused_without_delay = 0; // with and without Retry-After
    std::vector<double> ack_ms;
    std::vector<double> acknowledged_at; // seconds
};

// When the next request is due: all connections share one rate.
struct Pace {
    Moment begin;
    double interval = 0; // seconds between requests; 0: as fast as they are acknowledged
    std::atomic<int64_t> next = 0;

    void wait() {
        if (interval > 0)
            std::this_thread::sleep_until(begin + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                      std::chrono::duration<double>(interval) * next++));
    }
};

void work(const Address& address, const std::string& key, Moment end, int pause_ms, Pace& pace,
          bench::AgentRequests& requests, Counts& counts) {
    int file = -1;
    while (pace.wait(), std::chrono::steady_clock::now() < end) {
        if (file < 0) file = open_connection(address);
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const std::string body = requests.next(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
        const std::string head =
            "POST " + address.path + " HTTP/1.1\r\nHost: " + address.host + "\r\nAuthorization: Bearer " + key +
            "\r\nContent-Type: application/x-protobuf\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
        const Moment begin = std::chrono::steady_clock::now();
        const Answer answer = file >= 0 && send_whole(file, head) && send_whole(file, body) ? receive(file) : Answer{};
        const double ms = seconds_since(begin) * 1e3;
        if (answer.status == 0 && file >= 0) {
            ::close(file);
            file = -1;
        }
        {
            const std::lock_guard lock(counts.mutex);
            ++counts.by_status[answer.status];
            if (answer.status == 200) {
                counts.ack_ms.push_back(ms);
                counts.acknowledged_at.push_back(
                    std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
            }
            if (answer.status == 429 || answer.status == 503)
                ++(answer.has_retry_after ? counts.refused_with_delay : counts.refused_without_delay);
        }
        if (answer.status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    }
    if (file >= 0) ::close(file);
}

double percentile(std::vector<double>& values, double share) {
    std::sort(values.begin(), values.end());
    return values.empty()
               ? 0
               : values[std::min(values.size() - 1, static_cast<size_t>(static_cast<double>(values.size()) * share))];
}

} // namespace

int main(int argc, char** argv) {
    Address address;
    if (argc < 5 || !read_address(argv[1], address)) {
        std::fprintf(stderr, "bench_ingest_http URL KEY SECONDS CONNECTIONS [PAUSE_MS [RATE]]\n");
        return 2;
    }
    const int seconds = std::atoi(argv[3]), connections = std::atoi(argv[4]);
    const int pause_ms = argc > 5 ? std::atoi(argv[5]) : 50;
    const double rate = argc > 6 ? std::atof(argv[6]) : 0;
    // Other ids than those of an earlier process: a span that comes again would be compared with the first one.
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto first = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    bench::AgentRequests requests(60, "bench", static_cast<uint64_t>(first));
    Counts counts;
    const Moment begin = std::chrono::steady_clock::now();
    Pace pace{begin, rate > 0 ? bench::AgentRequests::spans / rate : 0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < connections; ++i)
            threads.emplace_back([&] {
                work(address, argv[2], begin + std::chrono::seconds(seconds), pause_ms, pace, requests, counts);
            });
    }
    const double took = seconds_since(begin);
    const auto acknowledged = static_cast<double>(counts.by_status[200] * int64_t{bench::AgentRequests::spans});
    std::string statuses;
    for (const auto& [status, number] : counts.by_status)
        statuses += (statuses.empty() ? "\"" : ",\"") + std::to_string(status) + "\":" + std::to_string(number);
    std::string moments;
    if (rate > 0) {
        std::sort(counts.acknowledged_at.begin(), counts.acknowledged_at.end());
        char text[40];
        for (const double at : counts.acknowledged_at) {
            std::snprintf(text, sizeof text, "%s%.4f", moments.empty() ? ",\"acknowledged_at\":[" : ",", at);
            moments += text;
        }
        if (!moments.empty()) moments += ']';
    }
    std::printf("{\"connections\":%d,\"seconds\":%.1f,\"bytes_per_span\":%zu,\"spans_acknowledged\":%.0f,\"spans_per_"
                "second_acknowledged\":%.0f,\"requests_by_status\":{%s},\"refused_with_retry_after\":%lld,\"refused_"
                "without_retry_after\":%lld,\"ack_ms_"
                "p50\":%.1f,\"ack_ms_p99\":%.1f,\"ack_ms_max\":%.1f%s}\n",
                connections, took, requests.bytes_per_span(), acknowledged, acknowledged / took, statuses.c_str(),
                static_cast<long long>(counts.refused_with_delay), static_cast<long long>(counts.refused_without_delay),
                percentile(counts.ack_ms, 0.5), percentile(counts.ack_ms, 0.99), percentile(counts.ack_ms, 1.0),
                moments.c_str());
    return 0;
}
