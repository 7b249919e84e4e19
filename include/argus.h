/* The C API of Argus: programs from C++ sources, captured runs, dumps and their records.
 *
 * Every function that can fail returns a status, ARGUS_OK or one of ARGUS_ERROR_*; argus_last_error() then says in
 * words what was wrong. Texts are UTF-8 that ends with a zero byte. Structures that a caller fills in begin with
 * their size, so that a program compiled with an older header works with a newer library: set every other field to
 * zero first, zero always means the default.
 *
 * Objects may be used by one thread at a time, unless something else is said. Generated from crates/argus-c. */


#ifndef ARGUS_H
#define ARGUS_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface. A library of another version has functions that behave differently.
#define ARGUS_API_VERSION 1

// Nothing is captured.
#define ARGUS_DUMP_OFF 0

// Every argument of every task.
#define ARGUS_DUMP_FULL 1

// Only arguments that the orchestration marks.
#define ARGUS_DUMP_PARTIAL 2

// Metadata of all, payloads of marked ones.
#define ARGUS_DUMP_HYBRID 3

// Before the task was dispatched.
#define ARGUS_STAGE_BEFORE 0

// After it was complete.
#define ARGUS_STAGE_AFTER 1

// Most dimensions a tensor has.
#define ARGUS_MAX_DIMS 5

// Elements of 32 bits, IEEE floats.
#define ARGUS_F32 0

#define ARGUS_F16 1

#define ARGUS_I32 2

#define ARGUS_I16 3

#define ARGUS_I8 4

#define ARGUS_U8 5

#define ARGUS_BF16 6

#define ARGUS_I64 7

#define ARGUS_U64 8

#define ARGUS_U16 9

#define ARGUS_U32 10

#define ARGUS_BOOL 11

#define ARGUS_FP8_E4M3FN 12

#define ARGUS_FP8_E8M0 13

// Elements of 4 bits: two share a byte, the even one in the low half.
#define ARGUS_FP4_E2M1 14

// A number, not a tensor.
#define ARGUS_SCALAR 0

// The kernel or the run reads it.
#define ARGUS_IN 1

// It is written.
#define ARGUS_OUT 2

// It is read and written.
#define ARGUS_INOUT 3

// The matrix core of a cluster.
#define ARGUS_CORE_AIC 0

// A vector core.
#define ARGUS_CORE_AIV 1

// The call did what it says.
#define ARGUS_OK 0

// An argument is invalid: null, an unknown number, a size that does not fit.
#define ARGUS_ERROR_USAGE 1

// There is no compiler, or it refused a source; argus_last_error() has what it printed.
#define ARGUS_ERROR_COMPILE 2

// A compiled object cannot be used: no entry, another signature, kernels that do not make up a program.
#define ARGUS_ERROR_LOAD 3

// The run failed: a kernel's fault, a fatal error of the orchestration, a run that is stuck.
#define ARGUS_ERROR_RUN 4

// The run ended well and its dump is not what was asked for: records lost, a disk that is full.
#define ARGUS_ERROR_CAPTURE 5

// A dump cannot be read, or a payload of it is damaged.
#define ARGUS_ERROR_DUMP 6

// A defect of the library.
#define ARGUS_ERROR_INTERNAL 7

// A simulated device: a chip with its memory.
typedef struct argus_device argus_device;

// An open dump.
typedef struct argus_dump argus_dump;

// A program: sources until it is loaded, code afterwards.
typedef struct argus_program argus_program;

// A tensor argument of a run, in the caller's memory.
typedef struct {
    // sizeof(argus_tensor)
    size_t size;
    // What dumps call it; may be null.
    const char *name;
    // ARGUS_F32 to ARGUS_FP4_E2M1
    int32_t dtype;
    // ARGUS_IN, ARGUS_OUT or ARGUS_INOUT: whether `data` is written when the run succeeds.
    int32_t direction;
    // Extents, the slowest first.
    const uint32_t *shape;
    size_t rank;
    // The elements, without gaps. They are copied to the device before the run, and back after it.
    void *data;
    // As many as dtype and shape say.
    size_t bytes;
} argus_tensor;

