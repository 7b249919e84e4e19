//! The kernels of paged attention, on one block of one request or on one block position of a batch.

use argus_abi::{DType, Role};

use super::operands::{Operands, check, part, rounded};
use super::{Call, Expected, Found, NoReference};
use crate::reference::paged_attention::{self as reference, Partial, Updated};

type Outputs = Result<Vec<Expected>, NoReference>;

/// One block of one request per task.
pub fn single(call: &Call<'_>) -> Found {
    Some(match call.kernels {
        ["QK"] => qk(call),
        ["SF"] => sf(call).map(rounded),
        ["PV"] => pv(call),
        ["UP"] => up(call).map(rounded),
        _ => return None,
    })
}

fn qk(call: &Call<'_>) -> Outputs {
    let (q, k) = (call.nth(Role::Input, 0, "query")?, call.nth(Role::Input, 1, "key block")?);
    let ((_, head_dim), (_, depth)) = (q.matrix()?, k.matrix()?);
    check(head_dim == depth, || format!("queries of size {head_dim} and keys of size {depth}"))?;
    let s = reference::qk(&q.halves(DType::Bf16)?, &k.halves(DType::Bf16)?, head_dim);
    Ok(vec![call.nth(Role::Output, 0, "scores")?.expect(DType::F32, &s, Some(head_dim))?])
}

/// The captured scores are cut to the columns inside the context; the weights have the whole block.
fn sf(call: &Call<'_>) -> Outputs {
    let s = call.nth(Role::Input, 0, "scores")?;
    let p = call.nth(Role::Output, 0, "weights")?;
    let scale = f32::from_bits(call.scalar(0, "scale")? as u32);
    let ((rows, valid_len), (all_rows, block_size)) = (s.matrix()?, p.matrix()?);
    check(rows == all_rows && valid_len <= block_size, || {
        format!("scores of {rows} x {valid_len} have no weights of {all_rows} x {block_size}")
    })?;
    // As many columns as the task says, none of which is looked at: nothing may ask for more than fits a core.
    check(block_size <= MAX_BLOCK, || format!("a block of {block_size} positions"))?;
    let inside = s.floats()?;
    let whole: Vec<f32> = (inside.chunks_exact(valid_len))
        .flat_map(|row| row.iter().copied().chain(std::iter::repeat_n(0.0, block_size - valid_len)))
        .collect();
    let softmax = reference::softmax_prepare(&whole, block_size, valid_len, scale);
    let (m, l) = (call.nth(Role::Output, 1, "maxima")?, call.nth(Role::Output, 2, "sums")?);
    Ok(vec![
        p.expect(DType::Bf16, &softmax.p, None)?,
        m.expect(DType::F32, &softmax.m, None)?,
        l.expect(DType::F32, &softmax.l, Some(valid_len))?,
    ])
}

/// Positions of a block. Larger ones fit no core.
const MAX_BLOCK: usize = 1 << 16;

fn pv(call: &Call<'_>) -> Outputs {
    let (p, v) = (call.nth(Role::Input, 0, "weights")?, call.nth(Role::Input, 1, "value block")?);
    let ((_, block_size), (rows, head_dim)) = (p.matrix()?, v.matrix()?);
    check(block_size == rows, || format!("weights of {block_size} positions and values of {rows}"))?;
    let o = reference::pv(&p.halves(DType::Bf16)?, &v.halves(DType::Bf16)?, head_dim);
    Ok(vec![call.nth(Role::Output, 0, "weighted values")?.expect(DType::F32, &o, Some(block_size))?])
}

/// The first block replaces a state that was not written before; the output is written after the last.
fn up(call: &Call<'_>) -> Outputs {
    let is_first = call.scalar(0, "flag of the first block")? != 0;
    let is_last = call.scalar(1, "flag of the last block")? != 0;
    let updated = update(call, is_first, is_last)?;
    let mut outputs = state(call, &updated)?;
    // In/out where kernels take descriptors, an output where they take addresses.
    let inout = call.nth(Role::Inout, 3, "output");
    let as_inout = inout.is_ok();
    let out = inout.or_else(|_| call.nth(Role::Output, 0, "output"))?;
    outputs.push(match updated.out {
        Some(values) => out.expect(DType::F32, &values, None)?,
        None if as_inout => out.expect(DType::F32, &out.floats()?, None)?,
        None => {
            let values = vec![0f32; updated.o.len()];
            out.expect_part(DType::F32, &values, Some(vec![true; values.len()]), None)?
        }
    });
    Ok(outputs)
}

