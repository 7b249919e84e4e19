//! A kernel of the program, and the kernels of a task.

use std::ops::Deref;

use argus_abi::args::KernelAbi;
use argus_abi::{ArgDirection, CoreType};

/// A kernel of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    pub func_id: u32,
    pub name: String,
    pub core_type: CoreType,
    pub signature: Vec<ArgDirection>,
    pub abi: KernelAbi,
}

/// The kernels of a task by number, in the order of its members; empty where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FuncIds {
    ids: [i32; 3],
    count: u8,
}

impl FromIterator<i32> for FuncIds {
    /// Negative numbers stand for a member without a kernel and are left out; a task has at most three.
    fn from_iter<I: IntoIterator<Item = i32>>(ids: I) -> FuncIds {
        let mut func_ids = FuncIds::default();
        for id in ids.into_iter().filter(|&id| id >= 0).take(func_ids.ids.len()) {
            func_ids.ids[usize::from(func_ids.count)] = id;
            func_ids.count += 1;
        }
        func_ids
    }
}

impl FuncIds {
    /// The numbers as entries hold them: -1 where there is none.
    pub fn padded(&self) -> [i32; 3] {
        std::array::from_fn(|index| self.get(index).copied().unwrap_or(-1))
    }
}

impl Deref for FuncIds {
    type Target = [i32];

    fn deref(&self) -> &[i32] {
        &self.ids[..usize::from(self.count)]
    }
}

/// The kernel with this number; `kernels` is sorted by it. Of several with one number the first counts.
pub fn find(kernels: &[KernelInfo], func_id: i32) -> Option<&KernelInfo> {
    let func_id = u32::try_from(func_id).ok()?;
    let at = kernels.partition_point(|kernel| kernel.func_id < func_id);
    kernels.get(at).filter(|kernel| kernel.func_id == func_id)
}

/// Whether a kernel of this name is the one that was asked for. Letter case does not matter to people.
pub fn is_called(name: &str, asked: &str) -> bool {
    name.eq_ignore_ascii_case(asked)
}

/// The different kernels of a task by name, joined with `+`; by number where `name` knows none.
pub fn joined_names<'a>(func_ids: &[i32], name: impl Fn(i32) -> Option<&'a str>) -> String {
    let mut names = String::new();
    for (index, &id) in func_ids.iter().enumerate() {
        if func_ids[..index].contains(&id) {
            continue;
        }
        if !names.is_empty() {
            names.push('+');
        }
        match name(id) {
            Some(name) => names.push_str(name),
            None => names.push_str(&id.to_string()),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_without_a_kernel_are_left_out() {
        assert_eq!(*FuncIds::from_iter([-1, 4, 4]), [4, 4]);
        assert_eq!(*FuncIds::from_iter([1, 2, 3, 4]), [1, 2, 3]);
        assert!(FuncIds::from_iter([-1]).is_empty());
    }

    #[test]
    fn a_kernel_is_named_once_and_by_number_where_it_has_no_name() {
        let name = |id| (id == 4).then_some("ADD");
        assert_eq!(joined_names(&[4, 4, 9], name), "ADD+9");
        assert_eq!(joined_names(&[], name), "");
    }
}
