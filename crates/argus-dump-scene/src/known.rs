//! What a scene knows about a dump: the kernels of its tasks, which task waits for which, and what each kernel
//! should make of its inputs.

use std::sync::Arc;

use argus_abi::{Kind, RuntimeKind};
use argus_chip::Chip;
use argus_dump::read::{Dump, FormatVersion};
use argus_facts::{Argument, Call, Expected, NoReference, References};
use argus_find::tasks::Supplied;
use argus_scene::{Scene, registry};

use crate::Lookup;
use crate::carried;
use crate::error::LookupError;
use crate::fit::{self, Better, Model, Slot, Span};

/// What a caller says about the scene of a dump; what is left open comes from the dump.
#[derive(Clone, Debug, Default)]
pub struct SceneChoice {
    pub scene: Option<String>,
    pub case: Option<String>,
    pub runtime: Option<String>,
}

/// A scene that a dump belongs to.
pub struct Known {
    scene: Arc<Scene>,
    /// What the tasks of the scene look like, for a dump that does not say that it is one of its runs.
    model: Option<Model>,
    /// The dump names no kernels and has no edges.
    bare: bool,
    /// Our own engine computed the dump.
    ours: bool,
    /// Every task of the dump fits the scene.
    pub fits: bool,
    /// What would fit better.
    pub better: Option<Better>,
}

/// The scene that was named, or the one that the dump names itself; `None` if there is neither.
pub fn known(dump: &Dump, args: &SceneChoice, lookup: &Lookup<'_>) -> Result<Option<Known>, LookupError> {
    let registry = lookup.registry;
    let facts = dump.run();
    let recorded = facts.map(|facts| facts.scene.as_str()).filter(|scene| !scene.is_empty());
    let name = match (&args.scene, recorded) {
        (Some(scene), _) => scene.clone(),
        // A copy of its sources says more than the name.
        (None, Some(recorded)) => carried::scene(dump, lookup)?.unwrap_or_else(|| recorded.to_owned()),
        (None, None) => return Ok(None),
    };
    let scene = match registry.scene(&name) {
        Ok(scene) => scene,
        // A dump may come from a program that is none of the known scenes; a scene that was typed may not.
        Err(_) if args.scene.is_none() => return Ok(None),
        Err(error) => return Err(LookupError::Scene(error)),
    };
    let typed = args.runtime.as_deref().map(registry::runtime).transpose().map_err(LookupError::Runtime)?;
    let bare = crate::is_bare(dump);
    let simulated = facts.is_some_and(|facts| Chip::by_name(&facts.platform).is_ok());
    let ours = dump.format_version() == FormatVersion::Argus && !bare && simulated;
    let named = args.scene.is_none() || recorded == Some(scene.name.as_str());
    let itself = !bare && named && args.case.is_none() && typed.is_none();
    let mut known = Known { scene, model: None, bare, ours, fits: true, better: None };
    if itself {
        return Ok(Some(known));
    }
    let own = args.scene.is_none();
    let case = facts.map(|facts| facts.case.as_str()).filter(|case| own && !case.is_empty());
    let runtime = typed.or_else(|| facts.and_then(|facts| RuntimeKind::by_name(&facts.runtime)));
    let fit = fit::fit(&known.scene, args.case.as_deref().or(case), runtime, dump)?;
    if !fit.known {
        let ids = || dump.records().map(|record| record.task_id);
        return Err(LookupError::Foreign {
            dump: Span(ids().min().zip(ids().max())),
            own: fit.model.span(),
            scene: fit.model.name,
            better: fit.better.map(Box::new),
        });
    }
    known.fits = fit.fits;
    known.better = fit.better;
    known.model = Some(fit.model);
    Ok(Some(known))
}

impl Known {
    /// What the dump does not say itself.
    pub fn supply(self) -> (Option<Supplied>, KernelReferences) {
        let from = format!("scene {}", self.scene.name);
        let graph = self.model.as_ref().filter(|_| self.bare).map(|model| model.graph.clone());
        let references = KernelReferences { scene: self.scene, model: self.model, ours: self.ours };
        (graph.map(|graph| Supplied { from, graph }), references)
    }
}

/// What the kernels of a scene should make of their inputs.
pub struct KernelReferences {
    scene: Arc<Scene>,
    model: Option<Model>,
    ours: bool,
}

impl References for KernelReferences {
    fn expected(&self, call: &Call<'_>) -> Result<Vec<Expected>, NoReference> {
        let Some(references) = &self.scene.references else {
            let (scene, kernels) = (self.scene.name.clone(), call.kernels.join(", "));
            return Err(NoReference::Kernels { scene, kernels });
        };
        let mut expected = match &self.model {
            None => references.expected(call),
            Some(model) => references.expected(&Call { arguments: &fitted(model, call)?, ..call.clone() }),
        }?;
        // Another engine may add in another order and round otherwise.
        if !self.ours {
            expected.iter_mut().for_each(|output| output.exact = false);
        }
        Ok(expected)
    }
}

/// The arguments of a task that fits, in the shapes that the scene gives them: matrices of other programs may lie
/// in one dimension.
fn fitted<'a>(model: &Model, call: &Call<'a>) -> Result<Vec<Argument<'a>>, NoReference> {
    let slot = |argument: &Argument<'_>| Slot {
        slot: argument.slot,
        kind: if argument.scalar_bits.is_some() { Kind::Scalar } else { Kind::Tensor },
        role: argument.role,
        dtype: Some(argument.dtype),
        shape: argument.shape.clone(),
    };
    let slots: Vec<Slot> = call.arguments.iter().map(slot).collect();
    if let Some(how) = model.misfit(call.task, call.func_ids, &slots) {
        return Err(NoReference::Unfit { scene: model.name.clone(), how });
    }
    let shaped = call.arguments.iter().map(|argument| {
        let shape = model.shape(call.task, argument.slot).filter(|_| argument.scalar_bits.is_none());
        Argument { shape: shape.unwrap_or(&argument.shape).to_vec(), ..argument.clone() }
    });
    Ok(shaped.collect())
}
