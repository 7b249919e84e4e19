// Tiles: handles to parts of a core's memory. The type carries layout and static shape, the object the descriptor
// that instructions pass on.
#ifndef ARGUS_TILE_HPP_
#define ARGUS_TILE_HPP_

#include "argus/bound.hpp"
#include "argus/enums.hpp"
#include "argus/numbers.hpp"

namespace argus {

// Rows and columns of a box. `size` bytes per element.
constexpr int box_rows(pto::SLayout inner, int fractal, int size) {
    return inner == pto::SLayout::NoneBox ? 1 : inner == pto::SLayout::RowMajor ? 16 : fractal == 1024 ? 16 : fractal == 32 ? 2 : 32 / size;
}
constexpr int box_cols(pto::SLayout inner, int fractal, int size) {
    return inner == pto::SLayout::NoneBox ? 1 : inner == pto::SLayout::ColMajor ? 16 : fractal == 1024 ? 16 : fractal == 32 ? 2 : 32 / size;
}

// The part of a tile that does not depend on its type: compiled once.
struct TileHandle {
    ArgusTile tile;
};

constexpr uint64_t CUSTOM_PAD = static_cast<uint64_t>(pto::PadValue::CustomBase);

template <typename T>
inline T get_value(const ArgusTile &tile, uint32_t index, const Site &at) {
    uint64_t bits = 0;
    Issue issue(ARGUS_OP_GET_VALUE, at);
    issue.tile(tile).option(index);
    issue.result = &bits;
    issue.run();
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

inline void set_value(const ArgusTile &tile, uint32_t index, uint8_t dtype, uint64_t bits, const Site &at) {
    Issue(ARGUS_OP_SET_VALUE, at).tile(tile).option(index).scalar(dtype, bits).run();
}

// One element of a tile that is used like an array. On-chip memory is the engine's, so there is no pointer to it.
template <typename T>
struct TileElement {
    const ArgusTile *tile;
    uint32_t index;
    Site at;

    operator T() const { return get_value<T>(*tile, index, at); }
    TileElement &operator=(T value) {
        set_value(*tile, index, dtype_of<T>, scalar_bits(value), at);
        return *this;
    }
    TileElement &operator=(const TileElement &other) { return *this = static_cast<T>(other); }
    TileElement &operator+=(T value) { return *this = static_cast<T>(static_cast<T>(*this) + value); }
    TileElement &operator-=(T value) { return *this = static_cast<T>(static_cast<T>(*this) - value); }
    TileElement &operator*=(T value) { return *this = static_cast<T>(static_cast<T>(*this) * value); }
};

// A tile as an array.
template <typename T>
struct TileData {
    const ArgusTile *tile;

    TileElement<T> operator[](uint64_t index) const { return {tile, static_cast<uint32_t>(index), Site::here()}; }
    TileElement<T> operator*() const { return (*this)[0]; }
};

}  // namespace argus

namespace pto {

template <TileType Loc_, typename Element_, int Rows_, int Cols_, BLayout BFractal_ = BLayout::RowMajor, int RowValid_ = Rows_,
          int ColValid_ = Cols_, SLayout SFractal_ = SLayout::NoneBox, int SFractalSize_ = 512, auto PadVal_ = PadValue::Null,
          CompactMode Compact_ = CompactMode::Null>
struct Tile : argus::TileHandle {
    using DType = Element_;
    using TileDType = Element_ *;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_;
    static constexpr int Cols = Cols_;
    static constexpr int ValidRow = RowValid_;
    static constexpr int ValidCol = ColValid_;
    static constexpr int Numel = Rows_ * Cols_;
    static constexpr BLayout BFractal = BFractal_;
    static constexpr SLayout SFractal = SFractal_;
    static constexpr int SFractalSize = SFractalSize_;
    static constexpr auto PadVal = PadVal_;
    static constexpr CompactMode Compact = Compact_;
    static constexpr bool isRowMajor = BFractal_ == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = SFractal_ != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = SFractal_ == SLayout::RowMajor;
    static constexpr bool isInnerColMajor = SFractal_ == SLayout::ColMajor;
    static constexpr int RowStride = isRowMajor ? Cols_ : 1;
    static constexpr int ColStride = isRowMajor ? 1 : Rows_;
    static constexpr int InnerRows = argus::box_rows(SFractal_, SFractalSize_, sizeof(Element_));
    static constexpr int InnerCols = argus::box_cols(SFractal_, SFractalSize_, sizeof(Element_));
    static constexpr int InnerNumel = InnerRows * InnerCols;

    static_assert(Rows_ > 0 && Cols_ > 0, "Tile: rows and columns must be positive");
    static_assert(RowValid_ <= Rows_ && ColValid_ <= Cols_, "Tile: the valid shape exceeds the storage");
    static_assert(SFractalSize_ == 512 || SFractalSize_ == 1024 || SFractalSize_ == 32, "Tile: a fractal has 512, 1024 or 32 bytes");
    static_assert(isBoxedLayout || (isRowMajor ? Cols_ : Rows_) * sizeof(Element_) % 32 == 0,
                  "Tile: a row (column-major: a column) must be a multiple of 32 bytes");
    static_assert(!isBoxedLayout || Cols_ % InnerCols == 0, "Tile: the columns must be a multiple of the box's");
    static_assert(!isBoxedLayout || Rows_ % InnerRows == 0 || Loc_ == TileType::Vec || SFractalSize_ == 32 || Rows_ == 1,
                  "Tile: the rows must be a multiple of the box's");

