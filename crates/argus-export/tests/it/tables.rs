use std::collections::BTreeMap;

use argus_export::Format;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

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

#[test]
fn the_texts_of_a_row_are_those_of_its_record() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let out = home.path().join("parquet");
    export(&dump, Format::Parquet, &out).unwrap();
    let file = std::fs::File::open(out.join("records.parquet")).unwrap();
    let rows = SerializedFileReader::new(file).unwrap();
    let mut count = 0;
    for (row, record) in rows.get_row_iter(None).unwrap().zip(dump.records()) {
        let cells: BTreeMap<String, Field> = row.unwrap().into_columns().into_iter().collect();
        let text = |name: &str| match &cells[name] {
            Field::Str(text) => Some(text.clone()),
            Field::Null => None,
            other => panic!("{name} is {other:?}"),
        };
        assert_eq!(text("kernel"), Some(dump.kernel_names(&record)), "record {count}");
        assert_eq!(text("stage").as_deref(), Some(record.stage.name()));
        assert_eq!(text("dtype").as_deref(), Some(record.dtype.map_or("UNKNOWN", |dtype| dtype.name())));
        assert_eq!(text("checksum"), record.checksum.map(|checksum| format!("{checksum:032x}")));
        count += 1;
    }
    assert_eq!(count, dump.len());
}
