// Attention over keys and values that are kept in blocks: four tasks per block, in a scope per request for its running
// state and a scope per block for the rest.
#include <stdint.h>

#include "pto_orchestration_api.h"

enum Kernel { QK = 0, SF = 1, PV = 2, UP = 3 };

// Tensor arguments by place; the scalar is the scale of the scores.
enum Argument { QUERY = 0, KEY_CACHE = 1, VALUE_CACHE = 2, BLOCK_TABLE = 3, CONTEXT_LENS = 4, OUT = 5 };

// Heads that one task works on at most.
constexpr uint32_t kMostHeads = 128;

extern "C" {

PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs &) {
    return PTO2OrchestrationConfig{.expected_arg_count = 7};
}

void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    const ChipTensor &whole_query = args.tensor(QUERY).ref();
    const ChipTensor &whole_keys = args.tensor(KEY_CACHE).ref();
    const ChipTensor &block_table = args.tensor(BLOCK_TABLE).ref();
    const ChipTensor &context_lens = args.tensor(CONTEXT_LENS).ref();
    const uint64_t scale = args.scalar(0);
    const uint32_t batch = whole_query.shapes[0], heads = whole_query.shapes[1], head_dim = whole_query.shapes[2];
    const uint32_t blocks = whole_keys.shapes[0], block_size = whole_keys.shapes[1];
    const uint32_t tile = heads < kMostHeads ? heads : kMostHeads;

    // Everything as matrices: one row per head of a request, or per position of a cache.
    const uint32_t head_rows[2] = {batch * heads, head_dim};
    const uint32_t cache_rows[2] = {blocks * block_size, head_dim};
    const ChipTensor query = whole_query.reshape(head_rows, 2);
    const ChipTensor keys = whole_keys.reshape(cache_rows, 2);
    const ChipTensor values = args.tensor(VALUE_CACHE).ref().reshape(cache_rows, 2);
    const ChipTensor out = args.tensor(OUT).ref().reshape(head_rows, 2);

    const uint32_t score_shape[2] = {tile, block_size}, value_shape[2] = {tile, head_dim}, row_shape[1] = {tile};
    const TensorCreateInfo like_scores(score_shape, 2, DataType::FLOAT32);
    const TensorCreateInfo like_weights(score_shape, 2, DataType::BFLOAT16);
    const TensorCreateInfo like_values(value_shape, 2, DataType::FLOAT32);
    const TensorCreateInfo per_row(row_shape, 1, DataType::FLOAT32);

    for (uint32_t row = 0; row < batch * heads; row += tile) {
        PTO2_SCOPE() {
            const uint32_t request[1] = {row / heads};
            const uint32_t context = get_tensor_data<int32_t>(context_lens, 1, request);
            const TaskOutputTensors state = alloc_tensors(like_values, per_row, per_row);
            const ChipTensor &state_o = state.get_ref(0), &state_l = state.get_ref(1), &state_m = state.get_ref(2);
            const ChipTensor query_rows = query.slice(0, row, row + tile);
            const ChipTensor out_rows = out.slice(0, row, row + tile);
            const uint32_t count = (context + block_size - 1) / block_size;

            for (uint32_t position = 0; position < count; position++) {
                PTO2_SCOPE() {
                    const uint32_t place[2] = {request[0], position};
                    const uint32_t first = get_tensor_data<int32_t>(block_table, 2, place) * block_size;
                    const ChipTensor block_keys = keys.slice(0, first, first + block_size);
                    const ChipTensor block_values = values.slice(0, first, first + block_size);
                    const uint32_t left = context - position * block_size;

                    CoreTaskArgs qk;
                    qk.add_input(query_rows, block_keys);
                    qk.add_output(like_scores);
                    const TaskOutputTensors scored = rt_submit_aic_task(QK, qk);

                    const uint32_t inside_shape[2] = {tile, left < block_size ? left : block_size}, corner[2] = {0, 0};
                    const ChipTensor inside = scored.get_ref(0).view(inside_shape, corner);
                    CoreTaskArgs sf;
                    sf.add_input(inside);
                    sf.add_output(like_weights, per_row, per_row);
                    sf.add_scalar(scale);
                    const TaskOutputTensors weighed = rt_submit_aiv_task(SF, sf);

                    CoreTaskArgs pv;
                    pv.add_input(weighed.get_ref(0), block_values);
                    pv.add_output(like_values);
                    const TaskOutputTensors valued = rt_submit_aic_task(PV, pv);

                    CoreTaskArgs up;
                    up.add_input(weighed.get_ref(1), weighed.get_ref(2), valued.get_ref(0));
                    up.add_inout(state_m, state_l, state_o, out_rows);
                    up.add_scalar(uint64_t(position == 0));
                    up.add_scalar(uint64_t(position + 1 == count));
                    rt_submit_aiv_task(UP, up);
                }
            }
        }
    }
}

}  // extern "C"
