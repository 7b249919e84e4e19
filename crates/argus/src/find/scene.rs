//! What a scene knows about a dump: the kernels of its tasks, which task waits for which, and what each kernel
//! should make of its inputs.

use std::sync::Arc;

use argus_abi::{Kind, RuntimeKind};
use argus_chip::Chip;
use argus_dump::read::{Dump, FormatVersion};
use argus_facts::{Argument, Call, Expected, NoReference, References};
use argus_find::tasks::Supplied;
use argus_scene::{Registry, Scene, registry};

use crate::carried;
use crate::cli::SceneArgs;
use crate::failure::Failure;
use crate::fit::{self, Model, Slot};
use crate::run::no_scene;

/// A scene that a dump belongs to.
pub struct Known {
    scene: Arc<Scene>,
    /// What the tasks of the scene look like, for a dump that does not say that it is one of its runs.
    model: Option<Model>,
    /// The dump has no graph of its own.
    bare: bool,
    /// Our own engine computed the dump.
    ours: bool,
    /// What would fit better.
    pub note: Option<String>,
}

/// The scene that was named, or the one that the dump names itself; `None` if there is neither.
pub fn known(dump: &Dump, args: &SceneArgs, registry: &Registry) -> Result<Option<Known>, Failure> {
    let facts = dump.run();
    let recorded = facts.map(|facts| facts.scene.as_str()).filter(|scene| !scene.is_empty());
    let name = match (&args.scene, recorded) {
        (Some(scene), _) => scene.clone(),
        // A copy of its sources says more than the name.
        (None, Some(recorded)) => carried::scene(dump)?.unwrap_or_else(|| recorded.to_owned()),
        (None, None) => return Ok(None),
    };
    let scene = match registry.scene(&name) {
        Ok(scene) => scene,
        // A dump may come from a program that is none of the known scenes; a scene that was typed may not.
        Err(_) if args.scene.is_none() => return Ok(None),
        Err(error) => return Err(no_scene(registry, &name, error)),
    };
    let typed = args.runtime.as_deref().map(registry::runtime).transpose().map_err(Failure::usage)?;
    let bare = dump.graph().is_none();
    let simulated = facts.is_some_and(|facts| Chip::by_name(&facts.platform).is_ok());
    let ours = dump.format_version() == FormatVersion::Argus && !bare && simulated;
    let named = args.scene.is_none() || recorded == Some(scene.name.as_str());
    let itself = !bare && named && args.case.is_none() && typed.is_none();
    let mut known = Known { scene, model: None, bare, ours, note: None };
    if itself {
        return Ok(Some(known));
    }
    let own = args.scene.is_none();
    let case = facts.map(|facts| facts.case.as_str()).filter(|case| own && !case.is_empty());
    let runtime = typed.or_else(|| facts.and_then(|facts| RuntimeKind::by_name(&facts.runtime)));
    let fit = fit::fit(&known.scene, args.case.as_deref().or(case), runtime, dump)?;
    let better = fit.better.map(|options| format!("{options} fits all tasks of the dump"));
    if !fit.known {
        let message = format!("none of the tasks of the dump is one of {}", fit.model.name);
        return Err(super::impossible(message).hint(better));
    }
    known.note = better;
    known.model = Some(fit.model);
    Ok(Some(known))
}

/// Said when references are asked for and the scene is not known.
pub fn unknown() -> Failure {
    super::impossible(
        "the dump does not say which scene it belongs to, so there are no references".to_owned(),
    )
    .hint("name it with --scene and --case, or compare with --against DUMP or --golden DIR".to_owned())
}

/// The options that a command on the same dump needs again.
pub fn repeat(args: &SceneArgs) -> String {
    let options = [("scene", &args.scene), ("case", &args.case), ("runtime", &args.runtime)];
    let given = options.iter().filter_map(|(name, value)| value.as_ref().map(|value| (name, value)));
    given.map(|(name, value)| format!(" --{name} {value}")).collect()
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
    if let Some(how) = model.misfit(call.task, &slots) {
        return Err(NoReference::Unfit { scene: model.name.clone(), how });
    }
    let shaped = call.arguments.iter().map(|argument| {
        let shape = model.shape(call.task, argument.slot).filter(|_| argument.scalar_bits.is_none());
        Argument { shape: shape.unwrap_or(&argument.shape).to_vec(), ..argument.clone() }
    });
    Ok(shaped.collect())
}
