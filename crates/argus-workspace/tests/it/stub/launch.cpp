// Stands for replay_launch.cpp, whose launch syntax only the device compiler reads. First writes down what the
// device would see, then runs the kernel on every core of every block.
//
// seen.bin: per row the 50 slots, the 48 bytes behind slot 48 and the 4 bytes behind slot 49; then, for each slot
// of SEEN_TENSORS, the 128 bytes it points to and the bytes of the buffer that those name.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
uint32_t stub_block = 0;
uint32_t stub_lane = 0;
}
#ifdef MIX
extern "C" void replay_entry_cube(int64_t *, int64_t *);
extern "C" void replay_entry_vec(int64_t *, int64_t *);
#else
extern "C" void replay_entry_cube(int64_t *);
extern "C" void replay_entry_vec(int64_t *);
#endif

namespace {
constexpr int kTensors[] = { SEEN_TENSORS -1 };

void note_rows(std::FILE *file, const int64_t *rows, int count)
{
    for (const int64_t *row = rows; row != rows + count * 50; row += 50) {
        std::fwrite(row, 8, 50, file);
        if (row[48] != 0) {
            std::fwrite(reinterpret_cast<const void *>(row[48]), 1, 48, file);
            std::fwrite(reinterpret_cast<const void *>(row[49]), 1, 4, file);
        }
    }
}

void note_tensors(std::FILE *file, const int64_t *row)
{
    for (int slot : kTensors) {
        if (slot >= 0) {
            const auto *descriptor = reinterpret_cast<const uint64_t *>(row[slot]);
            std::fwrite(descriptor, 1, 128, file);
            std::fwrite(reinterpret_cast<const void *>(descriptor[0]), 1, descriptor[1], file);
        }
    }
}

template <typename Cube, typename Vec>
void run(uint32_t blocks, Cube cube, Vec vec)
{
    for (stub_block = 0; stub_block < blocks; ++stub_block) {
        stub_lane = 0;
        cube();
        for (stub_lane = 0; stub_lane < 2; ++stub_lane) {
            vec();
        }
    }
}
} // namespace

#ifdef MIX
extern "C" void launch_replay(uint32_t blocks, void *, void *aic_args, void *aiv_args)
{
    auto *aic = static_cast<int64_t *>(aic_args);
    auto *aiv = static_cast<int64_t *>(aiv_args);
    std::FILE *file = std::fopen("seen.bin", "wb");
    note_rows(file, aic, AIC_ROWS);
    note_rows(file, aiv, AIV_ROWS);
    note_tensors(file, AIC_ROWS != 0 ? aic : aiv);
    std::fclose(file);
    run(blocks, [=] { replay_entry_cube(aic, aiv); }, [=] { replay_entry_vec(aic, aiv); });
}
#else
extern "C" void launch_replay(uint32_t blocks, void *, void *args)
{
    auto *rows = static_cast<int64_t *>(args);
    std::FILE *file = std::fopen("seen.bin", "wb");
    note_rows(file, rows, 1);
    note_tensors(file, rows);
    std::fclose(file);
    run(blocks, [=] { replay_entry_cube(rows); }, [=] { replay_entry_vec(rows); });
}
#endif
