//! Real dumps of the reference, where `ARGUS_SAMPLES` says that there are some.

use std::path::PathBuf;

use argus_abi::Stage;
use argus_dump::read::{Dump, Scalar};
use argus_dump::verify::verify;

use crate::foreign::values;

fn samples() -> Option<PathBuf> {
    std::env::var_os("ARGUS_SAMPLES").map(PathBuf::from)
}

/// What was read off the files with other tools.
#[test]
fn samples_hold_what_other_tools_find_in_them() {
    let Some(samples) = samples() else { return };
    let open = |name: &str| Dump::open(&samples.join(name)).unwrap();

    let june = open("june-a2a3sim-hbg-dump_tensor");
    let expected = [2.0, 3.0, 5.0, 5.0, 6.0];
    for (index, value) in expected.into_iter().enumerate() {
        assert_eq!(values(&june, index), vec![value; 16384]);
    }
    let level1 = open("august-a2a3sim-trb-args_dump-level1");
    assert_eq!(level1.record(1).scalar, Some(Scalar::Rounded(1.0)));
    assert_eq!(level1.record(2).scalar, Some(Scalar::Bits(3)));
    assert_eq!(level1.records().filter(|record| record.ambiguous_index).count(), 1);
    let level3 = open("august-a2a3sim-trb-args_dump-level3");
    assert_eq!(level3.records().filter(|record| record.has_payload()).count(), 7);

    for name in
        ["june-a2a3sim-trb-paged_attention-CaseSmall1", "august-a2a3sim-trb-paged_attention-CaseSmall1"]
    {
        let dump = open(name);
        let scalars = dump.records().filter(|record| record.scalar.is_some()).count();
        let after = dump.records().filter(|record| record.stage == Stage::AfterCompletion).count();
        assert_eq!((dump.len(), scalars, after), (72, 9, 27));
        let scaled = dump.records().find(|record| record.arg_index == 4 && record.scalar.is_some()).unwrap();
        assert_eq!(scaled.scalar, Some(Scalar::Bits(0x3f80_0000)));
    }
}

#[test]
fn every_sample_is_sound() {
    let Some(samples) = samples() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(samples).unwrap() {
        let path = entry.unwrap().path();
        let dump = Dump::open(&path).unwrap();
        let verdict = verify(&dump, |_, _| {});
        assert!(verdict.is_sound(), "{}: {:#?}", path.display(), verdict.defects);
        seen += 1;
    }
    assert!(seen >= 6);
}
