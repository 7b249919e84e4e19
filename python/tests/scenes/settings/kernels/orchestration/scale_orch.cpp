// One task.
#include <stdint.h>

#include "pto_orchestration_api.h"

extern "C" void aicpu_orchestration_entry(const ChipTaskArgs &args) {
    CoreTaskArgs scale;
    scale.add_input(args.tensor(0).ref());
    scale.add_output(args.tensor(1).ref());
    rt_submit_aiv_task(0, scale);
}
