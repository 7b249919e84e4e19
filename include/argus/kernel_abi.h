/* The boundary between a kernel object and the engine that runs it.
 *
 * An object exports one function, argus_kernel_bind(). It takes the engine's table and gives the object's own; each
 * side checks the other's size and ABI number before it reads anything else. Plain C: no type here has a
 * constructor, and no exception or panic crosses in either direction.
 *
 * Entries are only ever appended. A change of anything that stands is a new ABI number.
 */
#ifndef ARGUS_KERNEL_ABI_H_
#define ARGUS_KERNEL_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_KERNEL_ABI 2u

#define ARGUS_MAX_TILES 6
#define ARGUS_MAX_GLOBALS 2
#define ARGUS_MAX_SCALARS 4

/* What an instruction, or a whole kernel, came to. */
#define ARGUS_DONE 0
#define ARGUS_HALTED 1    /* the engine ended the kernel: a fault or a stop, which it remembers */
#define ARGUS_EXCEPTION 2 /* the kernel threw; only argus_kernel_call() says so */
/* A kernel may also come to a number below 0: the negative of a code that ends the run, which it left instead of a
 * completion. */

enum ArgusOpcode {
    ARGUS_OP_TASSIGN = 0,
    ARGUS_OP_TLOAD = 1,
    ARGUS_OP_TSTORE = 2,
    ARGUS_OP_TSTORE_ATOMIC_ADD = 3,
    ARGUS_OP_TADD = 4,
    ARGUS_OP_TSUB = 5,
    ARGUS_OP_TMUL = 6,
    ARGUS_OP_TDIV = 7,
    ARGUS_OP_TMAX = 8,
    ARGUS_OP_TMIN = 9,
    ARGUS_OP_TADDS = 10,
    ARGUS_OP_TSUBS = 11,
    ARGUS_OP_TMULS = 12,
    ARGUS_OP_TDIVS = 13,
    ARGUS_OP_TMAXS = 14,
    ARGUS_OP_TMINS = 15,
    ARGUS_OP_TEXPANDS = 16,
    ARGUS_OP_TEXP = 17,
    ARGUS_OP_TLOG = 18,
    ARGUS_OP_TSQRT = 19,
    ARGUS_OP_TRSQRT = 20,
    ARGUS_OP_TRECIP = 21,
    ARGUS_OP_TNEG = 22,
    ARGUS_OP_TABS = 23,
    ARGUS_OP_TCVT = 24,
    ARGUS_OP_TMATMUL = 25,
    ARGUS_OP_TMATMUL_ACC = 26,
    ARGUS_OP_TMOV = 27,
    ARGUS_OP_TEXTRACT = 28,
    ARGUS_OP_TRESHAPE = 29,
    ARGUS_OP_TTRANS = 30,
    ARGUS_OP_TFILLPAD = 31,
    ARGUS_OP_TFILLPAD_INPLACE = 32,
    ARGUS_OP_TROWSUM = 33,
    ARGUS_OP_TROWMAX = 34,
    ARGUS_OP_TROWEXPAND = 35,
    ARGUS_OP_TROWEXPANDMUL = 36,
    ARGUS_OP_TROWEXPANDSUB = 37,
    ARGUS_OP_TROWEXPANDDIV = 38,
    ARGUS_OP_TCOLEXPAND = 39,
    ARGUS_OP_TCOLEXPANDMUL = 40,
    ARGUS_OP_TGATHER = 41,
    ARGUS_OP_TGATHER_MASK = 42,
    ARGUS_OP_TCI = 43,
    ARGUS_OP_GET_VALUE = 44,
    ARGUS_OP_SET_VALUE = 45,
    ARGUS_OP_LOAD_SCALAR = 46,
    ARGUS_OP_STORE_SCALAR = 47,
    ARGUS_OP_SET_FLAG = 48,
    ARGUS_OP_WAIT_FLAG = 49,
    ARGUS_OP_PIPE_BARRIER = 50,
    ARGUS_OP_DCCI = 51,
    ARGUS_OP_DSB = 52,
    ARGUS_OP_TPUSH = 53,
    ARGUS_OP_TPOP = 54,
    ARGUS_OP_TFREE = 55,
    ARGUS_OP_TCOLSUM = 56,
    ARGUS_OP_TCOLMAX = 57,
    ARGUS_OP_TCOLEXPANDADD = 58,
    ARGUS_OP_TCOLEXPANDEXPDIF = 59,
    ARGUS_OP_TCONCAT = 60,
    ARGUS_OP_TSORT32 = 61,
    ARGUS_OP_TMRGSORT = 62,
    ARGUS_OP_TMRGSORT_LISTS = 63,
    ARGUS_OP_MSCATTER = 64,
    ARGUS_OP_TMATMUL_MX = 65,
    ARGUS_OP_TNOTIFY = 66,
    ARGUS_OP_TWAIT = 67,
    ARGUS_OP_TPUT = 68,
    ARGUS_OP_TPUT_ASYNC = 69,
    ARGUS_OP_TPREFETCH_ASYNC = 70,
};

