#include "kubernetes/link/link.h"

#include "base/text.h"

#include <algorithm>

namespace hone::kubernetes {

namespace {

constexpr size_t most_data_bytes = 32 << 10;                    // of one frame, so that streams take turns
constexpr uint64_t window_step_bytes = stream_window_bytes / 4; // read before the peer is notified
constexpr size_t most_reason_bytes = 512;

} // namespace

Link::Link(LinkIdentity identity)
    : m_identity(std::move(identity)),
      m_next_own(m_identity.side == LinkSide::server ? 2 : 1) {
    m_streams[calls_stream].is_known_to_peer = true;
}

// --- the channel -----------------------------------------------------------------------------------------------------

void Link::connected() {
    disconnected();
    m_connected = true;
}

void Link::disconnected() {
    m_connected = m_hello_sent = m_greeted = m_ping = m_pong = false;
    m_parser.clear();
    m_resets.clear(); // the peer's next hello shows what it still has
    forget_streams("the channel was lost", false);
    for (auto& [number, stream] : m_streams) stream.is_open_sent = false;
}

void Link::forget_streams(const std::string& why, bool also_reliable) {
    for (auto entry = m_streams.begin(); entry != m_streams.end();) {
        auto& [number, stream] = *entry;
        if (stream.reliable && !also_reliable) {
            ++entry;
            continue;
        }
        if (number == calls_stream) {
            add_event(LinkEvent::Kind::reset, number, why);
            stream = {};
            stream.is_known_to_peer = true;
            ++entry;
        } else {
            entry = lose(entry, why);
        }
    }
}

// The other side does not have this stream any more. One that has ended in both directions it has forgotten, after it
// had everything; what was received of it is still to be read.
Link::Streams::iterator Link::lose(Streams::iterator entry, const std::string& why) {
    auto& [number, stream] = *entry;
    if (!stream.in.ended || !stream.out.ended) {
        add_event(LinkEvent::Kind::reset, number, why);
        return m_streams.erase(entry);
    }
    stream.out.is_end_acknowledged = true;
    stream.in.is_window_due = false;
    stream.is_lost = true;
    return stream.is_complete() ? m_streams.erase(entry) : std::next(entry);
}

Result<> Link::feed(std::string_view bytes) {
    if (!m_connected) return internal("bytes without a channel");
    return m_parser.feed(bytes, [this](const LinkFrame& frame) { return take(frame); });
}

Result<> Link::take(const LinkFrame& frame) {
    if (m_greeted == (frame.kind == LinkFrameKind::hello))
        return corrupt(m_greeted ? "a second hello" : "a frame before the hello");
    switch (frame.kind) {
    case LinkFrameKind::hello:
        return take_hello(frame.payload);
    case LinkFrameKind::open:
        return take_open(frame);
    case LinkFrameKind::ping:
        m_pong = true;
        return {};
    case LinkFrameKind::pong:
        return {};
    case LinkFrameKind::data:
    case LinkFrameKind::window:
    case LinkFrameKind::end:
    case LinkFrameKind::reset:
        break;
    }
    return take_for_stream(frame);
}

// --- hello -----------------------------------------------------------------------------------------------------------

Result<> Link::check_hello(const LinkHello& hello) const {
    if (hello.version != link_version)
        return conflict("the other side uses version " + std::to_string(hello.version) + " of the frames, not " +
                        std::to_string(link_version));
    if (hello.sandbox != m_identity.sandbox) return conflict("the channel leads to another sandbox");
    if (hello.streams.size() > 2 * most_streams + 1) return corrupt("a hello with too many streams");
    if (m_identity.side == LinkSide::pod) {
        if (hello.session.empty()) return corrupt("a hello without a session");
        if (hello.epoch < m_identity.epoch) return conflict("a newer server has this sandbox");
        return {};
    }
    if (hello.boot.empty()) return corrupt("a hello without a boot id");
    if (hello.session != m_identity.session || hello.epoch != m_identity.epoch)
        return conflict("the sandbox serves another server");
    return {};
}

Result<LinkHello> Link::read_hello(std::string_view payload) const {
    auto read = json::read<LinkHello>(payload);
    if (!read.ok()) return corrupt("a hello that cannot be read: " + read.error().message);
    TRY(check_hello(read.value()));
    return read;
}

Result<bool> Link::would_accept(std::string_view first_bytes) const {
    bool is_accepted = false;
    LinkFrameParser parser;
    TRY(parser.feed(first_bytes, [&](const LinkFrame& frame) -> Result<> {
        if (is_accepted) return {};
        if (frame.kind != LinkFrameKind::hello) return corrupt("a frame before the hello");
        TRY(read_hello(frame.payload));
        is_accepted = true;
        return {};
    }));
    return is_accepted;
}

Result<> Link::take_hello(std::string_view payload) {
    m_peer = TRY(read_hello(payload));
    if (m_identity.side == LinkSide::pod) {
        if (m_identity.session != m_peer.session) {
            if (!m_identity.session.empty()) forget_streams("another server took the sandbox over", true);
            m_last_peer = 0;
        }
        m_identity.session = m_peer.session;
        m_identity.epoch = m_peer.epoch;
        // The server talks about streams of a process that is no more; it will see that from our hello.
        if (!m_peer.boot.empty() && m_peer.boot != m_identity.boot) m_peer.streams.clear();
    } else {
        if (m_boot != m_peer.boot) {
            if (!m_boot.empty()) forget_streams("the sandbox was started again", true);
            m_last_peer = 0;
        }
        m_boot = m_peer.boot;
    }
    m_greeted = true;
    TRY(resume(m_peer));
    add_event(LinkEvent::Kind::greeted, calls_stream);
    return {};
}

// What the peer lists continues from where it is; what it does not list has never reached it, or is over there.
Result<> Link::resume(const LinkHello& hello) {
    std::set<uint32_t> listed;
    for (const StreamPosition& position : hello.streams) {
        if (position.stream < 0 || position.stream > UINT32_MAX || position.received < 0 || position.limit < 0)
            return corrupt("a hello with a wrong number");
        if (!listed.insert(static_cast<uint32_t>(position.stream)).second)
            return corrupt("a hello that lists a stream twice");
        TRY(resume_stream(position));
    }
    for (auto entry = m_streams.begin(); entry != m_streams.end();) {
        auto& [number, stream] = *entry;
        if (number == calls_stream || listed.contains(number) || stream.is_lost) {
            ++entry;
        } else if (stream.is_ours && !stream.is_known_to_peer) {
            stream.out.sent = 0;
            ++entry;
        } else {
            entry = lose(entry, "the other side has no such stream");
        }
    }
    forget_complete();
    return {};
}

Result<> Link::resume_stream(const StreamPosition& position) {
    const auto number = static_cast<uint32_t>(position.stream);
    const auto received = static_cast<uint64_t>(position.received);
    const auto found = m_streams.find(number);
    if (found == m_streams.end() || found->second.is_lost) {
        if (is_own_number(number) && number >= m_next_own) return corrupt("a stream that was never opened");
        // One of the peer's that has not arrived is opened again by it.
        if (is_own_number(number) || number <= m_last_peer) m_resets[number] = "unknown stream";
        return {};
    }
    Stream& stream = found->second;
    if (received < stream.out.acknowledged || received > stream.out.most_sent)
        return corrupt("a hello with a wrong offset");
    stream.is_known_to_peer = stream.is_open_sent = true;
    acknowledge(stream, received);
    stream.out.sent = received;
    stream.out.limit = static_cast<uint64_t>(position.limit);
    if (stream.out.was_full) {
        stream.out.was_full = false;
        add_event(LinkEvent::Kind::writable, number);
    }
    return {};
}

void Link::append_hello(std::string& out) {
    LinkHello hello;
    hello.sandbox = m_identity.sandbox;
    hello.epoch = m_identity.epoch;
    hello.session = m_identity.session;
    hello.boot = m_identity.side == LinkSide::pod ? m_identity.boot : m_boot;
    for (auto& [number, stream] : m_streams) {
        if (!stream.reliable || stream.is_lost) continue;
        hello.streams.push_back(
            {number, static_cast<int64_t>(stream.in.received()), static_cast<int64_t>(stream.in.limit())});
        stream.in.announced = stream.in.limit();
        stream.in.is_window_due = false;
    }
    append_link_frame(out, LinkFrameKind::hello, 0, json::write(hello));
    m_hello_sent = true;
    forget_complete();
}

// --- frames of streams -----------------------------------------------------------------------------------------------

Result<> Link::take_open(const LinkFrame& frame) {
    if (frame.stream == calls_stream || is_own_number(frame.stream)) return corrupt("a stream with a wrong number");
    const auto read = json::read<StreamOpen>(frame.payload);
    if (!read.ok()) return corrupt("an open that cannot be read: " + read.error().message);
    if (frame.stream <= m_last_peer) return corrupt("a stream was opened twice");
    const auto theirs =
        std::count_if(m_streams.begin(), m_streams.end(), [](const auto& entry) { return !entry.second.is_ours; });
    if (theirs > static_cast<int64_t>(most_streams)) return corrupt("too many streams");
    m_last_peer = frame.stream;
    Stream& stream = m_streams[frame.stream];
    stream.open = read.value();
    stream.reliable = is_reliable(stream.open.kind);
    stream.is_open_sent = stream.is_known_to_peer = true;
    stream.in.is_window_due = true; // shows the peer that it is open
    m_events.push_back({LinkEvent::Kind::opened, frame.stream, stream.open, {}});
    return {};
}

Result<> Link::take_for_stream(const LinkFrame& frame) {
    const auto found = m_streams.find(frame.stream);
    if (found == m_streams.end() || found->second.is_lost) {
        const bool was_open = is_own_number(frame.stream) ? frame.stream < m_next_own : frame.stream <= m_last_peer;
        return was_open ? Result<>() : corrupt("a frame for a stream that was never opened");
    }
    if (frame.kind == LinkFrameKind::reset) return take_reset(frame);
    Stream& stream = found->second;
    if (!stream.is_open_sent && stream.is_ours) return corrupt("a frame for a stream before it was opened");
    stream.is_known_to_peer = true;
    if (frame.kind == LinkFrameKind::data) return take_data(frame.stream, stream, frame.payload);
    if (frame.kind == LinkFrameKind::end) return take_end(frame.stream, stream, read_u64(frame.payload));
    return take_window(frame.stream, stream, frame.payload);
}

Result<> Link::take_data(uint32_t number, Stream& stream, std::string_view payload) {
    const uint64_t offset = read_u64(payload);
    payload.remove_prefix(8);
    Incoming& in = stream.in;
    if (offset > in.length()) return corrupt("a gap in stream " + std::to_string(number));
    const uint64_t known = in.length() - offset; // sent again, after a lost channel
    if (known >= payload.size()) return {};
    if (in.ended) return corrupt("bytes after the end of stream " + std::to_string(number));
    if (offset + payload.size() > in.limit())
        return corrupt("stream " + std::to_string(number) + " exceeds its window");
    if (in.bytes.empty()) add_event(LinkEvent::Kind::readable, number);
    in.bytes += payload.substr(static_cast<size_t>(known));
    return {};
}

Result<> Link::take_end(uint32_t number, Stream& stream, uint64_t offset) {
    if (number == calls_stream) return corrupt("the end of the calls");
    if (offset != stream.in.length())
        return corrupt("the end of stream " + std::to_string(number) + " at a wrong offset");
    stream.in.ended = true;
    stream.in.is_window_due = true;
    report_end(number, stream);
    return {};
}

void Link::report_end(uint32_t number, Stream& stream) {
    if (!stream.in.ended || !stream.in.bytes.empty() || stream.in.is_end_reported) return;
    stream.in.is_end_reported = true;
    add_event(LinkEvent::Kind::ended, number);
}

void Link::acknowledge(Stream& stream, uint64_t acknowledged) {
    Outgoing& out = stream.out;
    const uint64_t bytes = std::min(acknowledged, out.length()) - out.acknowledged;
    if (out.ended && acknowledged > out.length()) out.is_end_acknowledged = true;
    out.bytes.erase(0, static_cast<size_t>(bytes));
    out.acknowledged += bytes;
}

Result<> Link::take_window(uint32_t number, Stream& stream, std::string_view payload) {
    const uint64_t acknowledged = read_u64(payload);
    Outgoing& out = stream.out;
    if (acknowledged > out.sent) return corrupt("stream " + std::to_string(number) + " acknowledges what was not sent");
    out.limit = std::max(out.limit, read_u64(payload.substr(8)));
    if (acknowledged < out.acknowledged) return {};
    acknowledge(stream, acknowledged);
    if (out.was_full && out.bytes.size() < stream_window_bytes) {
        out.was_full = false;
        add_event(LinkEvent::Kind::writable, number);
    }
    forget_if_complete(number);
    return {};
}

Result<> Link::take_reset(const LinkFrame& frame) {
    if (frame.stream == calls_stream) return corrupt("a reset of the calls");
    const auto found = m_streams.find(frame.stream);
    lose(found, repair_utf8(frame.payload));
    return {};
}

void Link::forget_complete() {
    std::erase_if(m_streams,
                  [](const auto& entry) { return entry.first != calls_stream && entry.second.is_complete(); });
}

void Link::forget_if_complete(uint32_t number) {
    const auto found = m_streams.find(number);
    if (found != m_streams.end() && number != calls_stream && found->second.is_complete()) m_streams.erase(found);
}

// --- output ----------------------------------------------------------------------------------------------------------

void Link::append_controls(std::string& out) {
    if (std::exchange(m_pong, false)) append_link_frame(out, LinkFrameKind::pong, 0, "");
    if (std::exchange(m_ping, false)) append_link_frame(out, LinkFrameKind::ping, 0, "");
    for (const auto& [number, why] : m_resets)
        append_link_frame(out, LinkFrameKind::reset, number, truncate_utf8(why, most_reason_bytes));
    m_resets.clear();
    for (auto& [number, stream] : m_streams) {
        if (stream.is_lost) continue;
        if (stream.is_ours && !stream.is_open_sent) { // in the order of their numbers, which the peer checks
            append_link_frame(out, LinkFrameKind::open, number, json::write(stream.open));
            stream.is_open_sent = true;
        }
        if (!stream.in.is_window_due) continue;
        std::string payload;
        append_u64(payload, stream.in.received());
        append_u64(payload, stream.in.limit());
        append_link_frame(out, LinkFrameKind::window, number, payload);
        stream.in.announced = stream.in.limit();
        stream.in.is_window_due = false;
    }
    forget_complete();
}

// The next frame of this stream; false when it has none.
bool Link::append_next(std::string& out, uint32_t number, Stream& stream) {
    Outgoing& sending = stream.out;
    if (stream.is_lost) return false;
    const uint64_t end = std::min(sending.length(), sending.limit);
    if (sending.sent < end) {
        const auto at = static_cast<size_t>(sending.sent - sending.acknowledged);
        const auto count = static_cast<size_t>(std::min<uint64_t>(end - sending.sent, most_data_bytes));
        std::string payload;
        payload.reserve(8 + count);
        append_u64(payload, sending.sent);
        payload += std::string_view(sending.bytes).substr(at, count);
        append_link_frame(out, LinkFrameKind::data, number, payload);
        sending.sent += count;
    } else if (sending.ended && sending.sent == sending.length()) {
        std::string payload;
        append_u64(payload, sending.length());
        append_link_frame(out, LinkFrameKind::end, number, payload);
        ++sending.sent;
    } else {
        return false;
    }
    sending.most_sent = std::max(sending.most_sent, sending.sent);
    return true;
}

std::string Link::take_output(size_t most) {
    std::string out;
    if (!m_connected) return out;
    // A pod waits for the server's hello: its own one names the server that it serves.
    if (!m_hello_sent && (m_identity.side == LinkSide::server || m_greeted)) append_hello(out);
    if (!m_greeted || !m_hello_sent) return out;
    append_controls(out);
    for (size_t idle = 0; idle < m_streams.size() && out.size() < most;) {
        auto next = m_streams.upper_bound(m_turn);
        if (next == m_streams.end()) next = m_streams.begin();
        m_turn = next->first;
        idle = append_next(out, next->first, next->second) ? 0 : idle + 1;
    }
    return out;
}

// --- streams ---------------------------------------------------------------------------------------------------------

Result<uint32_t> Link::open(const StreamOpen& what) {
    const auto ours =
        std::count_if(m_streams.begin(), m_streams.end(), [](const auto& entry) { return entry.second.is_ours; });
    if (ours >= static_cast<int64_t>(most_streams)) return conflict("too many streams are open in this sandbox");
    if (m_next_own > UINT32_MAX - 2) return conflict("the numbers of streams are used up");
    const uint32_t number = m_next_own;
    m_next_own += 2;
    Stream& stream = m_streams[number];
    stream.open = what;
    stream.reliable = is_reliable(what.kind);
    stream.is_ours = true;
    return number;
}

size_t Link::write(uint32_t stream, std::string_view bytes) {
    const auto found = m_streams.find(stream);
    if (found == m_streams.end() || found->second.out.ended) return 0;
    Outgoing& out = found->second.out;
    const size_t count = std::min(bytes.size(), stream_window_bytes - out.bytes.size());
    out.bytes += bytes.substr(0, count);
    if (count < bytes.size()) out.was_full = true;
    return count;
}

void Link::end(uint32_t stream) {
    const auto found = m_streams.find(stream);
    if (found != m_streams.end() && stream != calls_stream) found->second.out.ended = true;
}

void Link::reset(uint32_t stream, const std::string& why) {
    const auto found = m_streams.find(stream);
    if (found == m_streams.end() || stream == calls_stream) return;
    // Ended in both directions: it is over as soon as its last bytes have arrived, and not before.
    if (found->second.in.is_end_reported && found->second.out.ended && !found->second.is_lost) return;
    if (found->second.is_open_sent && !found->second.is_lost) m_resets[stream] = why;
    m_streams.erase(found);
}

std::string Link::read(uint32_t stream, size_t most) {
    const auto found = m_streams.find(stream);
    if (found == m_streams.end()) return {};
    Incoming& in = found->second.in;
    std::string taken;
    if (most >= in.bytes.size()) {
        taken.swap(in.bytes);
    } else {
        taken = in.bytes.substr(0, most);
        in.bytes.erase(0, most);
    }
    in.start += taken.size();
    if (in.limit() - in.announced >= window_step_bytes && !found->second.is_lost) in.is_window_due = true;
    report_end(stream, found->second);
    forget_if_complete(stream);
    return taken;
}

std::vector<LinkEvent> Link::take_events() {
    return std::exchange(m_events, {});
}

} // namespace hone::kubernetes
