// The instructions of one core. Each packs its operands into a descriptor and makes one call; what it computes is the
// engine's business.
#ifndef ARGUS_INSTRUCTIONS_HPP_
#define ARGUS_INSTRUCTIONS_HPP_

#include "argus/device.hpp"
#include "argus/global.hpp"
#include "argus/tile.hpp"

namespace argus {

// Calls that are the same for all types, so that a type costs its descriptor and nothing else.
inline pto::RecordEvent issue(ArgusOpcode opcode, const Site &at, const TileHandle &a) {
    Issue(opcode, at).tile(a.tile).run();
    return {};
}
inline pto::RecordEvent issue(ArgusOpcode opcode, const Site &at, const TileHandle &a, const TileHandle &b) {
    Issue(opcode, at).tile(a.tile).tile(b.tile).run();
    return {};
}
inline pto::RecordEvent issue(ArgusOpcode opcode, const Site &at, const TileHandle &a, const TileHandle &b, const TileHandle &c) {
    Issue(opcode, at).tile(a.tile).tile(b.tile).tile(c.tile).run();
    return {};
}
inline pto::RecordEvent issue(ArgusOpcode opcode, const Site &at, const TileHandle &a, const TileHandle &b, const TileHandle &c,
                              const TileHandle &d) {
    Issue(opcode, at).tile(a.tile).tile(b.tile).tile(c.tile).tile(d.tile).run();
    return {};
}

template <typename T>
constexpr bool in_vec = T::Loc == pto::TileType::Vec;
template <typename A, typename B>
constexpr bool same_type = std::is_same_v<typename A::DType, typename B::DType>;

template <typename D, typename S>
constexpr bool widens = std::is_same_v<typename D::DType, float> &&
                        (std::is_same_v<typename S::DType, half> || std::is_same_v<typename S::DType, bfloat16_t>);

// Which 8-bit float a tile holds; the engine multiplies kinds 0 and 1.
template <typename T>
constexpr int float8_kind = 2;
template <>
constexpr int float8_kind<float8_e4m3_t> = 0;
template <>
constexpr int float8_kind<float8_e5m2_t> = 1;

// A merge of lists, which says how many records each one gave.
inline void merge(Issue &issue, bool exhausted, uint16_t *counts) {
    uint64_t given[4] = {0, 0, 0, 0};
    issue.option(exhausted);
    issue.result = given;
    issue.run();
    for (int list = 0; list < 4; list++) {
        counts[list] = static_cast<uint16_t>(given[list]);
    }
}

}  // namespace argus