/* A tile: where it lies on the core, how it is laid out, what of it is valid. The engine has the same bytes for it and
 * works with it where it stands. */
typedef struct ArgusTile {
    uint32_t addr; /* bytes from the start of its space */
    uint32_t rows;
    uint32_t cols;
    uint32_t valid_rows;
    uint32_t valid_cols;
    uint8_t space; /* as pto::TileType */
    uint8_t dtype; /* as DataType */
    uint8_t block; /* as pto::BLayout */
    uint8_t inner; /* as pto::SLayout */
    uint16_t fractal;
    uint8_t assigned; /* whether addr means anything */
    uint8_t reserved;
    uint32_t pad; /* as pto::PadValue; 4: the bits in pad_bits */
    uint32_t pad_bits;
} ArgusTile;

/* A tensor in global memory as an instruction walks it; strides count elements. */
typedef struct ArgusGlobal {
    uint64_t addr;
    int64_t shape[5];
    int64_t stride[5];
    uint8_t dtype;
    uint8_t layout; /* as pto::Layout */
    uint8_t reserved[6];
} ArgusGlobal;

/* A queue between the cores of a cluster. All but the last three fields are its identity. */
typedef struct ArgusPipe {
    uint32_t slot_size;
    uint32_t slot_num;
    uint32_t local_slot_num;
    uint8_t flag_id;
    uint8_t direction; /* as pto::Direction */
    uint8_t no_split;
    uint8_t reserved;
    uint64_t slots_addr; /* where slots lie in global memory; 0: on the chip */
} ArgusPipe;

/* One instruction with everything that its call said. Options of templates are scalars. */
typedef struct ArgusInstruction {
    uint16_t opcode;
    uint8_t tile_count;
    uint8_t global_count;
    uint8_t scalar_count;
    uint8_t scalar_types[ARGUS_MAX_SCALARS]; /* as DataType */
    uint8_t reserved[3];
    uint32_t line;
    const char *file; /* not terminated; as long as the object is loaded, which is for ever */
    uint32_t file_length;
    uint32_t reserved2;
    uint64_t scalars[ARGUS_MAX_SCALARS]; /* bits, zero-extended */
    const ArgusTile *tiles[ARGUS_MAX_TILES];
    const ArgusGlobal *globals[ARGUS_MAX_GLOBALS];
    const ArgusPipe *pipe;
    uint64_t *result; /* where the instruction puts what it gives back */
} ArgusInstruction;

/* What a kernel may look at without a call. The engine has more behind it. */
typedef struct ArgusCore {
    int32_t sub_block_id; /* 1 on the second vector core of a cluster */
    int32_t reserved;
} ArgusCore;

/* What the engine gives an object. */
typedef struct ArgusKernelTable {
    uint32_t size;
    uint32_t abi;
    /* Runs one instruction to its end: ARGUS_DONE or ARGUS_HALTED. */
    int32_t (*issue)(ArgusCore *core, const ArgusInstruction *instruction);
    /* Nanoseconds of a clock that only goes forward. */
    uint64_t (*clock)(ArgusCore *core);
    /* For debuggers: a tile, or a tensor of the kernel's arguments (the 128 bytes of tensor.h), as text with one line
     * for each row, at most so many rows and columns. Good until the next call on this thread. */
    const char *(*show_tile)(ArgusCore *core, const ArgusTile *tile, uint32_t rows, uint32_t cols);
    const char *(*show_tensor)(ArgusCore *core, const void *tensor, uint32_t rows, uint32_t cols);
    /* The task is complete only when the 32-bit word at `addr` is at least `value`. For the end of a kernel; the place is
     * the line that asked for it. ARGUS_DONE or ARGUS_HALTED. */
    int32_t (*complete_when)(ArgusCore *core, uint64_t addr, int32_t value, const char *file, uint32_t file_length, uint32_t line);
} ArgusKernelTable;

/* What an object gives the engine. */
typedef struct ArgusKernelObject {
    uint32_t size;
    uint32_t abi;
    /* Runs the kernel on a core, on the calling thread. `message` takes up to `room` bytes of what was thrown. */
    int32_t (*call)(ArgusCore *core, int64_t *args, char *message, size_t room);
} ArgusKernelObject;

/* The only symbol that an object must export. A table that it cannot use leaves it unbound: the numbers in its own
 * say why. */
const ArgusKernelObject *argus_kernel_bind(const ArgusKernelTable *table);

#ifdef __cplusplus
}
#endif

#endif /* ARGUS_KERNEL_ABI_H_ */
