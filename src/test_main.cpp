#define DOCTEST_CONFIG_IMPLEMENT
#include <csignal>
#include <doctest/doctest.h>

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // as the server does
    return doctest::Context(argc, argv).run();
}