    Tile() : argus::TileHandle{facts(RowValid_, ColValid_)} {}

    // One argument where one dimension is dynamic, two where both are.
    explicit Tile(unsigned valid) : argus::TileHandle{facts(RowValid_ == DYNAMIC ? valid : RowValid_, ColValid_ == DYNAMIC ? valid : ColValid_)} {
        static_assert((RowValid_ == DYNAMIC) != (ColValid_ == DYNAMIC), "Tile: one argument needs one dynamic dimension");
    }
    Tile(unsigned rows, unsigned cols) : argus::TileHandle{facts(rows, cols)} {
        static_assert(RowValid_ == DYNAMIC && ColValid_ == DYNAMIC, "Tile: two arguments need two dynamic dimensions");
    }

    static constexpr unsigned GetValidRow()
        requires(RowValid_ >= 0)
    {
        return RowValid_;
    }
    unsigned GetValidRow() const
        requires(RowValid_ < 0)
    {
        return tile.valid_rows;
    }
    static constexpr unsigned GetValidCol()
        requires(ColValid_ >= 0)
    {
        return ColValid_;
    }
    unsigned GetValidCol() const
        requires(ColValid_ < 0)
    {
        return tile.valid_cols;
    }
    void SetValidRow(unsigned rows) {
        static_assert(RowValid_ == DYNAMIC, "SetValidRow: the rows are static");
        tile.valid_rows = rows;
    }
    void SetValidCol(unsigned cols) {
        static_assert(ColValid_ == DYNAMIC, "SetValidCol: the columns are static");
        tile.valid_cols = cols;
    }
    void SetValidShape(unsigned rows, unsigned cols) {
        if constexpr (RowValid_ == DYNAMIC) {
            tile.valid_rows = rows;
        }
        if constexpr (ColValid_ == DYNAMIC) {
            tile.valid_cols = cols;
        }
    }

    // Elements by their place in the storage, whatever the layout.
    void SetValue(uint32_t index, DType value, argus::Site at = argus::Site::here()) {
        static_assert(Loc_ == TileType::Vec, "SetValue: the scalar unit reaches Vec tiles only");
        argus::set_value(tile, index, argus::dtype_of<DType>, argus::scalar_bits(value), at);
    }
    DType GetValue(uint32_t index, argus::Site at = argus::Site::here()) const {
        static_assert(Loc_ == TileType::Vec, "GetValue: the scalar unit reaches Vec tiles only");
        return argus::get_value<DType>(tile, index, at);
    }

    // Elements of a Vec tile as if it were an array: each access is one of the scalar unit.
    argus::TileData<DType> data() const
        requires(Loc_ == TileType::Vec)
    {
        return {&tile};
    }
    // The address in the tile's space as a pointer; nothing can be read through it.
    TileDType data() const
        requires(Loc_ != TileType::Vec)
    {
        return reinterpret_cast<TileDType>(static_cast<uintptr_t>(tile.addr));
    }

    void SetKAligned(bool) {}
    bool GetKAligned() const { return false; }
    void SetMadTF32Mode(RoundMode) {}
    void ResetMadMode() {}

  private:
    static ArgusTile facts(unsigned rows, unsigned cols) {
        constexpr uint64_t pad = static_cast<uint64_t>(PadVal_);
        constexpr bool custom = pad >= argus::CUSTOM_PAD;
        return ArgusTile{0,
                         Rows_,
                         Cols_,
                         rows,
                         cols,
                         static_cast<uint8_t>(Loc_),
                         argus::dtype_of<Element_>,
                         static_cast<uint8_t>(BFractal_),
                         static_cast<uint8_t>(SFractal_),
                         SFractalSize_,
                         0,
                         0,
                         custom ? 4 : static_cast<uint32_t>(pad),
                         static_cast<uint32_t>(pad)};
    }
};

template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 512>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftScale = Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightScale = Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftCompact = Tile<TileType::Left, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightCompact = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileAccCompact = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileLeftScaleCompact =
    Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32, PadValue::Null, CompactMode::Normal>;
template <typename T, int R, int C, int VR = R, int VC = C>
using TileRightScaleCompact =
    Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32, PadValue::Null, CompactMode::Normal>;

template <typename T>
constexpr bool is_tile_data_v = std::is_base_of_v<argus::TileHandle, T>;
template <typename T>
constexpr bool is_conv_tile_v = false;

// Pad values by their bits.
constexpr PadValue PadValueCustom(float value) {
    return static_cast<PadValue>(argus::CUSTOM_PAD + __builtin_bit_cast(uint32_t, value));
}
constexpr PadValue PadValueCustom(int32_t value) { return static_cast<PadValue>(argus::CUSTOM_PAD + static_cast<uint32_t>(value)); }
constexpr PadValue PadValueCustom16(uint16_t bits) { return static_cast<PadValue>(argus::CUSTOM_PAD + bits); }
template <auto Value>
constexpr PadValue PadCustom = PadValueCustom(Value);

// What a scale tile's address is in units of the matrix unit.
template <typename T>
inline uint64_t GetScaleAddr(T *address) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address)) >> 4;
}

}  // namespace pto

#endif  // ARGUS_TILE_HPP_
