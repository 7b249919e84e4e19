//! Kernels that need no more than a line or two: vectors, products, members of mixes, writers of places.

use argus_abi::{DType, Role};

use super::operands::{Operand, Operands, check, rounded};
use super::{Call, Expected, Found, NoReference};
use crate::reference::gemm::{Dims, gemm};
use crate::reference::spmd::{LINE, MIX_MEMBERS};
use crate::reference::{double_buffered, matmul as half, vector as reference};

type Outputs = Result<Vec<Expected>, NoReference>;

/// `vector_example` and `dump_tensor_example`.
pub fn vector(call: &Call<'_>) -> Found {
    let &[kernel] = call.kernels else { return None };
    Some(match kernel {
        "add" => binary(call, reference::add),
        "mul" => binary(call, reference::mul),
        "add_scalar" => add_scalar(call, Role::Input, Role::Output),
        "add_scalar_inplace" => add_scalar(call, Role::Inout, Role::Inout),
        _ => return None,
    })
}

fn binary(call: &Call<'_>, combine: fn(&[f32], &[f32]) -> Vec<f32>) -> Outputs {
    let x = call.nth(Role::Input, 0, "first operand")?;
    let y = call.nth(Role::Input, 1, "second operand")?;
    let z = call.nth(Role::Output, 0, "result")?;
    Ok(vec![combined(x, y, z, combine)?])
}

fn combined(
    x: Operand<'_>,
    y: Operand<'_>,
    z: Operand<'_>,
    combine: fn(&[f32], &[f32]) -> Vec<f32>,
) -> Result<Expected, NoReference> {
    let (a, b) = (x.floats()?, y.floats()?);
    same_length(&a, &b)?;
    z.expect(DType::F32, &combine(&a, &b), None)
}

fn same_length(a: &[f32], b: &[f32]) -> Result<(), NoReference> {
    check(a.len() == b.len(), || format!("operands of {} and {} elements", a.len(), b.len()))
}

fn add_scalar(call: &Call<'_>, from: Role, to: Role) -> Outputs {
    let x = call.nth(from, 0, "operand")?;
    let scalar = f32::from_bits(call.scalar(0, "summand")? as u32);
    let sum = reference::add_scalar(&x.floats()?, scalar);
    Ok(vec![call.nth(to, 0, "result")?.expect(DType::F32, &sum, None)?])
}

/// `matmul`: f16 up to the products.
pub fn matmul(call: &Call<'_>) -> Found {
    let &[kernel] = call.kernels else { return None };
    Some(match kernel {
        "log_sqrt" => log_sqrt(call).map(rounded),
        "matmul" => half_product(call),
        "add_exp" => binary(call, half::add_exp).map(rounded),
        _ => return None,
    })
}

fn log_sqrt(call: &Call<'_>) -> Outputs {
    let a = call.nth(Role::Input, 0, "operand")?.halves(DType::F16)?;
    Ok(vec![call.nth(Role::Output, 0, "result")?.expect(DType::F16, &half::log_sqrt(&a), None)?])
}

fn half_product(call: &Call<'_>) -> Outputs {
    let (a, b) = (call.nth(Role::Input, 0, "left factor")?, call.nth(Role::Input, 1, "right factor")?);
    let dims = dims(a, b)?;
    let product = half::matmul(&a.halves(DType::F16)?, &b.halves(DType::F16)?, dims);
    Ok(vec![call.nth(Role::Output, 0, "product")?.expect(DType::F32, &product, Some(dims.k))?])
}

fn dims(a: Operand<'_>, b: Operand<'_>) -> Result<Dims, NoReference> {
    let ((m, k), (rows, n)) = (a.matrix()?, b.matrix()?);
    check(rows == k, || format!("{m} x {k} and {rows} x {n} matrices have no product"))?;
    Ok(Dims { m, k, n })
}

/// `matmul_double_buffered`: tiles of K are summed on their own.
pub fn double_buffered(call: &Call<'_>) -> Found {
    (call.kernels == ["matmul_double_buffered"]).then(|| {
        let (a, b) = (call.nth(Role::Input, 0, "left factor")?, call.nth(Role::Input, 1, "right factor")?);
        let (dims, k_tile) = (dims(a, b)?, double_buffered::K_TILE);
        check(dims.k.is_multiple_of(k_tile), || format!("{} is not a multiple of {k_tile}", dims.k))?;
        let product = double_buffered::golden(&a.floats()?, &b.floats()?, dims, k_tile);
        Ok(vec![call.nth(Role::Output, 0, "product")?.expect(DType::F32, &product, Some(dims.k))?])
    })
}

/// `bgemm` and `benchmark_bgemm`: square tiles, one or several after the other.
pub fn bgemm(call: &Call<'_>) -> Found {
    let &[kernel] = call.kernels else { return None };
    Some(match kernel {
        "gemm_tile" | "GEMM" => {
            let operands = (|| {
                let a = call.nth(Role::Input, 0, "left tiles")?;
                let b = call.nth(Role::Input, 1, "right tiles")?;
                Ok((a, b, call.nth(Role::Output, 0, "products")?))
            })();
            operands.and_then(|(a, b, c)| Ok(vec![products(a, b, c)?]))
        }
        "tile_add" | "ADD" => accumulate(call),
        _ => return None,
    })
}