/// The merge of a block, the same for one request and for many below each other: rows do not meet.
fn update(call: &Call<'_>, is_first: bool, is_last: bool) -> Result<Updated, NoReference> {
    let [m, l, o] = [(0, "block's maxima"), (1, "block's sums"), (2, "block's values")]
        .map(|(index, what)| call.nth(Role::Input, index, what)?.floats());
    let (m, l, o) = (m?, l?, o?);
    let running = if is_first {
        (Vec::new(), Vec::new(), Vec::new())
    } else {
        let [m, l, o] = [(0, "state's maxima"), (1, "state's sums"), (2, "state's values")]
            .map(|(index, what)| call.nth(Role::Inout, index, what)?.floats());
        (m?, l?, o?)
    };
    let whole = |m: &[f32], l: &[f32], o: &[f32]| {
        !m.is_empty() && m.len() == l.len() && !o.is_empty() && o.len().is_multiple_of(m.len())
    };
    let same = is_first
        || whole(&running.0, &running.1, &running.2)
            && running.0.len() == m.len()
            && running.2.len() == o.len();
    check(whole(&m, &l, &o) && same, || "block and state have other numbers of rows".into())?;
    let block = Partial { m: &m, l: &l, o: &o };
    let running = Partial { m: &running.0, l: &running.1, o: &running.2 };
    Ok(reference::online_update(block, running, is_first, is_last))
}

fn state(call: &Call<'_>, updated: &Updated) -> Outputs {
    let parts =
        [(&updated.m, "state's maxima"), (&updated.l, "state's sums"), (&updated.o, "state's values")];
    let expected = parts.into_iter().enumerate();
    expected
        .map(|(index, (values, what))| call.nth(Role::Inout, index, what)?.expect(DType::F32, values, None))
        .collect()
}

/// One block position of a chunk of requests per task.
pub fn batch(call: &Call<'_>) -> Found {
    Some(match call.kernels {
        ["QK"] => batch_qk(call),
        ["SF"] => batch_sf(call).map(rounded),
        ["PV"] => batch_pv(call),
        ["UP"] => batch_up(call).map(rounded),
        _ => return None,
    })
}

/// Rows of one request where `chunk` requests share `rows`.
fn rows_each(rows: usize, chunk: usize) -> Result<usize, NoReference> {
    let each = rows.checked_div(chunk).filter(|each| each * chunk == rows && *each > 0);
    each.ok_or_else(|| NoReference::Shape(format!("{rows} rows cannot be shared by {chunk} requests")))
}

/// The block of the cache at a position of a request.
fn cached<'a>(
    cache: &'a [u16],
    table: &[i32],
    entry: Option<usize>,
    block: usize,
) -> Result<&'a [u16], NoReference> {
    let number = part(table, entry, 1, "block table")?[0];
    let start = usize::try_from(number).ok().and_then(|number| number.checked_mul(block));
    part(cache, start, block, "cache")
}

/// `(first + nth) * width + at`, unless that is no number.
fn place(first: usize, nth: usize, width: usize, at: usize) -> Option<usize> {
    first.checked_add(nth)?.checked_mul(width)?.checked_add(at)
}

fn batch_qk(call: &Call<'_>) -> Outputs {
    let (chunk, block) = (call.size(0, "chunk size")?, call.size(1, "block position")?);
    let (first_head, table_row) = (call.size(2, "first head")?, call.size(3, "table row")?);
    let (heads, first_request) = (call.size(4, "number of heads")?, call.size(5, "first request")?);
    let (query, out) = (call.nth(Role::Input, 0, "query")?, call.nth(Role::Output, 0, "scores")?);
    let ((_, head_dim), (rows, block_size)) = (query.matrix()?, out.matrix()?);
    let query = query.halves(DType::Bf16)?;
    let keys = call.nth(Role::Input, 1, "key cache")?.halves(DType::Bf16)?;
    let table = call.nth(Role::Input, 2, "block table")?.ints()?;
    let m = rows_each(rows, chunk)?;
    let (mine, theirs) = (checked(m, head_dim)?, checked(block_size, head_dim)?);
    let mut scores = Vec::new();
    for nth in 0..chunk {
        let start = place(first_request, nth, heads, first_head).and_then(|row| row.checked_mul(head_dim));
        let q = part(&query, start, mine, "query")?;
        let k = cached(&keys, &table, place(first_request, nth, table_row, block), theirs)?;
        scores.extend(reference::qk(q, k, head_dim));
    }
    Ok(vec![out.expect(DType::F32, &scores, Some(head_dim))?])
}

