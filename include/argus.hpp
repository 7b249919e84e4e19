// The C API of Argus for C++: objects that end themselves, and errors as exceptions. Everything is in this header; the
// program links with the library of argus.h.
#ifndef ARGUS_HPP
#define ARGUS_HPP

#include "argus.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace argus {

// A call that failed: its status, one of ARGUS_ERROR_*, and its words.
class Error : public std::runtime_error {
public:
    Error(std::int32_t status, const char* text) : std::runtime_error(text), status_(status) {}
    std::int32_t status() const noexcept { return status_; }

private:
    std::int32_t status_;
};

inline void check(std::int32_t status)
{
    if (status != ARGUS_OK)
        throw Error(status, argus_last_error());
}

namespace detail {
struct Free {
    void operator()(argus_program* object) const noexcept { argus_program_free(object); }
    void operator()(argus_device* object) const noexcept { argus_device_free(object); }
    void operator()(argus_dump* object) const noexcept { argus_dump_free(object); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// A structure of the interface with its size set and all else at its default.
template <class T>
T sized()
{
    T made{};
    made.size = sizeof(T);
    return made;
}

template <class T>
constexpr std::int32_t dtype()
{
    if constexpr (std::is_same_v<T, float>) return ARGUS_F32;
    else if constexpr (std::is_same_v<T, std::int8_t>) return ARGUS_I8;
    else if constexpr (std::is_same_v<T, std::int16_t>) return ARGUS_I16;
    else if constexpr (std::is_same_v<T, std::int32_t>) return ARGUS_I32;
    else if constexpr (std::is_same_v<T, std::int64_t>) return ARGUS_I64;
    else if constexpr (std::is_same_v<T, std::uint8_t>) return ARGUS_U8;
    else if constexpr (std::is_same_v<T, std::uint16_t>) return ARGUS_U16;
    else if constexpr (std::is_same_v<T, std::uint32_t>) return ARGUS_U32;
    else if constexpr (std::is_same_v<T, std::uint64_t>) return ARGUS_U64;
    else static_assert(sizeof(T) == 0, "name the dtype: tensor(name, direction, shape, dtype, data, bytes)");
}
} // namespace detail

inline argus_run_options run_options() { return detail::sized<argus_run_options>(); }

// An orchestration and its kernels.
class Program {
public:
    Program(const char* platform, const char* runtime)
    {
        argus_program* made = nullptr;
        check(argus_program_create(platform, runtime, &made));
        program_.reset(made);
    }

    void add_kernel(std::uint32_t func_id, const char* name, std::int32_t core, const char* source,
                    std::initializer_list<std::int32_t> signature = {})
    {
        auto kernel = detail::sized<argus_kernel_source>();
        kernel.func_id = func_id;
        kernel.core = core;
        kernel.name = name;
        kernel.source = source;
        kernel.signature = signature.begin();
        kernel.signature_length = signature.size();
        check(argus_program_add_kernel(program_.get(), &kernel));
    }

    void set_orchestration(const char* source, const char* entry = nullptr, const char* config = nullptr)
    {
        auto orchestration = detail::sized<argus_orchestration_source>();
        orchestration.source = source;
        orchestration.entry = entry;
        orchestration.config = config;
        check(argus_program_set_orchestration(program_.get(), &orchestration));
    }

    // Compiles and loads the sources.
    void load() { check(argus_program_load(program_.get())); }

    const argus_program* get() const noexcept { return program_.get(); }

private:
    detail::Owned<argus_program> program_;
};

// The arguments of a run: views of the caller's memory, which must outlive the run.
class Arguments {
public:
    template <class T>
    void tensor(std::string name, std::int32_t direction, std::vector<std::uint32_t> shape, std::vector<T>& elements)
    {
        tensor(std::move(name), direction, std::move(shape), detail::dtype<T>(), elements.data(),
               elements.size() * sizeof(T));
    }

    void tensor(std::string name, std::int32_t direction, std::vector<std::uint32_t> shape, std::int32_t dtype,
                void* data, std::size_t bytes)
    {
        held_.push_back({std::move(name), std::move(shape), direction, dtype, data, bytes});
    }

    // Raw bits; a float is in the low half.
    void scalar(std::uint64_t bits) { scalars_.push_back(bits); }

    const std::vector<std::uint64_t>& scalars() const noexcept { return scalars_; }

    std::vector<argus_tensor> tensors() const
    {
        std::vector<argus_tensor> tensors;
        for (const Held& held : held_) {
            auto tensor = detail::sized<argus_tensor>();
            tensor.name = held.name.c_str();
            tensor.dtype = held.dtype;
            tensor.direction = held.direction;
            tensor.shape = held.shape.data();
            tensor.rank = held.shape.size();
            tensor.data = held.data;
            tensor.bytes = held.bytes;
            tensors.push_back(tensor);
        }
        return tensors;
    }

private:
    struct Held {
        std::string name;
        std::vector<std::uint32_t> shape;
        std::int32_t direction;
        std::int32_t dtype;
        void* data;
        std::size_t bytes;
    };
    std::vector<Held> held_;
    std::vector<std::uint64_t> scalars_;
};

// A simulated device.
class Device {
public:
    explicit Device(const char* platform)
    {
        argus_device* made = nullptr;
        check(argus_device_create(platform, &made));
        device_.reset(made);
    }

    argus_run_report run(const Program& program, const Arguments& arguments,
                         const argus_run_options& options = run_options())
    {
        auto report = detail::sized<argus_run_report>();
        const std::vector<argus_tensor> tensors = arguments.tensors();
        const std::vector<std::uint64_t>& scalars = arguments.scalars();
        check(argus_device_run(device_.get(), program.get(), tensors.data(), tensors.size(), scalars.data(),
                               scalars.size(), &options, &report));
        return report;
    }

    // Ends a run from another thread or from a signal handler.
    void interrupt() const noexcept { argus_device_interrupt(device_.get()); }

private:
    detail::Owned<argus_device> device_;
};

// An open dump.
class Dump {
public:
    explicit Dump(const char* path)
    {
        argus_dump* opened = nullptr;
        check(argus_dump_open(path, &opened));
        dump_.reset(opened);
    }

    std::uint64_t size() const noexcept { return argus_dump_records(dump_.get()); }

    argus_record record(std::uint64_t index) const
    {
        auto record = detail::sized<argus_record>();
        check(argus_dump_record(dump_.get(), index, &record));
        return record;
    }

    // The bytes of a record's tensor; they stay as long as the dump.
    std::pair<const std::uint8_t*, std::size_t> payload(std::uint64_t index) const
    {
        std::pair<const std::uint8_t*, std::size_t> payload{};
        check(argus_dump_payload(dump_.get(), index, &payload.first, &payload.second));
        return payload;
    }

private:
    detail::Owned<argus_dump> dump_;
};

} // namespace argus

#endif
