// One end of the link between a server and the first process of a pod: many streams over one channel of bytes, which
// may be lost and replaced at any time. Without sockets, threads or clocks: bytes in, bytes out, events. Both ends use
// it. The peer is hostile: every offset, number and length is checked, and memory is bounded.
//   connected → (feed | take_output)* → disconnected → connected → …        streams stay, except connections
// One thread at a time.
#pragma once

#include "kubernetes/link/link_frames.h"

#include <deque>
#include <map>
#include <set>

namespace hone::kubernetes {

enum class LinkSide { server, pod };

struct LinkIdentity {
    LinkSide side = LinkSide::server;
    std::string sandbox;
    int64_t epoch = 0;   // a server's
    std::string session; // a server's: random
    std::string boot;    // a pod's: random
};

constexpr size_t stream_window_bytes = 256 << 10; // not yet read, in each direction of each stream
constexpr size_t most_streams = 256;              // that one side has opened
constexpr uint32_t calls_stream = 0;              // always open: calls and replies

struct LinkEvent {
    enum class Kind {
        greeted,  // the peer's hello has arrived: streams work
        opened,   // by the peer: `open`
        readable, // there are bytes to `read`
        writable, // `write` accepts bytes again
        ended,    // the peer sends nothing more, and everything was read
        reset,    // the stream does not exist any more: `text`
    };
    Kind kind = Kind::greeted;
    uint32_t stream = 0;
    StreamOpen open;
    std::string text;
};

class Link {
public:
    explicit Link(LinkIdentity identity);

    // --- the channel ---
    // Whether this link would accept a channel that begins with these bytes; false: more of them are needed. A side
    // that is connected to reads the first bytes of a new channel before it replaces the one that works.
    Result<bool> would_accept(std::string_view first_bytes) const;
    // A new one: what was on the way on the old one is sent again.
    void connected();
    void disconnected();
    // Errors: the peer broke the rules, or its hello is not for us. Close the channel then and call `disconnected`.
    Result<> feed(std::string_view bytes);
    // Whole frames, about `most` bytes of them; streams take turns.
    std::string take_output(size_t most);
    void ping() { m_ping = true; }
    bool is_greeted() const { return m_greeted; }
    // Of the peer, once greeted.
    const LinkHello& peer() const { return m_peer; }

    // --- streams ---
    // `conflict`: too many.
    Result<uint32_t> open(const StreamOpen& what);
    // As many bytes as there is room for. Unknown or ended streams accept none.
    size_t write(uint32_t stream, std::string_view bytes);
    void end(uint32_t stream);
    void reset(uint32_t stream, const std::string& why);
    // At most `most` bytes, in order; lets the peer send as many more.
    std::string read(uint32_t stream, size_t most);
    std::vector<LinkEvent> take_events();
    size_t streams() const { return m_streams.size() - 1; }

private:
    struct Outgoing {
        uint64_t acknowledged = 0; // offset of the first kept byte
        std::string bytes;         // not yet acknowledged
        uint64_t sent = 0;         // on this channel; the end counts as one
        uint64_t most_sent = 0;    // on any channel
        uint64_t limit = stream_window_bytes;
        bool ended = false, is_end_acknowledged = false;
        bool was_full = false; // a write was cut short
        uint64_t length() const { return acknowledged + bytes.size(); }
    };
    struct Incoming {
        uint64_t start = 0; // offset of the first byte that was not read
        std::string bytes;
        uint64_t announced = stream_window_bytes; // limit
        bool ended = false, is_end_reported = false;
        bool is_window_due = false;
        uint64_t length() const { return start + bytes.size(); }
        uint64_t received() const { return length() + (ended ? 1 : 0); }
        uint64_t limit() const { return start + stream_window_bytes; }
    };
    struct Stream {
        StreamOpen open;
        bool reliable = true;
        bool is_ours = false;          // opened by this side
        bool is_open_sent = false;     // on this channel
        bool is_known_to_peer = false; // it opened it, or has sent a frame for it
        bool is_lost = false;          // it has forgotten it; bytes are still to be read
        Outgoing out;
        Incoming in;

        // A side forgets a stream when it has read everything and everything of its own has arrived.
        bool is_complete() const {
            return in.is_end_reported && out.ended && out.is_end_acknowledged && !in.is_window_due;
        }
    };
    using Streams = std::map<uint32_t, Stream>;

    Result<> take(const LinkFrame& frame);
    Result<> take_hello(std::string_view payload);
    Result<LinkHello> read_hello(std::string_view payload) const;
    Result<> check_hello(const LinkHello& hello) const;
    Result<> resume(const LinkHello& hello);
    Result<> resume_stream(const StreamPosition& position);
    Result<> take_open(const LinkFrame& frame);
    Result<> take_for_stream(const LinkFrame& frame);
    Result<> take_data(uint32_t number, Stream& stream, std::string_view payload);
    Result<> take_window(uint32_t number, Stream& stream, std::string_view payload);
    Result<> take_end(uint32_t number, Stream& stream, uint64_t offset);
    Result<> take_reset(const LinkFrame& frame);
    void acknowledge(Stream& stream, uint64_t acknowledged);
    void report_end(uint32_t number, Stream& stream);
    void forget_streams(const std::string& why, bool also_reliable);
    void forget_complete();
    void forget_if_complete(uint32_t number);
    Streams::iterator lose(Streams::iterator entry, const std::string& why);
    void append_hello(std::string& out);
    void append_controls(std::string& out);
    bool append_next(std::string& out, uint32_t number, Stream& stream);
    bool is_own_number(uint32_t number) const { return (number % 2 == 0) == (m_identity.side == LinkSide::server); }
    void add_event(LinkEvent::Kind kind, uint32_t stream, std::string text = {}) {
        m_events.push_back({kind, stream, {}, std::move(text)});
    }

    LinkIdentity m_identity;
    LinkFrameParser m_parser;
    Streams m_streams;
    uint32_t m_next_own, m_last_peer = 0;
    uint32_t m_turn = 0;                      // the stream that sent last
    std::map<uint32_t, std::string> m_resets; // to be sent
    std::vector<LinkEvent> m_events;
    LinkHello m_peer;
    std::string m_boot; // of the pod, once known
    bool m_connected = false, m_hello_sent = false, m_greeted = false, m_ping = false, m_pong = false;
};

} // namespace hone::kubernetes
