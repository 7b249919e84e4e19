use argus_chip::{CHIPS, Chip, DEFAULT_CHIP, listed};

#[test]
fn a_chip_is_found_by_its_name_and_by_no_other() {
    for chip in CHIPS {
        assert_eq!(Chip::by_name(chip.name), Ok(chip));
        assert_eq!(
            Chip::by_name(chip.hardware).unwrap_err().to_string(),
            format!(
                "platform '{}' is real hardware and needs its vendor's toolkit; run on its simulated twin '{}'",
                chip.hardware, chip.name
            )
        );
    }
    assert_eq!(
        Chip::by_name("a6sim").unwrap_err().to_string(),
        "there is no platform 'a6sim'; there are a2a3sim and a5sim"
    );
    assert_eq!((DEFAULT_CHIP.name, listed("or").as_str()), ("a2a3sim", "a2a3sim or a5sim"));
}

#[test]
fn no_two_chips_share_a_name() {
    let mut names: Vec<&str> = CHIPS.iter().flat_map(|chip| [chip.name, chip.hardware]).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 2 * CHIPS.len());
}

#[test]
#[should_panic(expected = "more cores than argus_abi::MAX_CORES")]
fn a_chip_with_more_cores_than_a_set_holds_is_refused() {
    Chip { clusters: 86, ..*DEFAULT_CHIP }.check();
}
