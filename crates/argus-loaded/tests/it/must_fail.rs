//! Forms that are not supported are errors of the compiler, and its words name the instruction.

use crate::compile::compile_text;

const HEAD: &str = "#include <cstdint>\n#include <pto/pto-inst.hpp>\nusing namespace pto;\nusing V = Tile<TileType::Vec, float, 8, 8>;\nusing I = Tile<TileType::Vec, int32_t, 8, 8>;\nusing M = Tile<TileType::Mat, half, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor>;\nusing G = GlobalTensor<float, Shape<1, 1, 1, 8, 8>, Stride<1, 1, 1, 8, 1>>;\nusing H = GlobalTensor<half, Shape<1, 1, 1, 8, 8>, Stride<1, 1, 1, 8, 1>>;\nextern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args) {\n    V v, w;\n    I i;\n    M m;\n    G g(reinterpret_cast<float *>(args[0]));\n    H h(reinterpret_cast<half *>(args[0]));\n";

/// What is wrong with a line, and the words that the compiler must say.
const FORMS: &[(&str, &str)] = &[
    ("TADD(v, v, i);", "TADD: tiles have one element type"),
    ("TADD(v, v, m);", "TADD: tiles are in Vec"),
    ("TADD(v, v);", "no matching function for call to 'TADD("),
    ("TLOAD(v, h);", "TLOAD: elements of tile and tensor have one size"),
    ("TSTORE(g, v, uint64_t(5));", "TSTORE: the quantising form is not supported"),
    (
        "TSTORE<V, G, AtomicType::AtomicNone, ReluPreMode::NormalRelu>(g, v);",
        "TSTORE: ReluPreMode is not supported",
    ),
    ("TMATMUL(v, v, v);", "TMATMUL: tiles are in Acc, Left and Right"),
    ("TFILLPAD(v, w);", "TFILLPAD: the destination names a pad value"),
    ("TGATHER(v, v, v, w);", "TGATHER: indices are 32-bit integers"),
    ("TCI<V, float, 0>(v, 0.0f);", "TCI: the tile has one row"),
    ("TRESHAPE(v, m);", "TRESHAPE: both tiles lie in one space"),
    ("TASSIGN<8>(v);", "TASSIGN: a tile starts at a multiple of 32 bytes"),
    ("TSEL(v, v, v, v);", "'TSEL' was not declared"),
    ("m.SetValue(0, half(1));", "SetValue: the scalar unit reaches Vec tiles only"),
    (
        "Tile<TileType::Vec, float, 8, 7> x;",
        "Tile: a row (column-major: a column) must be a multiple of 32 bytes",
    ),
    ("Shape<1, 1, 1, -1, 8> s(1, 2);", "Shape: give one value for each dynamic dimension"),
];

#[test]
fn unsupported_forms_are_compile_errors_that_name_the_instruction() {
    std::thread::scope(|scope| {
        for forms in FORMS.chunks(FORMS.len().div_ceil(2)) {
            scope.spawn(move || {
                for (line, words) in forms {
                    let dir = tempfile::tempdir().unwrap();
                    let said = compile_text(dir.path(), &format!("{HEAD}    {line}\n}}\n")).unwrap_err();
                    let plain = said.replace(['\u{2018}', '\u{2019}'], "'");
                    assert!(plain.contains(words), "{line}\n{said}");
                }
            });
        }
    });
}