/// Products of square tiles; the last dimension is their edge.
fn products(a: Operand<'_>, b: Operand<'_>, c: Operand<'_>) -> Result<Expected, NoReference> {
    let edge = a.last_dim()?;
    let (left, right) = (a.floats()?, b.floats()?);
    same_length(&left, &right)?;
    let tile = edge.checked_mul(edge).filter(|&tile| left.len().is_multiple_of(tile));
    let Some(tile) = tile else {
        return Err(NoReference::Shape(format!("{} elements are no tiles of edge {edge}", left.len())));
    };
    let pairs = left.chunks_exact(tile).zip(right.chunks_exact(tile));
    let product: Vec<f32> = pairs.flat_map(|(a, b)| gemm(a, b, Dims::square(edge))).collect();
    c.expect(DType::F32, &product, Some(edge))
}

fn accumulate(call: &Call<'_>) -> Outputs {
    let sum = call.nth(Role::Inout, 0, "sum")?;
    Ok(vec![combined(sum, call.nth(Role::Input, 0, "summand")?, sum, reference::add)?])
}

/// `mixed_example`: each member has its operands in slots of its own.
pub fn mixed(call: &Call<'_>) -> Found {
    let first_slot = |kernel: &str| match kernel {
        "MATMUL" | "ADD_STANDALONE" | "MUL_STANDALONE" => Some(0),
        "ADD" => Some(3),
        "MUL" => Some(6),
        _ => None,
    };
    let slots: Vec<u32> = call.kernels.iter().map(|kernel| first_slot(kernel)).collect::<Option<_>>()?;
    let member = |(&kernel, first): (&&str, u32)| {
        let x = call.at(first, "first operand of a member")?;
        let y = call.at(first + 1, "second operand of a member")?;
        let z = call.at(first + 2, "result of a member")?;
        match kernel {
            "MATMUL" => products(x, y, z),
            "ADD" | "ADD_STANDALONE" => combined(x, y, z, reference::add),
            _ => combined(x, y, z, reference::mul),
        }
    };
    (!slots.is_empty()).then(|| call.kernels.iter().zip(slots).map(member).collect())
}

/// `pipe_mix`: the product of the matrix core and the bias that the vector cores add are one result.
pub fn pipe_mix(call: &Call<'_>) -> Found {
    (call.kernels == ["matmul_push", "pop_add_bias", "pop_add_bias"]).then(|| {
        let (a, b) = (call.nth(Role::Input, 0, "left factor")?, call.nth(Role::Input, 1, "right factor")?);
        let dims = dims(a, b)?;
        let (product, bias) =
            (gemm(&a.floats()?, &b.floats()?, dims), call.nth(Role::Input, 2, "bias")?.floats()?);
        same_length(&product, &bias)?;
        let sum = reference::add(&product, &bias);
        Ok(vec![call.nth(Role::Output, 0, "result")?.expect(DType::F32, &sum, Some(dims.k))?])
    })
}

/// Kernels that write where they ran: one line of the first argument per block and member.
pub fn spmd(call: &Call<'_>) -> Found {
    let prefix = call.kernels.first()?.split_once('_')?.0;
    let members = ["aic", "aiv0", "aiv1"].map(|member| format!("{prefix}_{member}"));
    Some(match call.kernels {
        ["write_block"] => places(call, 1, |block, _| vec![block]),
        kernels if kernels.iter().eq(&members) => match prefix {
            // The matrix core and the first vector core have the sub-block id 0, the second vector core 1.
            "context" => {
                let blocks = call.blocks as f32;
                places(call, MIX_MEMBERS, move |block, member| {
                    vec![block, blocks, if member == 2 { 1.0 } else { 0.0 }]
                })
            }
            "write" => places(call, MIX_MEMBERS, |block, _| vec![block]),
            "meet" => meet(call),
            _ => return None,
        },
        _ => return None,
    })
}

/// What the lines of an in/out tensor hold when every member of every block has written the start of its own.
fn places(call: &Call<'_>, members: usize, start: impl Fn(f32, usize) -> Vec<f32>) -> Outputs {
    let output = call.nth(Role::Inout, 0, "buffer of lines")?;
    let mut lines = output.floats()?;
    let count = call.blocks as usize * members;
    check(lines.len() >= count * LINE, || format!("{} elements are no {count} lines", lines.len()))?;
    for (number, line) in lines.chunks_exact_mut(LINE).take(count).enumerate() {
        let values = start((number / members) as f32, number % members);
        line[..values.len()].copy_from_slice(&values);
    }
    Ok(vec![output.expect(DType::F32, &lines, None)?])
}

/// Members that met leave a mark each. What else was in the lines of the marks is not captured.
fn meet(call: &Call<'_>) -> Outputs {
    let mut outputs = places(call, MIX_MEMBERS, |block, _| vec![block])?;
    let elements = outputs.iter().map(|output| output.bytes.len() / 4).sum();
    let marks: Vec<i32> = (0..elements).map(|element| i32::from(element % LINE == 0)).collect();
    let unchecked = marks.iter().map(|&mark| mark == 0).collect();
    let output = call.nth(Role::Output, 0, "buffer of marks")?;
    outputs.push(output.expect_part(DType::I32, &marks, Some(unchecked), None)?);
    Ok(outputs)
}

/// Kernels that fail on purpose. Those that end write nothing.
pub fn failures(call: &Call<'_>) -> Found {
    let &[kernel] = call.kernels else { return None };
    Some(match kernel {
        "nothing" | "slow" => {
            let kept =
                call.arguments.iter().filter(|arg| arg.role == Role::Inout && arg.scalar_bits.is_none());
            kept.map(|argument| {
                let operand = Operand { argument, what: "in/out tensor" };
                operand.expect(DType::F32, &operand.floats()?, None)
            })
            .collect()
        }
        "endless" | "endless_and_deaf" | "crashing" | "faulting" => {
            Err(NoReference::Endless { kernel: kernel.into() })
        }
        _ => return None,
    })
}