// How a program is run. All zeros, apart from the size, is a run without capture.
typedef struct {
    // sizeof(argus_run_options)
    size_t size;
    // The directory of the run; the dump goes to tensor_dump in it. Needed when something is captured. It is made if
    // it does not exist, and must not hold a dump.
    const char *output_prefix;
    // ARGUS_DUMP_OFF, ARGUS_DUMP_FULL, ARGUS_DUMP_PARTIAL or ARGUS_DUMP_HYBRID
    int32_t enable_dump_tensor;
    // Not 0: the orchestration's own arguments are in the manifest.
    int32_t enable_dump_args;
    // Capture only what matches "key=value[,key=value]", as --dump-select; null: everything.
    const char *dump_select;
    // What the dump calls the program and its case; may be null.
    const char *scene;
    const char *case_name;
    // Clusters to use; 0: as many as the chip has.
    uint32_t block_dim;
    // Control threads; 0: as many as the chip has.
    uint32_t control_threads;
    // Longest time without progress, in milliseconds; 0: the default.
    uint64_t timeout_ms;
    // Not 0: only the edges that the reference tracks, as --deps reference.
    int32_t reference_edges;
    // Not 0: the graph goes to deps.json in the directory of the run, in the reference's form. It is made of what was
    // captured, so something must be.
    int32_t enable_dep_gen;
    // Not 0: when each task ran goes to chip_swimlane_records.json, likewise. There is no option for counters of the
    // chip: no simulated core has any.
    int32_t enable_chip_swimlane;
} argus_run_options;

// What a run was.
typedef struct {
    // sizeof(argus_run_report), set by the caller
    size_t size;
    // Tasks of the graph. 0 if the run failed.
    uint64_t tasks;
    // From the start to the last task's completion. 0 if the run failed.
    uint64_t elapsed_ns;
    // Records in the dump. They are there for a run that failed, too.
    uint64_t records;
    // The code of a fatal error, such as 9 for rt_fatal; 0: none.
    int32_t fatal_code;
} argus_run_report;

// One argument of one task at one stage.
typedef struct {
    // sizeof(argus_record), set by the caller
    size_t size;
    uint64_t task_id;
    // The kernels of the task, joined by "+"; empty where the dump does not know. It lives as long as the dump.
    const char *kernel;
    // The argument's slot.
    uint32_t argument;
    // ARGUS_STAGE_BEFORE or ARGUS_STAGE_AFTER
    int32_t stage;
    // ARGUS_IN, ARGUS_OUT or ARGUS_INOUT
    int32_t role;
    // 1: a scalar, whose bits are in `scalar` if `scalar_known` is 1
    int32_t is_scalar;
    int32_t scalar_known;
    // ARGUS_F32 to ARGUS_FP4_E2M1; -1: unknown
    int32_t dtype;
    uint64_t scalar;
    uint32_t rank;
    // 1: the task had not completed
    int32_t partial;
    // Extents and strides of the view, in elements.
    uint64_t shape[ARGUS_MAX_DIMS];
    uint64_t strides[ARGUS_MAX_DIMS];
    // Bytes of its payload; 0: none was kept.
    uint64_t payload_bytes;
} argus_record;

// A kernel of a program.
typedef struct {
    // sizeof(argus_kernel_source)
    size_t size;
    // The number by which the orchestration submits it.
    uint32_t func_id;
    // ARGUS_CORE_AIC or ARGUS_CORE_AIV
    int32_t core;
    // What dumps and messages call it.
    const char *name;
    // The path of its C++ source.
    const char *source;
    // What it does with each argument: ARGUS_IN, ARGUS_OUT, ARGUS_INOUT, ARGUS_SCALAR. May be empty.
    const int32_t *signature;
    size_t signature_length;
} argus_kernel_source;

