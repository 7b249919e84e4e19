//! The inner loops of elementwise instructions, compiled for wider vector units too.
//!
//! Each takes a whole grid of lines, so that the choice between the compiled versions is made once per
//! instruction and not once per row.

use multiversion::multiversion;

use crate::lines::{Grid, Source};

/// `dst = f(a, b)`.
pub(crate) fn zip<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    stride: usize,
    grid: Grid,
    a: Source<'_, T>,
    b: Source<'_, T>,
    f: F,
) {
    match (a, b) {
        (Source::Lines(a, sa), Source::Lines(b, sb)) => zip_apart(dst, a, b, grid, [stride, sa, sb], f),
        (Source::InPlace, Source::Lines(b, sb)) => zip_in_place(dst, b, grid, [stride, sb], f),
        (Source::Lines(a, sa), Source::InPlace) => {
            zip_in_place(dst, a, grid, [stride, sa], move |x, y| f(y, x));
        }
        (Source::InPlace, Source::InPlace) => map_in_place(dst, grid, stride, move |x| f(x, x)),
    }
}

/// `dst = f(a)`.
pub(crate) fn map<T: Copy, F: Fn(T) -> T + Copy>(
    dst: &mut [T],
    stride: usize,
    grid: Grid,
    a: Source<'_, T>,
    f: F,
) {
    match a {
        Source::Lines(a, sa) => map_apart(dst, a, grid, [stride, sa], f),
        Source::InPlace => map_in_place(dst, grid, stride, f),
    }
}

/// `dst = f(a, k)` with one `k` for each line.
pub(crate) fn zip_lines<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    stride: usize,
    grid: Grid,
    a: Source<'_, T>,
    k: &[T],
    f: F,
) {
    match a {
        Source::Lines(a, sa) => zip_lines_apart(dst, a, k, grid, [stride, sa], f),
        Source::InPlace => zip_lines_in_place(dst, k, grid, stride, f),
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn zip_apart<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    a: &[T],
    b: &[T],
    grid: Grid,
    [sd, sa, sb]: [usize; 3],
    f: F,
) {
    for line in 0..grid.lines {
        let a = &a[line * sa..][..grid.len];
        let b = &b[line * sb..][..grid.len];
        for ((d, &a), &b) in dst[line * sd..][..grid.len].iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn zip_in_place<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    b: &[T],
    grid: Grid,
    [sd, sb]: [usize; 2],
    f: F,
) {
    for line in 0..grid.lines {
        let b = &b[line * sb..][..grid.len];
        for (d, &b) in dst[line * sd..][..grid.len].iter_mut().zip(b) {
            *d = f(*d, b);
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn map_apart<T: Copy, F: Fn(T) -> T + Copy>(dst: &mut [T], a: &[T], grid: Grid, [sd, sa]: [usize; 2], f: F) {
    for line in 0..grid.lines {
        let a = &a[line * sa..][..grid.len];
        for (d, &a) in dst[line * sd..][..grid.len].iter_mut().zip(a) {
            *d = f(a);
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn map_in_place<T: Copy, F: Fn(T) -> T + Copy>(dst: &mut [T], grid: Grid, stride: usize, f: F) {
    for line in 0..grid.lines {
        for d in &mut dst[line * stride..][..grid.len] {
            *d = f(*d);
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn zip_lines_apart<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    a: &[T],
    k: &[T],
    grid: Grid,
    [sd, sa]: [usize; 2],
    f: F,
) {
    for (line, &k) in k.iter().enumerate().take(grid.lines) {
        let a = &a[line * sa..][..grid.len];
        for (d, &a) in dst[line * sd..][..grid.len].iter_mut().zip(a) {
            *d = f(a, k);
        }
    }
}

#[multiversion(targets("x86_64+avx2+bmi1+bmi2+fma+lzcnt+popcnt"))]
fn zip_lines_in_place<T: Copy, F: Fn(T, T) -> T + Copy>(
    dst: &mut [T],
    k: &[T],
    grid: Grid,
    stride: usize,
    f: F,
) {
    for (line, &k) in k.iter().enumerate().take(grid.lines) {
        for d in &mut dst[line * stride..][..grid.len] {
            *d = f(*d, k);
        }
    }
}
