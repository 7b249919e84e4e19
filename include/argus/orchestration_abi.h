/* The boundary between an orchestration object and the runtime that loads it.
 *
 * An object exports one function, argus_orchestration(), that describes it. The runtime checks size and ABI number,
 * then binds a table of functions for the length of one call. Plain C: no type here has a constructor, and no
 * exception or panic crosses in either direction.
 *
 * Entries are only ever appended. A change of anything that stands is a new ABI number.
 */
#ifndef ARGUS_ORCHESTRATION_ABI_H_
#define ARGUS_ORCHESTRATION_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_ORCHESTRATION_ABI 1u

/* Which names and limits the object was compiled with. */
#define ARGUS_GENERATION_APRIL 4u
#define ARGUS_GENERATION_JUNE 6u
#define ARGUS_GENERATION_AUGUST 8u

/* Which builder the object talks to. */
#define ARGUS_RUNTIME_TRB 1u        /* tensormap_and_ringbuffer */
#define ARGUS_RUNTIME_HBG_RAW 2u    /* host_build_graph, tasks and edges made by hand */
#define ARGUS_RUNTIME_HBG_TENSOR 3u /* host_build_graph, the trb interface ahead of the run */
#define ARGUS_RUNTIME_ABG 4u        /* aicpu_build_graph */

/* How a tensor was added to a task. */
#define ARGUS_TENSOR_INPUT 0u
#define ARGUS_TENSOR_OUTPUT 1u /* points to an ArgusCreateInfo, all others to an ArgusTensor */
#define ARGUS_TENSOR_INOUT 2u
#define ARGUS_TENSOR_OUTPUT_EXISTING 3u
#define ARGUS_TENSOR_NO_DEP 4u

#define ARGUS_LOG_ERROR 0u
#define ARGUS_LOG_WARN 1u
#define ARGUS_LOG_TIMING 2u
#define ARGUS_LOG_INFO 3u
#define ARGUS_LOG_DEBUG 4u

/* What a call of the object's code came to. */
#define ARGUS_CALL_DONE 0
#define ARGUS_CALL_THREW 1

/* The 128-byte tensor descriptor; argus/tensor.hpp gives it methods. */
typedef struct ArgusTensor {
    uint64_t addr;
    uint64_t size;
    uint64_t owner_task_id;
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    uint8_t dtype;
    uint8_t manual_dep;
    uint8_t is_contiguous;
    uint8_t address_space;
    uint32_t shapes[5];
    uint64_t extent;
    uint32_t strides[5];
    uint8_t reserved[36];
} ArgusTensor;

/* A tensor that the runtime is to allocate. */
typedef struct ArgusCreateInfo {
    uint64_t initial_value;
    uint8_t has_initial_value;
    uint8_t reserved[15];
    uint64_t start_offset;
    int32_t version;
    uint32_t ndims;
    uint8_t dtype;
    uint8_t manual_dep;
    uint8_t is_contiguous;
    uint8_t padding;
    uint32_t shapes[5];
} ArgusCreateInfo;

/* A condition on one element of device memory, looked at when the task is ready. */
typedef struct ArgusPredicate {
    const ArgusTensor *tensor;
    int64_t target;
    uint32_t op; /* 0 none, 1 ==, 2 !=, 3 >, 4 <, 5 >=, 6 <= */
    uint32_t ndims;
    uint32_t indices[5];
    uint32_t reserved;
} ArgusPredicate;

/* One task's arguments. Nothing in it is kept beyond the call. */
typedef struct ArgusTaskArgs {
    const void *const *tensors;
    const uint8_t *tensor_kinds;
    const uint64_t *scalars;
    const uint8_t *scalar_dtypes;
    const uint64_t *dependencies;
    const ArgusPredicate *predicate; /* null: none */
    const char *error;               /* null: none; else the first mistake while it was filled */
    uint64_t marks;                  /* bit per argument marked for capture */
    uint32_t tensor_count;
    uint32_t scalar_count;
    uint32_t dependency_count;
    int32_t blocks;
    uint8_t sync_start;
    uint8_t early_resolve;
    int8_t timing_slot; /* -1: none */
    uint8_t reserved[5];
} ArgusTaskArgs;

