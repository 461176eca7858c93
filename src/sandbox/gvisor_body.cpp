#include "sandbox/body.h"
namespace hone::sandbox {
std::unique_ptr<Body> make_gvisor_body(const BodyPlan& plan, BodyListener& listener) {
    return make_namespace_body(plan, listener);
}
} // namespace hone::sandbox
