use argus_export::Format;

use crate::common::{everything, export, names};
use crate::python;

#[test]
fn numpy_reads_every_array_back_bit_for_bit() {
    let home = tempfile::tempdir().unwrap();
    let source = home.path().join("tensor_dump");
    let dump = everything(&source);
    for format in [Format::Npy, Format::Npz, Format::Safetensors] {
        let out = home.path().join(format.name());
        let report = export(&dump, format, &out).unwrap();
        assert_eq!(report.records as usize, dump.len());
        assert_eq!(report.files as usize, names(&out).len());
        let bytes: u64 = names(&out).iter().map(|name| out.join(name).metadata().unwrap().len()).sum();
        assert_eq!(report.bytes, bytes);
        let without: Vec<_> = report.without_payload.iter().map(|group| group.reason.as_str()).collect();
        assert_eq!(without, ["captured without its payload"]);
        assert_eq!(report.without_payload[0].records.len(), 1);
        python::run("check_arrays.py", &[&source, &out]);
    }
}

#[test]
fn the_same_dump_gives_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    for format in Format::ALL {
        let (first, second) =
            (home.path().join("first").join(format.name()), home.path().join(format.name()));
        export(&dump, format, &first).unwrap();
        export(&dump, format, &second).unwrap();
        assert_eq!(names(&first), names(&second));
        for name in names(&first) {
            let same =
                std::fs::read(first.join(&name)).unwrap() == std::fs::read(second.join(&name)).unwrap();
            assert!(same, "{format:?}: {name}");
        }
    }
}
