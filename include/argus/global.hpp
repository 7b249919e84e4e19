// Tensors in global memory as kernels describe them: a pointer, five extents, five strides.
#ifndef ARGUS_GLOBAL_HPP_
#define ARGUS_GLOBAL_HPP_

#include "argus/bound.hpp"
#include "argus/enums.hpp"
#include "argus/numbers.hpp"

namespace argus {

struct GlobalBase {};

// Puts values into the dynamic ones of five dimensions, in their order.
inline void spread(const int64_t (&fixed)[5], const int64_t *given, int64_t (&out)[5]) {
    for (int dim = 0, next = 0; dim < 5; dim++) {
        out[dim] = fixed[dim] == pto::DYNAMIC ? given[next++] : 1;
    }
}

}  // namespace argus

namespace pto {

// Extents (Shape) and strides (Stride) of five dimensions. A static one is in the type, and what an object holds for
// it means nothing.
#define ARGUS_FIVE_NUMBERS(Name, values, fixed)                                                                                     \
    template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC, int64_t N5 = DYNAMIC>         \
    struct Name {                                                                                                                   \
        static constexpr int64_t fixed[5] = {N1, N2, N3, N4, N5};                                                                   \
        int64_t values[5];                                                                                                          \
                                                                                                                                    \
        Name() : values{1, 1, 1, 1, 1} {}                                                                                           \
        Name(int64_t a) { take<1>({a}); }                                                                                           \
        Name(int64_t a, int64_t b) { take<2>({a, b}); }                                                                             \
        Name(int64_t a, int64_t b, int64_t c) { take<3>({a, b, c}); }                                                               \
        Name(int64_t a, int64_t b, int64_t c, int64_t d) { take<4>({a, b, c, d}); }                                                 \
        Name(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e) : values{a, b, c, d, e} {}                                      \
                                                                                                                                    \
        int64_t at(int dim) const { return fixed[dim] == DYNAMIC ? values[dim] : fixed[dim]; }                                      \
        void set(int dim, int64_t value) { values[dim] = value; }                                                                   \
                                                                                                                                    \
      private:                                                                                                                      \
        template <int Count>                                                                                                        \
        void take(const int64_t (&given)[Count]) {                                                                                  \
            static_assert((N1 == DYNAMIC) + (N2 == DYNAMIC) + (N3 == DYNAMIC) + (N4 == DYNAMIC) + (N5 == DYNAMIC) == Count,         \
                          #Name ": give one value for each dynamic dimension, or all five");                                        \
            argus::spread(fixed, given, values);                                                                                    \
        }                                                                                                                           \
    }

ARGUS_FIVE_NUMBERS(Shape, shape, staticShape);
ARGUS_FIVE_NUMBERS(Stride, stride, staticStride);
#undef ARGUS_FIVE_NUMBERS

template <typename Element_, typename Shape_, typename Stride_, Layout Layout_ = Layout::ND>
struct GlobalTensor : argus::GlobalBase {
    using Shape = Shape_;
    using Stride = Stride_;
    using DType = Element_;
    using RawDType = Element_;
    static constexpr Layout layout = Layout_;
    static constexpr const int64_t (&staticShape)[5] = Shape_::staticShape;
    static constexpr const int64_t (&staticStride)[5] = Stride_::staticStride;

    GlobalTensor() : pointer(nullptr) {}
    GlobalTensor(DType *data, const Shape_ &shape = Shape_(), const Stride_ &stride = Stride_())
        : pointer(data), extents(shape), strides(stride) {}

    DType *data() const { return pointer; }
    void argus_point_to(DType *data) { pointer = data; }

    int64_t GetShape(int dim) const { return dim < 0 || dim > 4 ? -1 : extents.at(dim); }
    int64_t GetStride(int dim) const { return dim < 0 || dim > 4 ? -1 : strides.at(dim); }
    template <int dim>
    static constexpr int64_t GetShape() {
        static_assert(Shape_::staticShape[dim] != DYNAMIC, "GetShape: the dimension is dynamic");
        return Shape_::staticShape[dim];
    }
    template <int dim>
    static constexpr int64_t GetStride() {
        static_assert(Stride_::staticStride[dim] != DYNAMIC, "GetStride: the dimension is dynamic");
        return Stride_::staticStride[dim];
    }
    template <int... dims, typename... Values>
    void SetShape(Values... values) {
        static_assert(sizeof...(dims) == sizeof...(Values), "SetShape: give one value for each dimension");
        (extents.set(dims, values), ...);
    }
    template <int... dims, typename... Values>
    void SetStride(Values... values) {
        static_assert(sizeof...(dims) == sizeof...(Values), "SetStride: give one value for each dimension");
        (strides.set(dims, values), ...);
    }

    // What instructions pass on.
    ArgusGlobal argus_walk() const {
        ArgusGlobal walk = {reinterpret_cast<uint64_t>(pointer), {}, {}, argus::dtype_of<Element_>, static_cast<uint8_t>(Layout_), {}};
        for (int dim = 0; dim < 5; dim++) {
            walk.shape[dim] = extents.at(dim);
            walk.stride[dim] = strides.at(dim);
        }
        return walk;
    }

