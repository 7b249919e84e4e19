//! The kernels of a captured task at their places in the cluster.
//!
//! A dump says which kernels a task ran, and on which cores. Which of the two vector cores of a cluster a kernel
//! had, only the cores tell.

use argus_abi::{CoreSet, CoreType, FuncId, Member};
use argus_dump::read::Dump;

use crate::code::Code;
use crate::error::ReplayError;
use crate::task::MemberKernel;

/// The task's kernels at their places.
pub fn members(
    dump: &Dump,
    funcs: &[i32],
    cores: Option<CoreSet>,
    code: &Code,
) -> Result<Vec<MemberKernel>, ReplayError> {
    let mut places = Places::new(dump, funcs, cores);
    let mut members = Vec::new();
    for &func in funcs {
        let recorded = dump.own_graph().and_then(|graph| graph.kernel(func));
        let missing = || ReplayError::NoKernel {
            func_id: func.into(),
            named: recorded.map_or_else(String::new, |kernel| format!(" ('{}')", kernel.name)),
            known: code.known(),
        };
        let func_id = FuncId(u32::try_from(func).map_err(|_| missing())?);
        let entry = code.kernels.get(func_id).ok_or_else(missing)?;
        if let Some(kernel) = recorded
            && (*kernel.name != *entry.name || kernel.core_type != entry.core_type)
        {
            return Err(ReplayError::OtherKernel {
                func_id: func_id.0,
                recorded: kernel.name.clone(),
                recorded_core: kernel.core_type.name(),
                present: entry.name.to_string(),
                present_core: entry.core_type.name(),
            });
        }
        let member = places.next(entry.core_type)?;
        members.push(MemberKernel { member, func_id, name: entry.name.to_string() });
    }
    Ok(members)
}

/// The task's kernels as far as the dump itself tells what they are and where they ran. One that it does not
/// describe may run anywhere, so there is none then; three fill a cluster, so each has its place.
pub fn recorded_members(
    dump: &Dump,
    funcs: &[i32],
    cores: Option<CoreSet>,
) -> Result<Vec<MemberKernel>, ReplayError> {
    let recorded: Vec<_> =
        funcs.iter().filter_map(|&func| dump.graph().and_then(|graph| graph.kernel(func))).collect();
    if recorded.len() == funcs.len() {
        let mut places = Places::new(dump, funcs, cores);
        let members = recorded.into_iter().map(|kernel| {
            let member = places.next(kernel.core_type)?;
            Ok(MemberKernel { member, func_id: FuncId(kernel.func_id), name: kernel.name.clone() })
        });
        return members.collect();
    }
    match funcs.len() {
        1 => Ok(Vec::new()),
        3 => Ok(Member::ALL
            .into_iter()
            .zip(funcs)
            .map(|(member, func)| MemberKernel {
                member,
                func_id: FuncId(func.unsigned_abs()),
                name: func.to_string(),
            })
            .collect()),
        _ => Err(ReplayError::Places { kernels: listed_numbers(funcs) }),
    }
}

fn listed_numbers(funcs: &[i32]) -> String {
    funcs.iter().map(i32::to_string).collect::<Vec<_>>().join(" and ")
}

/// The places of a cluster that are still free.
struct Places {
    matrix: Option<Member>,
    vector: std::array::IntoIter<Member, 2>,
    kernels: usize,
}

impl Places {
    fn new(dump: &Dump, funcs: &[i32], cores: Option<CoreSet>) -> Places {
        let mut vector = [Member::Aiv0, Member::Aiv1].into_iter();
        // A matrix kernel with one vector kernel: only the cores tell on which of the two places that one ran.
        if funcs.len() == 2 && cores.is_some_and(|cores| ran_on_second_vector_core(dump, cores)) {
            vector.next();
        }
        Places { matrix: Some(Member::Aic), vector, kernels: funcs.len() }
    }

    fn next(&mut self, core_type: CoreType) -> Result<Member, ReplayError> {
        let place = match core_type {
            CoreType::Aic => self.matrix.take(),
            CoreType::Aiv => self.vector.next(),
        };
        place.ok_or(ReplayError::Cluster { kernels: self.kernels })
    }
}

fn ran_on_second_vector_core(dump: &Dump, cores: CoreSet) -> bool {
    let clusters =
        dump.run().and_then(|run| run.configuration.get("clusters")).and_then(|value| value.as_u64());
    let Some(clusters) = clusters.and_then(|clusters| usize::try_from(clusters).ok()) else { return false };
    let mut vector = cores.iter().filter(|&core| core >= clusters).peekable();
    vector.peek().is_some() && vector.all(|core| (core - clusters) % 2 == 1)
}
