//! Cost rows of vector instructions by name, with endings for narrow elements and for rows with gaps.
//!
//! Every instruction has a row. One that costs what another does says so: `{"same_as": "VADD", "source": ...}`.

use serde_json::{Map, Value};

use crate::machine::VectorInstr;

/// Cost row of a column that is spread over its row.
pub(super) const ROW_EXPAND: &str = "ROWEXPAND";
/// Endings of a cost row for elements of one width, and for rows that do not follow each other in memory.
pub(super) const WIDTHS: [&str; 2] = [".b16", ".b8"];
pub(super) const ROWS: &str = ".rows";

/// The rows that may price an instruction, the closest first.
pub(super) fn candidates(name: &str, width: &str, rows: &str) -> [String; 4] {
    [format!("{name}{width}{rows}"), format!("{name}{width}"), format!("{name}{rows}"), name.to_owned()]
}

/// Name, width and rows of a key that may price a vector instruction.
fn parts(key: &str) -> Option<(&str, &str, &str)> {
    let (key, rows) = key.strip_suffix(ROWS).map_or((key, ""), |key| (key, ROWS));
    let narrow = WIDTHS.iter().find_map(|width| Some((key.strip_suffix(width)?, *width)));
    let (name, width) = narrow.unwrap_or((key, ""));
    VectorInstr::ALL.iter().any(|instr| instr.mnemonic().name() == name).then_some((name, width, rows))
}

#[cfg(test)]
pub(super) fn is_cost_row(key: &str) -> bool {
    parts(key).is_some()
}

/// Makes a row of its own of one that was another's so far, so that it can be changed alone.
pub(super) fn give_own(rows: &mut Map<String, Value>, key: &str) {
    let Some((name, width, in_rows)) = parts(key) else { return };
    let shared = candidates(name, width, in_rows).iter().find_map(|key| rows.get(key)).cloned();
    let Some(shared) = shared else { return };
    let own = shared["same_as"].as_str().and_then(|other| rows.get(other)).cloned().unwrap_or(shared);
    rows.insert(key.to_owned(), own);
}

/// Puts the other row in place of each one that only names it. Where there is no other, there is none.
pub(super) fn copy_same(rows: &mut Map<String, Value>) {
    let shared = |row: &Value| row.get("same_as").and_then(Value::as_str).map(str::to_owned);
    let named: Vec<(String, String)> =
        rows.iter().filter_map(|(key, row)| Some((key.clone(), shared(row)?))).collect();
    for (key, other) in named {
        match rows.get(&other).cloned() {
            Some(row) => rows.insert(key, row),
            None => rows.remove(&key),
        };
    }
}