fn checked(a: usize, b: usize) -> Result<usize, NoReference> {
    a.checked_mul(b).ok_or_else(|| NoReference::Shape(format!("a matrix of {a} x {b}")))
}

fn batch_sf(call: &Call<'_>) -> Outputs {
    let scale = f32::from_bits(call.scalar(0, "scale")? as u32);
    let (chunk, block) = (call.size(1, "chunk size")?, call.size(2, "block position")?);
    let first_request = call.size(3, "first request")?;
    let s = call.nth(Role::Input, 0, "scores")?;
    let (rows, block_size) = s.matrix()?;
    let s = s.floats()?;
    let lengths = call.nth(Role::Input, 1, "context lengths")?.ints()?;
    let each = checked(rows_each(rows, chunk)?, block_size)?;
    let (mut p, mut m, mut l) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, scores) in s.chunks_exact(each).enumerate() {
        let context = part(&lengths, first_request.checked_add(nth), 1, "context lengths")?[0];
        let before = block.saturating_mul(block_size);
        let valid_len = usize::try_from(context).unwrap_or(0).saturating_sub(before).min(block_size);
        let softmax = reference::softmax_prepare(scores, block_size, valid_len, scale);
        p.extend(softmax.p);
        m.extend(softmax.m);
        l.extend(softmax.l);
    }
    let output = |index, what| call.nth(Role::Output, index, what);
    Ok(vec![
        output(0, "weights")?.expect(DType::Bf16, &p, None)?,
        output(1, "maxima")?.expect(DType::F32, &m, None)?,
        output(2, "sums")?.expect(DType::F32, &l, Some(block_size))?,
    ])
}

fn batch_pv(call: &Call<'_>) -> Outputs {
    let (chunk, block) = (call.size(0, "chunk size")?, call.size(1, "block position")?);
    let (table_row, first_request) = (call.size(2, "table row")?, call.size(3, "first request")?);
    let (p, out) = (call.nth(Role::Input, 0, "weights")?, call.nth(Role::Output, 0, "weighted values")?);
    let ((rows, block_size), (_, head_dim)) = (p.matrix()?, out.matrix()?);
    let p = p.halves(DType::Bf16)?;
    let values = call.nth(Role::Input, 1, "value cache")?.halves(DType::Bf16)?;
    let table = call.nth(Role::Input, 2, "block table")?.ints()?;
    let (mine, theirs) = (checked(rows_each(rows, chunk)?, block_size)?, checked(block_size, head_dim)?);
    let mut weighted = Vec::new();
    for (nth, p) in p.chunks_exact(mine).enumerate() {
        let v = cached(&values, &table, place(first_request, nth, table_row, block), theirs)?;
        weighted.extend(reference::pv(p, v, head_dim));
    }
    Ok(vec![out.expect(DType::F32, &weighted, Some(block_size))?])
}

/// The output is that of all requests; a task writes the rows of its own, after the last block.
fn batch_up(call: &Call<'_>) -> Outputs {
    let is_first = call.scalar(0, "flag of the first block")? != 0;
    let is_last = call.scalar(1, "flag of the last block")? != 0;
    let (chunk, first_head) = (call.size(2, "chunk size")?, call.size(3, "first head")?);
    let (heads, first_request) = (call.size(4, "number of heads")?, call.size(5, "first request")?);
    let updated = update(call, is_first, is_last)?;
    let mut outputs = state(call, &updated)?;
    let out = call.nth(Role::Inout, 3, "output")?;
    let mut values = out.floats()?;
    let (rows, head_dim) = (updated.m.len(), updated.o.len() / updated.m.len());
    let each = checked(rows_each(rows, chunk)?, head_dim)?;
    for (nth, written) in updated.out.iter().flat_map(|out| out.chunks_exact(each)).enumerate() {
        let start = place(first_request, nth, heads, first_head).and_then(|row| row.checked_mul(head_dim));
        part(&values, start, each, "output")?;
        let start = start.unwrap_or(0);
        values[start..start + each].copy_from_slice(written);
    }
    outputs.push(out.expect(DType::F32, &values, None)?);
    Ok(outputs)
}
