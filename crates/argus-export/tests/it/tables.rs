use argus_export::Format;

use crate::common::{everything, export, names, write};
use crate::python;

#[test]
fn pyarrow_and_csv_read_every_row_back() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("tensor_dump");
    let dump = everything(&source);
    for format in [Format::Parquet, Format::Csv] {
        let out = home.path().join(format.name());
        let report = export(&dump, format, &out).unwrap();
        assert_eq!((report.records as usize, report.files), (dump.len(), 1));
        python::run("check_tables.py", &[&source, &out]);
    }
}

#[test]
fn a_dump_without_records_gives_tables_with_columns() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("tensor_dump");
    let dump = write(&source, &[]);
    for format in Format::ALL {
        let out = home.path().join(format.name());
        let report = export(&dump, format, &out).unwrap();
        assert_eq!(report.files as usize, names(&out).len());
    }
    for format in [Format::Parquet, Format::Csv] {
        python::run("check_tables.py", &[&source, &home.path().join(format.name())]);
    }
    for format in [Format::Npy, Format::Npz, Format::Safetensors] {
        python::run("check_arrays.py", &[&source, &home.path().join(format.name())]);
    }
}
