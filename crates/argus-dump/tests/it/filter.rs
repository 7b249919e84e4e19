//! Filters over dumps whose content is known.

use argus_dump::filter::Filter;
use argus_dump::read::Dump;

use crate::foreign::{data, ours};

fn select(dump: &Dump, text: &str) -> Result<Vec<usize>, String> {
    let filter = Filter::parse(text).map_err(|error| error.to_string())?;
    filter.select(dump).map_err(|error| error.to_string())
}

#[test]
fn conditions_combine_by_and() {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let dump = Dump::open(directory.path()).unwrap();
    for (text, expected) in [
        ("task=0x7", &[0, 1, 2, 3, 4, 5][..]),
        ("task=0x0000000000000009", &[6]),
        ("task=0x000000000000000*", &[0, 1, 2, 3, 4, 5, 6]),
        ("task=0x8..0xa", &[6]),
        ("kernel=SF", &[0, 1, 2, 3, 4, 5]),
        ("kernel=QK,kind=scalar", &[2, 3]),
        ("func-id=5", &[6]),
        ("stage=after", &[4, 5]),
        ("role=inout", &[1, 5]),
        ("role=inout,stage=before_dispatch", &[1]),
        ("arg=2..3", &[1, 2, 5]),
        ("dtype=uint64", &[1, 5]),
        ("index=3", &[3]),
        ("index=5..99", &[5, 6]),
        ("min-size=16", &[0, 1, 5]),
        ("max-size=8", &[2, 3, 4, 6]),
        ("nan=true", &[2, 4]),
        ("nan=false,kind=tensor,task=0x7", &[0, 1, 5]),
    ] {
        assert_eq!(select(&dump, text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(Filter::default().select(&dump).unwrap().len(), 7);
}

#[test]
fn nan_is_looked_for_in_payloads_that_were_not_counted() {
    let april = Dump::open(&data("april/tensor_dump_20260415_093000")).unwrap();
    assert_eq!(
        select(&april, "nan=true"),
        Ok(vec![2, 4]),
        "a NaN in bf16, an infinity in what is left of f16"
    );
    let august = Dump::open(&data("august")).unwrap();
    assert_eq!(select(&august, "nan=true"), Ok(vec![3, 4, 5]), "scalars");
}

#[test]
fn what_matches_nothing_lists_what_there_is() {
    let august = Dump::open(&data("august")).unwrap();
    for (text, expected) in [
        ("task=0x1", "no record has task=0x1; there are 0x0000000100000002, 0x0000000100000003"),
        ("kernel=QK", "no record has kernel=QK; there are 0+1"),
        ("func-id=9", "no record has func-id=9; there are 0, 1"),
        ("arg=99", "no record has arg=99; there are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more"),
        (
            "dtype=FLOAT16",
            "no record has dtype=FLOAT16; there are BFLOAT16, BOOL, FLOAT32, FP8E4M3FN, INT16, INT32, INT64, \
             UINT32, UINT64, UINT8",
        ),
        (
            "kind=tensor,role=inout,stage=before,dtype=BOOL",
            "no record of the 1 with kind=tensor, role=inout, stage=before has dtype=BOOL; there are FP8E4M3FN",
        ),
        ("index=16", "no record has index=16; there are 0 to 15"),
        ("min-size=1GiB", "no record has min-size=1GiB; they have 0 to 32 bytes"),
        ("kind=tensor,nan=true", "no record of the 5 with kind=tensor has nan=true; 5 were looked at"),
        (
            "colour=red",
            "there is no filter 'colour'; there are task, kernel, func-id, stage, role, arg, kind, dtype, min-size, max-size, nan, index",
        ),
        ("nan=maybe", "nan=maybe is not valid: it is true or false"),
        ("index=-1", "index=-1 is not valid: an index is a number, or a range of two joined by '..'"),
        ("task", "'task' in filter 'task' is not of the form key=value"),
    ] {
        let message = select(&august, text).unwrap_err();
        assert_eq!(message, expected);
    }
    let june = Dump::open(&data("june")).unwrap();
    assert_eq!(select(&june, "kernel=QK").unwrap_err(), "no record has kernel=QK; the dump does not say any");
}