  private:
    DType *pointer;
    Shape_ extents;
    Stride_ strides;
};

template <typename T>
constexpr bool is_global_data_v = std::is_base_of_v<argus::GlobalBase, T>;

// Extents and strides of a matrix in one of the layouts, dynamic where rows or columns are.
namespace argus_matrix {

constexpr int64_t mul(int64_t a, int64_t b) { return a == DYNAMIC || b == DYNAMIC ? DYNAMIC : a * b; }
constexpr int64_t div(int64_t a, int64_t b) { return a == DYNAMIC ? DYNAMIC : a / b; }

template <typename T, int64_t R, int64_t C, Layout L>
struct Of;
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::ND> {
    using Extents = pto::Shape<1, 1, 1, R, C>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), mul(R, C), C, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::DN> {
    using Extents = pto::Shape<1, 1, 1, R, C>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), mul(R, C), 1, R>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::NZ> {
    static constexpr int64_t C0 = C0_SIZE_BYTE / sizeof(T);
    using Extents = pto::Shape<1, div(C, C0), div(R, 16), 16, C0>;
    using Strides = pto::Stride<mul(R, C), mul(R, C0), 16 * C0, C0, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_A_ZZ> {
    using Extents = pto::Shape<1, div(R, 16), div(C, 2), 16, 2>;
    using Strides = pto::Stride<mul(R, C), mul(C, 16), 32, 2, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_B_NN> {
    using Extents = pto::Shape<1, div(C, 16), div(R, 2), 16, 2>;
    using Strides = pto::Stride<mul(R, C), mul(R, 16), 32, 2, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_A_ND> {
    using Extents = pto::Shape<1, 1, R, div(C, 2), 2>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), C, 2, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_A_DN> {
    using Extents = pto::Shape<1, 1, div(C, 2), R, 2>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), mul(2, R), 2, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_B_ND> {
    using Extents = pto::Shape<1, 1, div(R, 2), C, 2>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), mul(2, C), 2, 1>;
};
template <typename T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::MX_B_DN> {
    using Extents = pto::Shape<1, 1, C, div(R, 2), 2>;
    using Strides = pto::Stride<mul(R, C), mul(R, C), R, 2, 1>;
};

// The dynamic numbers of a matrix of known size: as the static ones of the same layout, written out once.
inline void numbers(Layout layout, int64_t size, int64_t r, int64_t c, int64_t (&shape)[5], int64_t (&stride)[5]) {
    const int64_t c0 = C0_SIZE_BYTE / size, all = r * c;
    auto put = [](int64_t (&out)[5], int64_t a, int64_t b, int64_t d, int64_t e, int64_t f) {
        out[0] = a, out[1] = b, out[2] = d, out[3] = e, out[4] = f;
    };
    switch (layout) {
        case Layout::DN:
            put(shape, 1, 1, 1, r, c), put(stride, all, all, all, 1, r);
            break;
        case Layout::NZ:
            put(shape, 1, c / c0, r / 16, 16, c0), put(stride, all, r * c0, 16 * c0, c0, 1);
            break;
        case Layout::MX_A_ZZ:
            put(shape, 1, r / 16, c / 2, 16, 2), put(stride, all, c * 16, 32, 2, 1);
            break;
        case Layout::MX_B_NN:
            put(shape, 1, c / 16, r / 2, 16, 2), put(stride, all, r * 16, 32, 2, 1);
            break;
        case Layout::MX_A_ND:
            put(shape, 1, 1, r, c / 2, 2), put(stride, all, all, c, 2, 1);
            break;
        case Layout::MX_A_DN:
            put(shape, 1, 1, c / 2, r, 2), put(stride, all, all, 2 * r, 2, 1);
            break;
        case Layout::MX_B_ND:
            put(shape, 1, 1, r / 2, c, 2), put(stride, all, all, 2 * c, 2, 1);
            break;
        case Layout::MX_B_DN:
            put(shape, 1, 1, c, r / 2, 2), put(stride, all, all, r, 2, 1);
            break;
        default:
            put(shape, 1, 1, 1, r, c), put(stride, all, all, all, c, 1);
            break;
    }
}

}  // namespace argus_matrix

template <typename T, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : argus_matrix::Of<T, Rows, Cols, L>::Extents {
    TileShape2D() = default;
    TileShape2D(int64_t rows, int64_t cols) {
        int64_t strides[5];
        argus_matrix::numbers(L, sizeof(T), rows, cols, this->shape, strides);
    }
};
template <typename T, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D : argus_matrix::Of<T, Rows, Cols, L>::Strides {
    BaseShape2D() = default;
    BaseShape2D(int64_t rows, int64_t cols) {
        int64_t extents[5];
        argus_matrix::numbers(L, sizeof(T), rows, cols, extents, this->stride);
    }
};

}  // namespace pto

#endif  // ARGUS_GLOBAL_HPP_
