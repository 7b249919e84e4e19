// Graphs inside the graph: host_build_graph, August form.
//
// The reference records the body once and replays it with other boundary tensors and scalars. A body uses nothing but
// its parameters, so running it again describes the same tasks: that is what happens here, and every inner task has
// its own name and its own records.
#ifndef ARGUS_ORCHESTRATION_GRAPH_HPP_
#define ARGUS_ORCHESTRATION_GRAPH_HPP_

#include "argus/orchestration/api.hpp"

// The boundary of a graph: what its tasks read and write from outside.
class GraphTaskArgs : public Arg<128, 64> {};

namespace argus {

// The type as given, so that only the function pointer decides what the configuration values are.
template <typename T>
struct AsGiven {
    using Type = T;
};

}  // namespace argus

template <typename... Config>
TaskOutputTensors rt_submit_graph(void (*body)(const GraphTaskArgs &, Config...), const GraphTaskArgs &boundary,
                                  typename argus::AsGiven<Config>::Type... config) {
    const ArgusTaskArgs args = boundary.describe();
    ArgusOutputs outputs{UINT64_MAX, nullptr, 0, 0};
    const ArgusOrchestrationTable &table = argus::runtime();
    table.graph_begin(table.host, &args, &outputs);
    if (argus::is_fatal()) {
        return TaskOutputTensors();
    }
    body(boundary, config...);
    table.graph_end(table.host);
    return TaskOutputTensors(outputs);
}

// The id tells recordings of one function apart; nothing is recorded here.
template <typename... Config>
TaskOutputTensors rt_submit_graph(uint64_t, void (*body)(const GraphTaskArgs &, Config...),
                                  const GraphTaskArgs &boundary, typename argus::AsGiven<Config>::Type... config) {
    return rt_submit_graph(body, boundary, config...);
}

#endif  // ARGUS_ORCHESTRATION_GRAPH_HPP_
