// The engine as a program of its own, for tests and benchmarks; in the product it is `hone engine`.
#include "telemetry/engine/engine.h"

int main(int argc, char** argv) {
    return hone::telemetry::engine_main(argc, argv);
}