namespace pto {

// ---- addresses

template <typename T, typename Address>
    requires(is_tile_data_v<T> && (std::is_integral_v<Address> || std::is_enum_v<Address>))
inline void TASSIGN(T &tile, Address address, argus::Site at = argus::Site::here()) {
    // The engine sees the whole address and refuses one that a tile has no room for.
    tile.tile.addr = static_cast<uint32_t>(address);
    tile.tile.assigned = 1;
    argus::Issue(ARGUS_OP_TASSIGN, at).tile(tile.tile).option(static_cast<int64_t>(address)).run();
}
template <auto Address, typename T>
inline void TASSIGN(T &tile, argus::Site at = argus::Site::here()) {
    static_assert(Address % 32 == 0, "TASSIGN: a tile starts at a multiple of 32 bytes");
    TASSIGN(tile, static_cast<uint64_t>(Address), at);
}
template <typename G>
    requires(is_global_data_v<G>)
inline void TASSIGN(G &tensor, typename G::DType *data) {
    tensor.argus_point_to(data);
}

template <typename D, typename S>
inline RecordEvent TRESHAPE(D &dst, S &src, argus::Site at = argus::Site::here()) {
    static_assert(D::Loc == S::Loc, "TRESHAPE: both tiles lie in one space");
    static_assert(D::Numel * sizeof(typename D::DType) == S::Numel * sizeof(typename S::DType), "TRESHAPE: both tiles have the same bytes");
    static_assert(D::isBoxedLayout == S::isBoxedLayout, "TRESHAPE: boxed and unboxed layouts do not share bytes");
    argus::issue(ARGUS_OP_TRESHAPE, at, dst, src);
    dst.tile.addr = src.tile.addr;
    dst.tile.assigned = 1;
    return {};
}

// ---- global memory

template <typename T, typename G>
inline RecordEvent TLOAD(T &dst, G &src, argus::Site at = argus::Site::here()) {
    static_assert(sizeof(typename T::DType) == sizeof(typename G::DType), "TLOAD: elements of tile and tensor have one size");
    static_assert(argus::in_vec<T> || T::Loc == TileType::Mat, "TLOAD: the tile is in Vec or Mat");
    const ArgusGlobal walk = src.argus_walk();
    argus::Issue(ARGUS_OP_TLOAD, at).tile(dst.tile).global(walk).run();
    return {};
}

template <typename T, typename G, AtomicType Atomic = AtomicType::AtomicNone, ReluPreMode Relu = ReluPreMode::NoRelu>
inline RecordEvent TSTORE(G &dst, T &src, argus::Site at = argus::Site::here()) {
    static_assert(argus::in_vec<T> || T::Loc == TileType::Mat || T::Loc == TileType::Acc, "TSTORE: the tile is in Vec, Mat or Acc");
    static_assert(Relu == ReluPreMode::NoRelu, "TSTORE: ReluPreMode is not supported");
    const ArgusGlobal walk = dst.argus_walk();
    argus::Issue(Atomic == AtomicType::AtomicAdd ? ARGUS_OP_TSTORE_ATOMIC_ADD : ARGUS_OP_TSTORE, at).tile(src.tile).global(walk).run();
    return {};
}
template <typename T, typename G, typename Quant>
    requires(!std::is_same_v<Quant, argus::Site>)
inline RecordEvent TSTORE(G &, T &, Quant) {
    static_assert(!sizeof(T), "TSTORE: the quantising form is not supported");
    return {};
}

// Without arguments the simulator scatters elements.
template <Coalesce Mode = Coalesce::Elem, ScatterAtomicOp Atomic = ScatterAtomicOp::None, ScatterOOB Oob = ScatterOOB::Undefined,
          ScatterConflict Conflict = ScatterConflict::Default, typename G, typename S, typename I>
inline RecordEvent MSCATTER(G &dst, S &src, I &index, argus::Site at = argus::Site::here()) {
    static_assert(std::is_same_v<typename G::DType, typename S::DType>, "MSCATTER: tile and tensor have one element type");
    static_assert(sizeof(typename I::DType) == 4 && std::is_integral_v<typename I::DType>, "MSCATTER: indices are 32-bit integers");
    const ArgusGlobal walk = dst.argus_walk();
    argus::Issue(ARGUS_OP_MSCATTER, at)
        .tile(src.tile)
        .tile(index.tile)
        .global(walk)
        .option(static_cast<int64_t>(Mode))
        .option(static_cast<int64_t>(Atomic))
        .option(static_cast<int64_t>(Oob))
        .run();
    return {};
}

// ---- elementwise

#define ARGUS_BINARY(NAME)                                                                                  \
    template <typename D, typename A, typename B>                                                           \
    inline RecordEvent NAME(D &dst, A &a, B &b, argus::Site at = argus::Site::here()) {                                   \
        static_assert(argus::in_vec<D> && argus::in_vec<A> && argus::in_vec<B>, #NAME ": tiles are in Vec"); \
        static_assert(argus::same_type<D, A> && argus::same_type<D, B>, #NAME ": tiles have one element type"); \
        return argus::issue(ARGUS_OP_##NAME, at, dst, a, b);                                                \
    }
ARGUS_BINARY(TADD)
ARGUS_BINARY(TSUB)
ARGUS_BINARY(TMUL)
ARGUS_BINARY(TDIV)
ARGUS_BINARY(TMAX)
ARGUS_BINARY(TMIN)
ARGUS_BINARY(TROWEXPANDMUL)
ARGUS_BINARY(TROWEXPANDSUB)
ARGUS_BINARY(TROWEXPANDDIV)
ARGUS_BINARY(TCOLEXPANDMUL)
ARGUS_BINARY(TCOLEXPANDADD)
ARGUS_BINARY(TCOLEXPANDEXPDIF)
ARGUS_BINARY(TCONCAT)
#undef ARGUS_BINARY

// The scratch tile of the row broadcasts is the device's.
#define ARGUS_BINARY_TMP(NAME)                                                           \
    template <typename D, typename A, typename B, typename T>                            \
        requires(is_tile_data_v<T>)                                                      \
    inline RecordEvent NAME(D &dst, A &a, B &b, T &, argus::Site at = argus::Site::here()) {           \
        return NAME(dst, a, b, at);                                                      \
    }
ARGUS_BINARY_TMP(TROWEXPANDMUL)
ARGUS_BINARY_TMP(TROWEXPANDSUB)
ARGUS_BINARY_TMP(TROWEXPANDDIV)
#undef ARGUS_BINARY_TMP

// A scalar has the source's type before the instruction sees it.
#define ARGUS_SCALAR(NAME)                                                                     \
    template <typename D, typename S>                                                          \
    inline RecordEvent NAME(D &dst, S &src, typename S::DType scalar, argus::Site at = argus::Site::here()) { \
        static_assert(argus::in_vec<D> && argus::in_vec<S>, #NAME ": tiles are in Vec");       \
        static_assert(argus::same_type<D, S>, #NAME ": tiles have one element type");          \
        argus::Issue(ARGUS_OP_##NAME, at)                                                      \
            .tile(dst.tile)                                                                    \
            .tile(src.tile)                                                                    \
            .scalar(argus::dtype_of<typename S::DType>, argus::scalar_bits(scalar))            \
            .run();                                                                            \
        return {};                                                                             \
    }
ARGUS_SCALAR(TADDS)
ARGUS_SCALAR(TSUBS)
ARGUS_SCALAR(TMULS)
ARGUS_SCALAR(TDIVS)
ARGUS_SCALAR(TMAXS)
ARGUS_SCALAR(TMINS)
#undef ARGUS_SCALAR

template <typename D>
inline RecordEvent TEXPANDS(D &dst, typename D::DType scalar, argus::Site at = argus::Site::here()) {
    static_assert(argus::in_vec<D> || D::Loc == TileType::Mat, "TEXPANDS: the tile is in Vec or Mat");
    argus::Issue(ARGUS_OP_TEXPANDS, at).tile(dst.tile).scalar(argus::dtype_of<typename D::DType>, argus::scalar_bits(scalar)).run();
    return {};
}

#define ARGUS_UNARY(NAME)                                                                \
    template <typename D, typename S>                                                    \
    inline RecordEvent NAME(D &dst, S &src, argus::Site at = argus::Site::here()) {                    \
        static_assert(argus::in_vec<D> && argus::in_vec<S>, #NAME ": tiles are in Vec"); \
        static_assert(argus::same_type<D, S>, #NAME ": tiles have one element type");    \
        return argus::issue(ARGUS_OP_##NAME, at, dst, src);                              \
    }
ARGUS_UNARY(TEXP)
ARGUS_UNARY(TLOG)
ARGUS_UNARY(TSQRT)
ARGUS_UNARY(TRSQRT)
ARGUS_UNARY(TRECIP)
ARGUS_UNARY(TABS)
ARGUS_UNARY(TNEG)
ARGUS_UNARY(TROWEXPAND)
ARGUS_UNARY(TCOLEXPAND)
#undef ARGUS_UNARY

template <typename D, typename S, typename T>
    requires(is_tile_data_v<T>)
inline RecordEvent TRSQRT(D &dst, S &src, T &, argus::Site at = argus::Site::here()) {
    return TRSQRT(dst, src, at);
}

template <typename D, typename S>
inline RecordEvent TCVT(D &dst, S &src, RoundMode mode, SaturationMode saturation, argus::Site at = argus::Site::here()) {
    static_assert(argus::in_vec<D> && argus::in_vec<S>, "TCVT: tiles are in Vec");
    argus::Issue(ARGUS_OP_TCVT, at)
        .tile(dst.tile)
        .tile(src.tile)
        .option(static_cast<int64_t>(mode))
        .option(static_cast<int64_t>(saturation))
        .run();
    return {};
}
template <typename D, typename S>
inline RecordEvent TCVT(D &dst, S &src, RoundMode mode, argus::Site at = argus::Site::here()) {
    return TCVT(dst, src, mode, SaturationMode::OFF, at);
}

// ---- reductions

#define ARGUS_REDUCE(NAME)                                                                                     \
    template <typename D, typename S, typename T>                                                              \
    inline RecordEvent NAME(D &dst, S &src, T &tmp, argus::Site at = argus::Site::here()) {                                  \
        static_assert(argus::in_vec<D> && argus::in_vec<S> && argus::in_vec<T>, #NAME ": tiles are in Vec");   \
        static_assert(argus::same_type<D, S>, #NAME ": tiles have one element type");                          \
        return argus::issue(ARGUS_OP_##NAME, at, dst, src, tmp);                                               \
    }
ARGUS_REDUCE(TROWSUM)
ARGUS_REDUCE(TROWMAX)
ARGUS_REDUCE(TTRANS)
#undef ARGUS_REDUCE

// Small floats are reduced in their own type or in float.
#define ARGUS_REDUCE_COLUMNS(NAME)                                                                                \
    template <typename D, typename S>                                                                             \
    inline RecordEvent NAME(D &dst, S &src, argus::Site at = argus::Site::here()) {                               \
        static_assert(argus::in_vec<D> && argus::in_vec<S>, #NAME ": tiles are in Vec");                          \
        static_assert(argus::same_type<D, S> || argus::widens<D, S>, #NAME ": tiles have one element type, or the destination holds floats"); \
        return argus::issue(ARGUS_OP_##NAME, at, dst, src);                                                       \
    }
ARGUS_REDUCE_COLUMNS(TCOLSUM)
ARGUS_REDUCE_COLUMNS(TCOLMAX)
#undef ARGUS_REDUCE_COLUMNS

// ---- moves on the core

template <typename D, typename S>
inline RecordEvent TMOV(D &dst, S &src, argus::Site at = argus::Site::here()) {
    return argus::issue(ARGUS_OP_TMOV, at, dst, src);
}

template <typename D, typename S>
inline RecordEvent TEXTRACT(D &dst, S &src, uint16_t row, uint16_t col, argus::Site at = argus::Site::here()) {
    static_assert(argus::same_type<D, S>, "TEXTRACT: tiles have one element type");
    argus::Issue(ARGUS_OP_TEXTRACT, at).tile(dst.tile).tile(src.tile).option(row).option(col).run();
    return {};
}

#define ARGUS_FILLPAD(NAME)                                                                                               \
    template <typename D, typename S>                                                                                     \
    inline RecordEvent NAME(D &dst, S &src, argus::Site at = argus::Site::here()) {                                                     \
        static_assert(argus::same_type<D, S>, #NAME ": tiles have one element type");                                     \
        static_assert(D::Rows == S::Rows && D::Cols == S::Cols, #NAME ": tiles have one storage shape");                  \
        static_assert(!argus::in_vec<D> || static_cast<uint64_t>(D::PadVal) != 0, #NAME ": the destination names a pad value"); \
        return argus::issue(ARGUS_OP_##NAME, at, dst, src);                                                               \
    }
ARGUS_FILLPAD(TFILLPAD)
ARGUS_FILLPAD(TFILLPAD_INPLACE)
#undef ARGUS_FILLPAD

// ---- matrices

template <typename C, typename A, typename B>
inline RecordEvent TMATMUL(C &dst, A &left, B &right, argus::Site at = argus::Site::here()) {
    static_assert(C::Loc == TileType::Acc && A::Loc == TileType::Left && B::Loc == TileType::Right, "TMATMUL: tiles are in Acc, Left and Right");
    static_assert(argus::same_type<A, B>, "TMATMUL: the operands have one element type");
    return argus::issue(ARGUS_OP_TMATMUL, at, dst, left, right);
}
template <typename C, typename I, typename A, typename B>
inline RecordEvent TMATMUL_ACC(C &dst, I &acc, A &left, B &right, argus::Site at = argus::Site::here()) {
    static_assert(C::Loc == TileType::Acc && I::Loc == TileType::Acc && A::Loc == TileType::Left && B::Loc == TileType::Right,
                  "TMATMUL_ACC: tiles are in Acc, Acc, Left and Right");
    static_assert(argus::same_type<A, B>, "TMATMUL_ACC: the operands have one element type");
    return argus::issue(ARGUS_OP_TMATMUL_ACC, at, dst, acc, left, right);
}
// The device adds to the destination; so does this.
template <typename C, typename A, typename B>
    requires(is_tile_data_v<B>)
inline RecordEvent TMATMUL_ACC(C &dst, A &left, B &right, argus::Site at = argus::Site::here()) {
    return TMATMUL_ACC(dst, dst, left, right, at);
}

// 8-bit floats are of several kinds; descriptors only know some of them.
template <typename C, typename A, typename SA, typename B, typename SB>
inline RecordEvent TMATMUL_MX(C &dst, A &left, SA &left_scale, B &right, SB &right_scale, argus::Site at = argus::Site::here()) {
    static_assert(C::Loc == TileType::Acc && A::Loc == TileType::Left && B::Loc == TileType::Right, "TMATMUL_MX: tiles are in Acc, Left and Right");
    static_assert(SA::Loc == TileType::ScaleLeft && SB::Loc == TileType::ScaleRight, "TMATMUL_MX: scales are in ScaleLeft and ScaleRight");
    static_assert(A::Cols % 64 == 0, "TMATMUL_MX: k is a multiple of 64");
    argus::Issue(ARGUS_OP_TMATMUL_MX, at)
        .tile(dst.tile)
        .tile(left.tile)
        .tile(left_scale.tile)
        .tile(right.tile)
        .tile(right_scale.tile)
        .option(argus::float8_kind<typename A::DType>)
        .option(argus::float8_kind<typename B::DType>)
        .run();
    return {};
}

// ---- gathers, sorts, ramps

template <typename D, typename S, typename I, typename T>
inline RecordEvent TGATHER(D &dst, S &src, I &index, T &tmp, argus::Site at = argus::Site::here()) {
    static_assert(argus::same_type<D, S>, "TGATHER: tiles have one element type");
    static_assert(sizeof(typename I::DType) == 4 && std::is_integral_v<typename I::DType>, "TGATHER: indices are 32-bit integers");
    return argus::issue(ARGUS_OP_TGATHER, at, dst, src, index, tmp);
}
template <typename D, typename S, MaskPattern Pattern>
inline RecordEvent TGATHER(D &dst, S &src, argus::Site at = argus::Site::here()) {
    static_assert(sizeof(typename D::DType) == sizeof(typename S::DType), "TGATHER: elements have one size");
    argus::Issue(ARGUS_OP_TGATHER_MASK, at).tile(dst.tile).tile(src.tile).option(static_cast<int64_t>(Pattern)).run();
    return {};
}

template <typename D, typename E, int Descending>
inline RecordEvent TCI(D &dst, E start, argus::Site at = argus::Site::here()) {
    static_assert(D::Rows == 1, "TCI: the tile has one row");
    static_assert(std::is_integral_v<E> && sizeof(typename D::DType) == sizeof(E), "TCI: start and tile are integers of one size");
    argus::Issue(ARGUS_OP_TCI, at).tile(dst.tile).option(static_cast<int64_t>(start)).option(Descending).run();
    return {};
}

template <typename D, typename S, typename I>
inline RecordEvent TSORT32(D &dst, S &src, I &index, argus::Site at = argus::Site::here()) {
    static_assert(argus::same_type<D, S>, "TSORT32: scores and records have one element type");
    static_assert(sizeof(typename I::DType) == 4, "TSORT32: indices have 32 bits");
    return argus::issue(ARGUS_OP_TSORT32, at, dst, src, index);
}
template <typename D, typename S, typename I, typename T>
    requires(is_tile_data_v<T>)
inline RecordEvent TSORT32(D &dst, S &src, I &index, T &, argus::Site at = argus::Site::here()) {
    return TSORT32(dst, src, index, at);
}

// Records that each list gave.
struct MrgSortExecutedNumList {
    uint16_t mrgSortList0;
    uint16_t mrgSortList1;
    uint16_t mrgSortList2;
    uint16_t mrgSortList3;
};

template <typename D, typename S>
    requires(is_tile_data_v<S>)
inline RecordEvent TMRGSORT(D &dst, S &src, uint32_t block, argus::Site at = argus::Site::here()) {
    static_assert(argus::same_type<D, S>, "TMRGSORT: tiles have one element type");
    argus::Issue(ARGUS_OP_TMRGSORT, at).tile(dst.tile).tile(src.tile).option(block).run();
    return {};
}
template <typename D, typename T, typename S0, typename S1, bool Exhausted>
inline RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &list, T &tmp, S0 &s0, S1 &s1, argus::Site at = argus::Site::here()) {
    argus::Issue issue(ARGUS_OP_TMRGSORT_LISTS, at);
    argus::merge(issue.tile(dst.tile).tile(tmp.tile).tile(s0.tile).tile(s1.tile), Exhausted, &list.mrgSortList0);
    return {};
}
template <typename D, typename T, typename S0, typename S1, typename S2, bool Exhausted>
inline RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &list, T &tmp, S0 &s0, S1 &s1, S2 &s2, argus::Site at = argus::Site::here()) {
    argus::Issue issue(ARGUS_OP_TMRGSORT_LISTS, at);
    argus::merge(issue.tile(dst.tile).tile(tmp.tile).tile(s0.tile).tile(s1.tile).tile(s2.tile), Exhausted, &list.mrgSortList0);
    return {};
}
template <typename D, typename T, typename S0, typename S1, typename S2, typename S3, bool Exhausted>
inline RecordEvent TMRGSORT(D &dst, MrgSortExecutedNumList &list, T &tmp, S0 &s0, S1 &s1, S2 &s2, S3 &s3, argus::Site at = argus::Site::here()) {
    argus::Issue issue(ARGUS_OP_TMRGSORT_LISTS, at);
    argus::merge(issue.tile(dst.tile).tile(tmp.tile).tile(s0.tile).tile(s1.tile).tile(s2.tile).tile(s3.tile), Exhausted, &list.mrgSortList0);
    return {};
}

}  // namespace pto

#endif  // ARGUS_INSTRUCTIONS_HPP_
