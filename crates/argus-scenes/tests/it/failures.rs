//! Every way to end badly: the right code, and a message that names what went wrong.

use argus_chip::CHIPS;
use argus_facts::with_causes;
use argus_runtime::RunError;
use argus_scene::play::{PlayError, PlayOptions, play};
use argus_scenes::scenes::failures::{FAILURES, scene};

#[test]
fn every_failure_has_the_right_code_and_message() {
    assert_eq!(scene().cases.len(), FAILURES.len());
    for (case, failure) in scene().cases.iter().zip(FAILURES) {
        assert_eq!(case.name, failure.case);
        for &runtime in &case.runtimes {
            for platform in CHIPS {
                let name = format!("{} on {runtime}, {}", case.name, platform.name);
                let error: RunError = match play(case, runtime, platform, &PlayOptions::default()) {
                    Err(PlayError::Run(error)) => error,
                    other => panic!("{name}: {other:?}"),
                };
                assert_eq!(error.fatal_code(), failure.code, "{name}: {error}");
                let message = with_causes(&error);
                for part in failure.says {
                    assert!(message.contains(part), "{name}: '{part}' is not in: {message}");
                }
            }
        }
    }
}

/// A run that fails leaves its device usable, unless a thread never came back.
#[test]
fn a_device_survives_a_failed_run_but_not_an_abandoned_thread() {
    use argus_abi::RuntimeKind;
    use argus_runtime::{ConfigError, Device, RunConfig};
    let by_name = |name: &str| scene().case(Some(name), None).unwrap().0;
    let run = |device: &mut Device, name: &str| {
        let prepared = by_name(name).prepare(RuntimeKind::Trb, CHIPS[0]).unwrap();
        let mut config = RunConfig::default();
        (prepared.configure)(&mut config);
        device.run(&prepared.program, &mut prepared.args.clone(), &config).unwrap_err()
    };
    let mut device = Device::new(CHIPS[0]);
    assert!(matches!(run(&mut device, "crashing_kernel"), RunError::KernelPanic { .. }));
    assert!(matches!(run(&mut device, "stuck_kernel"), RunError::Stuck { .. }));
    assert!(matches!(run(&mut device, "stuck_kernel_that_hears_nothing"), RunError::Stuck { .. }));
    let after = run(&mut device, "crashing_kernel");
    assert!(matches!(after, RunError::Config(ConfigError::Abandoned)), "{after}");
}
