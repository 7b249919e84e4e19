//! Arguments by role or slot, checked.
//!
//! The two argument conventions put the same operands into other slots. Kernels take their inputs, their
//! outputs and their scalars in the same order in both, so references look for them by role.

use argus_abi::{DType, Role};

use argus_facts::{Argument, Call, Expected, NoReference};

/// An argument with the word for it in messages.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub argument: &'a Argument<'a>,
    pub what: &'static str,
}

/// The operands of a call, each asked for by the word for it in messages.
pub(super) trait Operands<'a> {
    /// The `index`-th tensor of a role.
    fn nth(&self, role: Role, index: usize, what: &'static str) -> Result<Operand<'a>, NoReference>;

    /// The tensor in a slot.
    fn at(&self, slot: u32, what: &'static str) -> Result<Operand<'a>, NoReference>;

    /// The raw bits of the `index`-th scalar.
    fn scalar(&self, index: usize, what: &'static str) -> Result<u64, NoReference>;

    /// A scalar that is a size or an index.
    fn size(&self, index: usize, what: &'static str) -> Result<usize, NoReference>;
}

impl<'a> Operands<'a> for Call<'a> {
    fn nth(&self, role: Role, index: usize, what: &'static str) -> Result<Operand<'a>, NoReference> {
        let mut tensors = self.arguments.iter().filter(|arg| arg.scalar_bits.is_none() && arg.role == role);
        let argument = tensors.nth(index).ok_or(NoReference::Missing { what })?;
        Ok(Operand { argument, what })
    }

    fn at(&self, slot: u32, what: &'static str) -> Result<Operand<'a>, NoReference> {
        let found = self.arguments.iter().find(|arg| arg.slot == slot && arg.scalar_bits.is_none());
        Ok(Operand { argument: found.ok_or(NoReference::Missing { what })?, what })
    }

    fn scalar(&self, index: usize, what: &'static str) -> Result<u64, NoReference> {
        let mut scalars = self.arguments.iter().filter_map(|arg| arg.scalar_bits);
        scalars.nth(index).ok_or(NoReference::Missing { what })
    }

    fn size(&self, index: usize, what: &'static str) -> Result<usize, NoReference> {
        let bits = self.scalar(index, what)?;
        usize::try_from(bits).map_err(|_| NoReference::Shape(format!("the {what} cannot be {bits}")))
    }
}

impl<'a> Operand<'a> {
    pub fn slot(&self) -> u32 {
        self.argument.slot
    }

    fn bytes(&self, wanted: DType) -> Result<&'a [u8], NoReference> {
        let &Argument { slot, dtype, ref shape, before, .. } = self.argument;
        let what = self.what;
        if dtype != wanted {
            return Err(NoReference::Type { slot, what, found: dtype, wanted });
        }
        let bytes = before.ok_or(NoReference::NotCaptured { slot, what })?;
        let numel = shape.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
        if numel.and_then(|numel| dtype.packed_bytes(numel)) != Some(bytes.len() as u64) {
            return Err(NoReference::Size { slot, what, bytes: bytes.len(), shape: shape.clone() });
        }
        Ok(bytes)
    }

    pub fn floats(&self) -> Result<Vec<f32>, NoReference> {
        Ok(self.bytes(DType::F32)?.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect())
    }

    pub fn ints(&self) -> Result<Vec<i32>, NoReference> {
        Ok(self.bytes(DType::I32)?.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect())
    }

    /// The bits of f16 or bf16 elements.
    pub fn halves(&self, dtype: DType) -> Result<Vec<u16>, NoReference> {
        Ok(self.bytes(dtype)?.chunks_exact(2).map(bytemuck::pod_read_unaligned).collect())
    }

    /// Rows and columns, both at least 1.
    pub fn matrix(&self) -> Result<(usize, usize), NoReference> {
        let shape = &self.argument.shape;
        let sizes = match shape[..] {
            [rows, cols] if rows > 0 && cols > 0 => {
                usize::try_from(rows).ok().zip(usize::try_from(cols).ok())
            }
            _ => None,
        };
        let (slot, what) = (self.slot(), self.what);
        sizes
            .ok_or_else(|| NoReference::Shape(format!("argument {slot} ({what}) is not a matrix: {shape:?}")))
    }

    /// The last dimension, at least 1.
    pub fn last_dim(&self) -> Result<usize, NoReference> {
        let shape = &self.argument.shape;
        let last = shape.last().and_then(|&last| usize::try_from(last).ok()).filter(|&last| last > 0);
        let (slot, what) = (self.slot(), self.what);
        last.ok_or_else(|| NoReference::Shape(format!("argument {slot} ({what}) is empty: {shape:?}")))
    }

    /// What this output must hold.
    pub fn expect<T: bytemuck::NoUninit>(
        &self,
        dtype: DType,
        values: &[T],
        reduction: Option<usize>,
    ) -> Result<Expected, NoReference> {
        self.expect_part(dtype, values, None, reduction)
    }

    /// What this output must hold where `unchecked` is not set.
    pub fn expect_part<T: bytemuck::NoUninit>(
        &self,
        dtype: DType,
        values: &[T],
        unchecked: Option<Vec<bool>>,
        reduction: Option<usize>,
    ) -> Result<Expected, NoReference> {
        let &Argument { slot, dtype: found, ref shape, .. } = self.argument;
        if found != dtype {
            return Err(NoReference::Type { slot, what: self.what, found, wanted: dtype });
        }
        let numel = shape.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
        if numel != Some(values.len() as u64) {
            let message = format!(
                "argument {slot} ({}) has the shape {shape:?}, its inputs give {} elements",
                self.what,
                values.len()
            );
            return Err(NoReference::Shape(message));
        }
        let bytes = bytemuck::cast_slice(values).to_vec();
        let reduction = reduction.filter(|&terms| terms > 2).map(|terms| terms as u64);
        Ok(Expected { slot, bytes, unchecked, reduction, exact: true })
    }
}

/// The outputs of a kernel with exp or ln, whose last bit is that of a library: a right task may leave neighbours.
pub fn rounded(outputs: Vec<Expected>) -> Vec<Expected> {
    outputs.into_iter().map(|output| Expected { exact: false, ..output }).collect()
}

/// Says what does not fit unless it does.
pub fn check(fits: bool, why: impl FnOnce() -> String) -> Result<(), NoReference> {
    if fits { Ok(()) } else { Err(NoReference::Shape(why())) }
}

/// The part of a list that is used, if the list is that long.
pub fn part<'a, T>(
    list: &'a [T],
    start: Option<usize>,
    count: usize,
    what: &str,
) -> Result<&'a [T], NoReference> {
    let found = start.and_then(|start| list.get(start..)?.get(..count));
    found.ok_or_else(|| NoReference::Shape(format!("the {what} is too short for what its task reads of it")))
}
