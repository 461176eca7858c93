// Any bytes are read or refused as corrupt.
#include "otlp/attribute_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    hone::otlp::Batch batch;
    auto attributes = hone::otlp::read_attribute_text({reinterpret_cast<const char*>(data), size}, batch);
    std::string text;
    if (attributes.ok()) hone::otlp::append_attribute_text(text, attributes.value());
    return 0;
}
