// Five tasks per iteration, one for each way to combine a matrix core and vector cores of a cluster.
#include <stdint.h>

#include "pto_orchestration_api.h"

enum Kernel { MATMUL = 0, ADD = 1, MUL = 2, ADD_STANDALONE = 3, MUL_STANDALONE = 4 };

// Arguments: inputs a, b, d, e, g and h, then nine outputs.
constexpr int kOutputs = 6;

namespace {

// One matrix of a stack of them.
ChipTensor matrix(const ChipTaskArgs &args, int index, uint32_t iteration) {
    const ChipTensor &stack = args.tensor(index).ref();
    return stack.slice(0, iteration, iteration + 1);
}

void add_operands(CoreTaskArgs &task, const ChipTensor &x, const ChipTensor &y, const ChipTensor &z) {
    task.add_input(x, y);
    task.add_output(z);
}

void iterate(const ChipTaskArgs &args, uint32_t iteration) {
    const ChipTensor a = matrix(args, 0, iteration), b = matrix(args, 1, iteration);
    const ChipTensor d = matrix(args, 2, iteration), e = matrix(args, 3, iteration);
    const ChipTensor g = matrix(args, 4, iteration), h = matrix(args, 5, iteration);
    ChipTensor out[9];
    for (int index = 0; index < 9; index++) {
        out[index] = matrix(args, kOutputs + index, iteration);
    }

    CoreTaskArgs whole_cluster;
    add_operands(whole_cluster, a, b, out[0]);
    add_operands(whole_cluster, d, e, out[1]);
    add_operands(whole_cluster, g, h, out[2]);
    rt_submit_task(MixedKernels{MATMUL, ADD, MUL}, whole_cluster);

    CoreTaskArgs matrix_core;
    add_operands(matrix_core, a, b, out[3]);
    rt_submit_aic_task(MATMUL, matrix_core);

    CoreTaskArgs vector_core;
    add_operands(vector_core, d, e, out[4]);
    rt_submit_aiv_task(ADD_STANDALONE, vector_core);

    CoreTaskArgs both_vector_cores;
    add_operands(both_vector_cores, g, h, out[6]);
    add_operands(both_vector_cores, d, e, out[5]);
    rt_submit_task(MixedKernels{-1, ADD, MUL_STANDALONE}, both_vector_cores);

    CoreTaskArgs matrix_and_one_vector;
    add_operands(matrix_and_one_vector, a, b, out[7]);
    add_operands(matrix_and_one_vector, d, e, out[8]);
    rt_submit_task(MixedKernels{MATMUL, ADD, -1}, matrix_and_one_vector);
}

}  // namespace

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    const uint32_t iterations = args.tensor(0).ref().shapes[0];
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        iterate(args, iteration);
    }
}
