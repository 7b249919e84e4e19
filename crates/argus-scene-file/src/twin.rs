//! The scene that a scene in a file is a twin of: another program for the same arguments, expected outputs and
//! references.

use std::sync::Arc;

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_facts::References;
use argus_scene::{Prepared, Scene, SceneError};

use crate::error::SceneFileError;
use crate::file::{CaseText, SceneFile};
use crate::load::SceneFiles;

/// A scene that is known by name.
pub(crate) struct Twin(Arc<Scene>);

impl Twin {
    /// The twin that a file names. A file with one says nothing about arguments itself.
    pub fn find(file: &SceneFile, settings: &SceneFiles) -> Result<Option<Twin>, SceneFileError> {
        let Some(name) = &file.twin else { return Ok(None) };
        let own = [
            ("[[tensor]]", !file.tensors.is_empty()),
            ("[[scalar]]", !file.scalars.is_empty()),
            ("tolerance", file.tolerance.is_some()),
        ];
        let refused = own.iter().find(|(_, said)| *said).map(|(what, _)| *what);
        if let Some(what) = refused.or_else(|| file.cases.iter().find_map(own_arguments)) {
            return Err(SceneFileError::OwnArguments { twin: name.clone(), what });
        }
        match settings.twins.iter().find(|scene| scene.name == *name) {
            Some(scene) => Ok(Some(Twin(Arc::clone(scene)))),
            None => {
                let known: Vec<&str> = settings.twins.iter().map(|scene| &scene.name[..]).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(SceneFileError::Twin(SceneError::Scene { name: name.clone(), known }))
            }
        }
    }

    /// Gives a file without cases those of the twin. A case that does not say how many clusters and control threads it
    /// takes gets as many as its twin.
    pub fn fill(&self, file: &mut SceneFile, runtime: RuntimeKind) -> Result<(), SceneFileError> {
        if file.cases.is_empty() {
            self.0.case(None, Some(runtime)).map_err(SceneFileError::Twin)?;
            let fitting = self.0.cases.iter().filter(|case| case.runtimes.contains(&runtime));
            file.cases = fitting
                .map(|case| CaseText {
                    name: case.name.clone(),
                    aliases: case.aliases.clone(),
                    ..CaseText::default()
                })
                .collect();
        }
        for case in &mut file.cases {
            let (like, _) = self.0.case(Some(twin_of(case)), Some(runtime)).map_err(SceneFileError::Twin)?;
            case.block_dim = case.block_dim.or(like.block_dim);
            case.control_threads = case.control_threads.or(like.control_threads);
        }
        Ok(())
    }

    /// The twin of a case, ready to run.
    pub fn prepare(
        &self,
        case: &CaseText,
        runtime: RuntimeKind,
        chip: &'static Chip,
    ) -> Result<Prepared, SceneFileError> {
        let (like, runtime) =
            self.0.case(Some(twin_of(case)), Some(runtime)).map_err(SceneFileError::Twin)?;
        like.prepare(runtime, chip).map_err(SceneFileError::TwinArguments)
    }

    pub fn references(&self) -> Option<Arc<dyn References + Send>> {
        self.0.references.clone()
    }
}

fn twin_of(case: &CaseText) -> &str {
    case.twin.as_deref().unwrap_or(&case.name)
}

/// What a case says that its twin says already.
fn own_arguments(case: &CaseText) -> Option<&'static str> {
    let own = [
        ("[[case.tensor]]", !case.tensors.is_empty()),
        ("[[case.scalar]]", !case.scalars.is_empty()),
        ("params", !case.params.is_empty()),
        ("tolerance", case.tolerance.is_some()),
        (
            "a ring size",
            case.ring_window.is_some() || case.ring_heap.is_some() || case.ring_dep_pool.is_some(),
        ),
    ];
    own.iter().find(|(_, said)| *said).map(|(what, _)| *what)
}