/* Kernels by their place in the cluster; -1: none. */
typedef struct ArgusKernels {
    int32_t aic;
    int32_t aiv0;
    int32_t aiv1;
} ArgusKernels;

/* What a submission gives back. The tensors stay where they are until the run ends. */
typedef struct ArgusOutputs {
    uint64_t task_id;
    const ArgusTensor *tensors;
    uint32_t count;
    uint32_t reserved;
} ArgusOutputs;

/* The dump's view of one argument of a raw kernel. */
typedef struct ArgusTensorInfo {
    uint8_t dtype;
    uint8_t ndims;
    uint16_t reserved;
    uint32_t shapes[5];
    uint32_t raw_shapes[5];
    uint32_t offsets[5];
} ArgusTensorInfo;

/* The arguments of the entry function. Tensors lie in device memory, or in host memory for ARGUS_RUNTIME_HBG_RAW. */
typedef struct ArgusEntryArgs {
    const ArgusTensor *tensors;
    const uint64_t *scalars;
    uint32_t tensor_count;
    uint32_t scalar_count;
} ArgusEntryArgs;

/* What the runtime offers. `host` is passed back as it is. After a fatal error every call is inert. */
typedef struct ArgusOrchestrationTable {
    uint32_t size;
    uint32_t abi;
    void *host;
    void (*submit)(void *host, const ArgusKernels *kernels, const ArgusTaskArgs *args, ArgusOutputs *outputs);
    void (*submit_dummy)(void *host, const ArgusTaskArgs *args, ArgusOutputs *outputs);
    void (*alloc_tensors)(void *host, const ArgusTaskArgs *args, ArgusOutputs *outputs);
    void (*scope_begin)(void *host, int32_t manual, const char *file, int32_t line);
    void (*scope_end)(void *host);
    int32_t (*is_fatal)(void *host);
    void (*report_fatal)(void *host, int32_t code, const char *function, const char *message);
    void (*log)(void *host, uint32_t level, const char *function, const char *message);
    uint64_t (*get_tensor_data)(void *host, const ArgusTensor *tensor, uint32_t ndims, const uint32_t *indices);
    void (*set_tensor_data)(void *host, const ArgusTensor *tensor, uint32_t ndims, const uint32_t *indices,
                            uint64_t value);
    int32_t (*cluster_count)(void *host);
    int32_t (*aiv_count)(void *host);
    void (*dump_marked_only)(void *host);
    void (*graph_begin)(void *host, const ArgusTaskArgs *args, ArgusOutputs *outputs);
    void (*graph_end)(void *host);
    void (*add_dependency)(void *host, uint64_t producer, uint64_t consumer);
    void *(*device_malloc)(void *host, size_t size);
    void (*device_free)(void *host, void *addr);
    int32_t (*copy_to_device)(void *host, void *device, const void *from, size_t size);
    void (*record_tensor_pair)(void *host, void *to, void *device, size_t size);
    int32_t (*add_task)(void *host, const uint64_t *args, int32_t arg_count, int32_t func_id, int32_t core_type);
    void (*add_successor)(void *host, int32_t from, int32_t to);
    int32_t (*set_tensor_info)(void *host, int32_t task, const ArgusTensorInfo *infos, int32_t count);
    int32_t (*task_count)(void *host);
} ArgusOrchestrationTable;

/* What an object is, and how its code is called. */
typedef struct ArgusOrchestrationObject {
    uint32_t size;
    uint32_t abi;
    uint32_t generation;
    uint32_t runtime;
    /* The runtime of this thread; null unbinds. */
    void (*bind)(const ArgusOrchestrationTable *table);
    /* Calls the object's entry function. What it returned is in `returned`; what it threw, as text, in `message`. */
    int32_t (*call)(void *entry, const ArgusEntryArgs *args, int32_t *returned, char *message, size_t message_size);
    /* Calls the object's configuration function. */
    int32_t (*configure)(void *function, const ArgusEntryArgs *args, int32_t *expected_arg_count, char *message,
                         size_t message_size);
} ArgusOrchestrationObject;

#define ARGUS_ORCHESTRATION_SYMBOL "argus_orchestration"

typedef const ArgusOrchestrationObject *(*ArgusOrchestrationFunction)(void);

#ifdef __cplusplus
}
#endif

#endif /* ARGUS_ORCHESTRATION_ABI_H_ */
