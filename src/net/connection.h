// One client connection as a state machine on its edge's thread: TLS handshake, heads, bodies, responses, streams,
// timeouts. Does not use Asio: the edge calls it when its socket is ready and when its deadline has passed.
#pragma once

#include "base/time.h"
#include "net/exchange.h"
#include "net/http/body_decoder.h"
#include "net/http/head_parser.h"
#include "net/loop.h"
#include "net/server.h"
#include "net/socket.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::net {

class Edge;

class Connection {
public:
    Connection(Edge& edge, uint64_t id, Socket socket, std::string peer);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void start();
    void on_ready(Ready ready);
    void on_deadline();
    // The edge stops: finish what has arrived, then close.
    void drain();
    // From a lane, by way of the edge.
    void on_response(PreparedResponse&& prepared);
    void close();
    // A pipe has room, a response buffer has something.
    void on_notify();

    Duration deadline() const { return m_deadline; } // zero: none
    const std::string& peer() const { return m_peer; }

    int64_t scheduled_tick = 0; // the edge's: the tick in which the timer wheel checks this connection next; 0: none

private:
    enum class Phase {
        handshake,
        idle,      // between requests
        head,      // some bytes of a head are in
        body,      // reading a body
        waiting,   // a lane has the request, whole
        streaming, // sending a response of unknown length
        events,    // the same, and open ended
        lingering, // response sent, half closed; reads until the client closes
        closed,
    };
    // The request under way, from its head to the end of its response.
    struct Current {
        ParsedRequest parsed;
        Plan plan;
        BodyDecoder decoder;
        std::string body;
        MemoryShare memory;
        std::shared_ptr<BodyPipe> pipe;
        std::shared_ptr<Cancel> cancel; // of a query: cancelled when its client disconnects
        std::string id;
        size_t body_limit = 0;
        uint64_t received = 0;
        Duration waited{}; // for bytes of the body, so far
        Duration waiting_since{};
        bool discard = false; // the response is known; the body is read only to keep the connection
        bool is_head = false;
        bool http_1_0 = false;
        bool keep_alive = true;
        bool chunked = false;     // framing of a streamed response; else it ends with the connection
        bool ends_itself = false; // an event stream that drain waits for
    };

    // Input.
    void pump();
    bool pump_once();
    void step_handshake();
    bool wants_input() const;
    bool read_input();
    void consume(std::string_view fresh);
    size_t parse(std::string_view bytes);
    size_t parse_head(std::string_view bytes);
    void on_end_of_input();

    // A request.
    void begin_request(ParsedRequest&& parsed);
    void respond_early(Response response);
    void begin_body();
    size_t parse_body(std::string_view bytes);
    void break_body(int status, Error error);
    void finish_body();
    void submit();
    void refuse(int status, std::string_view code, std::string_view message);

    // Its response.
    void respond(PreparedResponse&& prepared);
    void start_stream(PreparedResponse&& prepared, bool keep);
    std::string make_head(const Response& response, std::string_view framing, bool keep, size_t room);
    void take_buffered();
    void append_chunk(std::string_view bytes);
    void complete_stream();
    void drop_outlet();
    void finish_exchange(bool keep);

    // Output and time.
    bool is_response_incomplete() const {
        return has_output() || m_phase == Phase::streaming || m_phase == Phase::events;
    }
    bool has_output() const { return m_output_first < m_output.size(); }
    void enqueue(std::string&& bytes);
    bool flush();
    void arm();
    void wait(Ready ready);
    void set_deadline(Duration from_now);
    void set_body_deadline();
    void await_lane();
    void linger();

    struct Piece {
        std::string owned;
        std::string_view borrowed;
        std::string_view view() const { return owned.empty() ? borrowed : std::string_view(owned); }
        size_t size() const { return view().size(); }
    };

    Edge& m_edge;
    const uint64_t m_id;
    Socket m_socket;
    const std::string m_peer;
    std::unique_ptr<Watch> m_watch;
    Phase m_phase = Phase::idle;
    bool m_waits_read = false;
    bool m_waits_write = false;
    bool m_closing = false;     // close when the output is flushed
    bool m_parse_again = false; // m_input may make sense now
    bool m_read_dry = false;    // the last read took all there was
    Duration m_deadline{};
    HeadScanner m_scanner;
    std::string m_input; // read but not yet understood
    std::unique_ptr<Current> m_current;
    std::vector<Piece> m_output;
    size_t m_output_first = 0;  // pieces before it are sent
    size_t m_output_offset = 0; // bytes of that piece that are sent
    std::shared_ptr<ResponseBuffer> m_response_buffer;
    std::shared_ptr<Producer> m_producer;
};

} // namespace hone::net
