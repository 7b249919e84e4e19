//! The elementwise scenes: every record of every runtime against the references.

use argus_abi::{DType, Kind, RuntimeKind, Stage};
use argus_chip::A2A3SIM;
use argus_scenes::reference::vector as reference;

use crate::model::{A, Model, View, bytes, f32s, float, number, task};
use crate::setup::Subject;

const SIZE: u32 = 16384;
const ADD: [i64; 1] = [0];
const ADD_SCALAR: [i64; 1] = [1];
const MUL: [i64; 1] = [2];

fn binary(f: fn(&[f32], &[f32]) -> Vec<f32>) -> impl Fn(&[Vec<u8>]) -> Vec<Vec<u8>> {
    move |tensors| vec![bytes(&f(&f32s(&tensors[0]), &f32s(&tensors[1])))]
}

fn plus(scalar: f32) -> impl Fn(&[Vec<u8>]) -> Vec<Vec<u8>> {
    move |tensors| vec![bytes(&reference::add_scalar(&f32s(&tensors[0]), scalar))]
}

#[test]
fn vector_example_on_rings_is_dumped_as_the_references_compute_it() {
    let mut subject = Subject::scene("vector_example", "default", RuntimeKind::Trb);
    // Constant inputs would hide elements that are out of place.
    for (index, tensor) in subject.args.tensors.iter_mut().take(2).enumerate() {
        let values: Vec<f32> = (0..SIZE).map(|at| (at * 7 + 3 + index as u32) as f32 / 8.0).collect();
        tensor.bytes = bytes(&values);
    }
    let mut model = Model::default();
    let [a, b, f] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
    let [c, d, e, g] = [(); 4].map(|()| model.fresh(DType::F32, &[SIZE]));
    let inner = 0x1_0000_0000;
    model.run(task(0, &ADD), &[A::In(a), A::In(b), A::Out(c.clone())], binary(reference::add));
    for (id, value, to) in [(inner, 1.0, &d), (inner + 1, 2.0, &e)] {
        let args = [A::In(c.clone()), A::Out(to.clone()), float(value), A::Scalar(DType::U32, 3)];
        model.run(task(id, &ADD_SCALAR), &args, plus(value));
    }
    let args = [A::In(d), A::In(e), A::Out(g.clone()), A::Scalar(DType::U32, 3)];
    model.run(task(inner + 2, &MUL), &args, binary(reference::mul));
    model.run(task(inner + 3, &ADD), &[A::In(g), A::In(c), A::Out(f)], binary(reference::add));
    assert_eq!((model.expected.len(), model.payload_bytes()), (18, 851_968));
    subject.assert_true(&model);
}

#[test]
fn vector_example_built_on_the_host_is_dumped_as_the_references_compute_it() {
    let subject = Subject::scene("vector_example", "default", RuntimeKind::Hbg);
    let mut model = Model::default();
    let [a, b, _] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
    let [c, d, e, f] = [(); 4].map(|()| model.fresh(DType::F32, &[SIZE]));
    let count = || number(SIZE.into());
    model.run(task(0, &ADD), &[A::In(a), A::In(b), A::Out(c.clone()), count()], binary(reference::add));
    for (id, value, to) in [(1, 1.0, &d), (2, 2.0, &e)] {
        let args = [A::In(c.clone()), float(value), A::Out(to.clone()), count()];
        model.run(task(id, &ADD_SCALAR), &args, plus(value));
    }
    model.run(task(3, &MUL), &[A::In(d), A::In(e), A::Out(f), count()], binary(reference::mul));
    subject.assert_true(&model);
}

/// The records of `dump_tensor_example` by hand.
#[test]
fn dump_tensor_example_holds_the_values_computed_by_hand_on_every_runtime() {
    use Stage::{AfterCompletion as After, BeforeDispatch as Before};
    for runtime in RuntimeKind::ALL {
        let subject = Subject::scene("dump_tensor_example", "default", runtime);
        let dump = subject.record(&A2A3SIM, &Default::default()).complete(runtime.name());
        let (tensors, scalars): (Vec<_>, Vec<_>) =
            dump.records.iter().partition(|record| record.kind == Kind::Tensor);
        let tensors = tensors.iter().map(|record| {
            let values = f32s(record.payload.as_ref().unwrap());
            assert_eq!(values.len(), SIZE as usize);
            assert!(values.iter().all(|value| *value == values[0]), "{record:?}");
            (record.key(), values[0])
        });
        let expected = [
            ((0, Before, 0), 2.0),
            ((0, Before, 1), 3.0),
            ((0, After, 2), 5.0),
            ((1, Before, 0), 5.0),
            ((1, After, 0), 6.0),
        ];
        assert_eq!(tensors.collect::<Vec<_>>(), expected, "{runtime}");
        let scalars: Vec<_> =
            scalars.iter().map(|record| (record.key(), record.dtype, record.bits)).collect();
        let (one, size) = (Some(0x3F80_0000), Some(16384));
        let expected = match runtime {
            RuntimeKind::Trb | RuntimeKind::Abg => vec![((1, Before, 1), DType::F32, one)],
            RuntimeKind::Hbg => vec![
                ((0, Before, 3), DType::U64, size),
                ((1, Before, 1), DType::F32, one),
                ((1, Before, 2), DType::U64, size),
            ],
        };
        assert_eq!(scalars, expected, "{runtime}");
    }
}

#[test]
fn dump_tensor_example_is_dumped_as_the_references_compute_it() {
    for runtime in RuntimeKind::ALL {
        let subject = Subject::scene("dump_tensor_example", "default", runtime);
        let mut model = Model::default();
        let [a, b, f] = <[View; 3]>::try_from(model.arguments(&subject.args)).unwrap();
        let host_built = runtime == RuntimeKind::Hbg;
        // A host-built graph allocates its output itself and does not fill it.
        let f = if host_built { model.fresh(DType::F32, &[SIZE]) } else { f };
        let count = host_built.then(|| number(SIZE.into()));
        let mut args = vec![A::In(a), A::In(b), A::Out(f.clone())];
        args.extend(count.clone());
        model.run(task(0, &ADD), &args, binary(reference::add));
        let mut args = vec![A::Inout(f), float(1.0)];
        args.extend(count);
        model.run(task(1, &ADD_SCALAR), &args, plus(1.0));
        subject.assert_true(&model);
    }
}
