// The sub-commands of the binary that run without a server, or are one. Called by main.cpp on the main thread.
#pragma once

namespace hone::server {

int serve_main(int argc, char** argv);
int demo_main(int argc, char** argv);
int harness_main(int argc, char** argv);
int reset_password_main(int argc, char** argv);
int check_main(int argc, char** argv);
int restore_main(int argc, char** argv);
int migrate_main(int argc, char** argv);
int clickhouse_main(int argc, char** argv);
int print_main(int argc, char** argv);

} // namespace hone::server
