//! The texts of generated files, built in or replaced by the user's.
//!
//! A template is found by its file name, first in the user's directory, then among the built-in ones. A name
//! that a template uses without a definition is an error, never an empty text.

use std::fs;
use std::path::Path;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::error::WorkspaceError;

const BUILT_IN: [(&str, &str); 9] = [
    ("CMakeLists.txt.jinja", include_str!("../templates/CMakeLists.txt.jinja")),
    ("collect.sh.jinja", include_str!("../templates/collect.sh.jinja")),
    ("core_macros.hpp.jinja", include_str!("../templates/core_macros.hpp.jinja")),
    ("replay_host.cpp.jinja", include_str!("../templates/replay_host.cpp.jinja")),
    ("replay_kernel_mix.cpp.jinja", include_str!("../templates/replay_kernel_mix.cpp.jinja")),
    ("replay_kernel_single.cpp.jinja", include_str!("../templates/replay_kernel_single.cpp.jinja")),
    ("replay_launch.cpp.jinja", include_str!("../templates/replay_launch.cpp.jinja")),
    ("run_collect.sh.jinja", include_str!("../templates/run_collect.sh.jinja")),
    ("run_collect_ptoas.sh.jinja", include_str!("../templates/run_collect_ptoas.sh.jinja")),
];

/// Every template, ready to be filled in.
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// The built-in templates, each replaced by the file of the same name in `overrides`.
    pub fn load(overrides: Option<&Path>) -> Result<Templates, WorkspaceError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        let syntax =
            SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
        environment.set_syntax(syntax.map_err(|error| wrong("syntax", &error))?);
        environment.add_filter("comment", comment);
        environment.add_filter("sh", shell_word);
        let mut templates = Templates { environment };
        for (name, text) in BUILT_IN {
            templates.add(name, text.to_owned())?;
        }
        if let Some(folder) = overrides {
            templates.replace_from(folder)?;
        }
        Ok(templates)
    }

    /// Fills in a template.
    pub fn render(&self, name: &str, values: impl Serialize) -> Result<String, WorkspaceError> {
        let template = self.environment.get_template(name);
        template.and_then(|template| template.render(Serde(values))).map_err(|error| wrong(name, &error))
    }

    fn add(&mut self, name: &str, text: String) -> Result<(), WorkspaceError> {
        self.environment.add_template_owned(name.to_owned(), text).map_err(|error| wrong(name, &error))
    }

    fn replace_from(&mut self, folder: &Path) -> Result<(), WorkspaceError> {
        let unreadable = |path: &Path, source| WorkspaceError::ReadTemplate { path: path.to_owned(), source };
        for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
            let path = entry.map_err(|error| unreadable(folder, error))?.path();
            if path.extension().is_none_or(|extension| extension != "jinja") {
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if !BUILT_IN.iter().any(|(known, _)| *known == name) {
                // A misspelt name would silently change nothing.
                let known = BUILT_IN.map(|(known, _)| known).into();
                return Err(WorkspaceError::UnknownTemplate { path, known });
            }
            let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
            self.add(name, text)?;
        }
        Ok(())
    }
}

/// The name of the template and the line, as minijinja knows them; an included template names itself.
fn wrong(name: &str, error: &minijinja::Error) -> WorkspaceError {
    let name = match (error.name(), error.line()) {
        (Some(inner), Some(line)) => format!("{inner}:{line}"),
        _ => name.to_owned(),
    };
    let reason = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    WorkspaceError::Template { name, reason }
}

/// Text that stays inside a `//` comment whatever it contains.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect()
}

/// Text as one word of a shell.
fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
