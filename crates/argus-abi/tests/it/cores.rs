use argus_abi::{CoreSet, MAX_CORES};

#[test]
fn a_set_holds_every_core_that_a_chip_may_have() {
    let mut set = CoreSet::EMPTY;
    for core in 0..MAX_CORES {
        assert!(!set.contains(core));
        assert!(set.insert(core) && set.contains(core));
        assert_eq!(set.iter().collect::<Vec<_>>(), (0..=core).collect::<Vec<_>>());
    }
    assert!(!set.insert(MAX_CORES) && !set.contains(MAX_CORES) && !set.insert(usize::MAX));
    assert_eq!(set.iter().count(), MAX_CORES);
}

#[test]
fn a_set_is_its_bits() {
    let set = CoreSet::from_iter([0, 63, 64, 200]);
    assert_eq!(set, CoreSet::from_words([1 | 1 << 63, 1, 0, 1 << 8]));
    assert_eq!(format!("{set:?}"), "{0, 63, 64, 200}");
    assert!(!set.is_empty() && CoreSet::EMPTY.is_empty());
}
