// A captured run through the C++ face of the API: compile a program, run it, read what was captured.
//
//   captured_sum KERNEL.cpp ORCHESTRATION.cpp OUTPUT_DIRECTORY
//
// The orchestration takes x, y and out, each of 4096 floats, and submits one kernel, out = x + y.

#include <argus.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

int main(int argc, char** argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s KERNEL.cpp ORCHESTRATION.cpp OUTPUT_DIRECTORY\n", argv[0]);
        return 2;
    }
    try {
        argus::Program program("a2a3sim", "trb");
        program.add_kernel(0, "sum", ARGUS_CORE_AIV, argv[1], {ARGUS_IN, ARGUS_IN, ARGUS_OUT});
        program.set_orchestration(argv[2]);
        program.load();

        std::vector<float> x(4096), y(4096), out(4096);
        for (std::size_t i = 0; i < x.size(); ++i) {
            x[i] = 0.25f * static_cast<float>(i);
            y[i] = 1.0f - static_cast<float>(i);
        }
        argus::Arguments arguments;
        arguments.tensor("x", ARGUS_IN, {4096}, x);
        arguments.tensor("y", ARGUS_IN, {4096}, y);
        arguments.tensor("out", ARGUS_OUT, {4096}, out);

        argus_run_options options = argus::run_options();
        options.output_prefix = argv[3];
        options.enable_dump_tensor = ARGUS_DUMP_FULL;
        options.enable_dep_gen = 1;
        options.enable_chip_swimlane = 1;
        options.scene = "captured_sum";
        argus::Device device("a2a3sim");
        const argus_run_report report = device.run(program, arguments, options);
        std::printf("%llu task, %llu records\n", (unsigned long long)report.tasks, (unsigned long long)report.records);

        argus::Dump dump(argv[3]);
        for (std::uint64_t index = 0; index < dump.size(); ++index) {
            const argus_record record = dump.record(index);
            const auto [data, bytes] = dump.payload(index);
            float last;
            std::memcpy(&last, data + bytes - sizeof last, sizeof last);
            std::printf("%s %s argument %u: %zu bytes, last %g\n", record.kernel,
                        record.stage == ARGUS_STAGE_BEFORE ? "before" : "after", record.argument, bytes, last);
        }
        // out[4095] = 0.25 * 4095 + 1 - 4095
        std::printf("out[4095] = %g\n", out[4095]);
        return 0;
    } catch (const argus::Error& error) {
        std::fprintf(stderr, "status %d: %s\n", error.status(), error.what());
        return 1;
    }
}
