// `hone-engine`: the child process that hosts the embedded ClickHouse engine. It owns one directory, implements the
// part of ClickHouse's HTTP interface that we use over a unix socket, and can reach nothing else
// (engine_confinement.h).
//   hone-engine --directory DIR --socket PATH [--library PATH] [--memory-bytes N] [--threads N]
// It ends when its standard input ends, so it never outlives the server that started it. When it cannot start, its
// standard output has the reason.
#pragma once

namespace hone::telemetry {

int engine_main(int argc, char** argv);

} // namespace hone::telemetry