// The orchestration of a program.
typedef struct {
    // sizeof(argus_orchestration_source)
    size_t size;
    // The path of its C++ source.
    const char *source;
    // The function that builds the graph; null: aicpu_orchestration_entry
    const char *entry;
    // The function that says how many arguments are expected; null: aicpu_orchestration_config, if it is there
    const char *config;
} argus_orchestration_source;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library, to be compared with ARGUS_API_VERSION of the header.
uint32_t argus_api_version(void);

// Makes a device of a platform, by the name that `argus run --platform` takes.
//
// # Safety
// The text ends with a zero byte; the place for the result may be written.
int32_t argus_device_create(const char *platform, argus_device **device);

// Runs a loaded program, and captures what the options ask for. `scalars` hold raw bits, floats in the low half. The
// report may be null; it is filled in for runs that fail, too.
//
// # Safety
// Device and program live; arrays and structures are as large as is said, and do
// not change during the call.
int32_t argus_device_run(const argus_device *device,
                         const argus_program *program,
                         const argus_tensor *tensors,
                         size_t tensor_count,
                         const uint64_t *scalars,
                         size_t scalar_count,
                         const argus_run_options *options,
                         argus_run_report *report);

// Ends the run that another thread has started on this device. It may be called from any thread and from a signal
// handler.
//
// # Safety
// The device lives.
void argus_device_interrupt(const argus_device *device);

// Ends a device. Null is fine.
//
// # Safety
// The device is not used again, and no run is active on it.
void argus_device_free(argus_device *device);

// Opens the dump at a path: its directory, or the directory of a run with one dump.
//
// # Safety
// The text ends with a zero byte; the place for the result may be written.
int32_t argus_dump_open(const char *path, argus_dump **dump);

// How many records a dump has. 0 for null.
//
// # Safety
// The dump lives.
uint64_t argus_dump_records(const argus_dump *dump);

// Tells what a record is. Several threads may ask at the same time.
//
// # Safety
// The dump lives; the record may be written, and is as large as its first field says.
int32_t argus_dump_record(const argus_dump *dump, uint64_t index, argus_record *record);

// Gives the payload of a record: the bytes of its tensor in logical order, in the mapped file, after their checksum was
// compared. They stay until the dump is ended. Several threads may ask at the same time.
//
// # Safety
// The dump lives; both places may be written.
int32_t argus_dump_payload(const argus_dump *dump,
                           uint64_t index,
                           const uint8_t **data,
                           size_t *bytes);

// Closes a dump. Null is fine.
//
// # Safety
// Neither the dump nor a name or payload of it is used again.
void argus_dump_free(argus_dump *dump);

// Makes an empty program for a platform (a name that `argus run --platform` takes) and a runtime ("trb", "hbg", "abg", or their long names).
//
// # Safety
// The texts end with a zero byte; the place for the result may be written.
int32_t argus_program_create(const char *platform,
                             const char *runtime,
                             argus_program **program);

// Adds a kernel. A program that is loaded takes no more.
//
// # Safety
// The program lives and no other thread uses it; the structure is as large as it says, and so is what it points to.
int32_t argus_program_add_kernel(argus_program *program,
                                 const argus_kernel_source *kernel);

// Says which source builds the graph.
//
// # Safety
// As for argus_program_add_kernel.
int32_t argus_program_set_orchestration(argus_program *program,
                                        const argus_orchestration_source *orchestration);

// Compiles the sources with the machine's compiler (the variable CXX, g++, clang++), or takes them from the cache, and
// loads them. It may be called again after a failure.
//
// # Safety
// The program lives and no other thread uses it.
int32_t argus_program_load(argus_program *program);

// Ends a program. Null is fine.
//
// # Safety
// The program is not used again.
void argus_program_free(argus_program *program);

// What went wrong in the last call of this thread that failed. The text stays until the next call of this thread.
const char *argus_last_error(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ARGUS_H */
