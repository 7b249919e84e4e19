//! Defaults that a user sets once, in the environment or in a file, and how much a command says.
//!
//! | key of the file | variable | flag | default |
//! |---|---|---|---|
//! | `color` | `ARGUS_COLOR` | `--color` | `auto` |
//! | `outputs` | `ARGUS_OUTPUTS` | | `outputs` |
//! | `platform` | `ARGUS_PLATFORM` | `run -p` | the first chip |
//! | `timeout` | `ARGUS_TIMEOUT` | `run --timeout` | 10 |
//!
//! A flag wins over a variable, a variable over the file. The file is `ARGUS_CONFIG`, or else
//! `argus/config.toml` in `XDG_CONFIG_HOME` or `~/.config`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use serde::Deserialize;

use crate::cli::{Color, CommonArgs};
use crate::failure::Failure;

/// Where runs go unless a user says otherwise.
const OUTPUTS: &str = "outputs";

/// Set once, when the command line is understood.
static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// What holds for every command of this process.
#[derive(Debug)]
pub struct Settings {
    pub color: Color,
    /// The directory of runs.
    pub outputs: PathBuf,
    pub platform: Option<String>,
    /// Seconds.
    pub timeout: Option<f64>,
    pub quiet: bool,
    pub verbose: bool,
    /// The file that was read.
    pub file: Option<PathBuf>,
}

/// The file, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    color: Option<String>,
    outputs: Option<PathBuf>,
    platform: Option<String>,
    timeout: Option<f64>,
}

/// The settings of this process; the built-in ones until [`set`] was called.
pub fn settings() -> &'static Settings {
    SETTINGS.get_or_init(|| Settings {
        color: Color::Auto,
        outputs: OUTPUTS.into(),
        platform: None,
        timeout: None,
        quiet: false,
        verbose: false,
        file: None,
    })
}

/// Reads the environment and the file, and makes the result the settings of this process.
pub fn set(flags: &CommonArgs) -> Result<(), Failure> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let settings = read(flags, &variable).map_err(Failure::usage)?;
    match settings.color {
        Color::Auto => {}
        Color::Always => anstream::ColorChoice::Always.write_global(),
        Color::Never => anstream::ColorChoice::Never.write_global(),
    }
    // A second call in one process finds the first one's settings, which are the same.
    _ = SETTINGS.set(settings);
    Ok(())
}

fn read(flags: &CommonArgs, variable: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Settings> {
    let place = file_place(variable);
    let file = match &place {
        Some((path, named)) => load(path, *named)?,
        None => None,
    };
    let found = file.is_some();
    let file = file.unwrap_or_default();
    let color = match (flags.color, variable("ARGUS_COLOR"), file.color) {
        (Some(color), ..) => color,
        (None, Some(name), _) => color(&name).context("ARGUS_COLOR")?,
        (None, None, Some(name)) => color(&name).context("color in the configuration file")?,
        (None, None, None) => Color::Auto,
    };
    let timeout = match variable("ARGUS_TIMEOUT") {
        Some(text) => {
            Some(text.parse().map_err(|_| anyhow!("ARGUS_TIMEOUT is '{text}', not a number of seconds"))?)
        }
        None => file.timeout,
    };
    Ok(Settings {
        color,
        outputs: variable("ARGUS_OUTPUTS")
            .map(PathBuf::from)
            .or(file.outputs)
            .unwrap_or_else(|| OUTPUTS.into()),
        platform: variable("ARGUS_PLATFORM").or(file.platform),
        timeout,
        quiet: flags.quiet,
        verbose: flags.verbose,
        file: place.map(|(path, _)| path).filter(|_| found),
    })
}

/// Where the file would be, and whether the user named it.
fn file_place(variable: &dyn Fn(&str) -> Option<String>) -> Option<(PathBuf, bool)> {
    if let Some(named) = variable("ARGUS_CONFIG") {
        return Some((named.into(), true));
    }
    let base = variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some((base.join("argus/config.toml"), false))
}

/// The file's content; `None` if there is none and the user did not name it.
fn load(path: &Path, named: bool) -> anyhow::Result<Option<File>> {
    let cannot = || format!("cannot read the configuration {}", path.display());
    let text = match argus_files::read(path, argus_files::LARGEST_TEXT) {
        // Another user's home, for instance: what was not asked for need not be readable.
        Err(error) if !named && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
            return Ok(None);
        }
        text => text
            .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other))
            .with_context(cannot)?,
    };
    // The error of the library shows the line and ends with a line break.
    let parsed =
        toml::from_str(&text).map_err(|error| anyhow!("{}", error.to_string().trim_end().to_owned()));
    parsed.with_context(cannot).map(Some)
}

fn color(name: &str) -> anyhow::Result<Color> {
    Color::from_str(name, true).map_err(|_| anyhow!("'{name}' is not one of auto, always and never"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings_with(flags: CommonArgs, variables: &[(&str, &str)]) -> anyhow::Result<Settings> {
        read(&flags, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_flag_wins_over_a_variable_and_a_variable_over_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("argus/config.toml");
        std::fs::create_dir(home.path().join("argus")).unwrap();
        std::fs::write(&path, "color = 'never'\noutputs = 'runs'\nplatform = 'a5sim'\ntimeout = 2.5\n")
            .unwrap();
        let config = ("XDG_CONFIG_HOME", home.path().to_str().unwrap());

        let nothing = settings_with(CommonArgs::default(), &[]).unwrap();
        assert_eq!((nothing.color, nothing.outputs, nothing.file), (Color::Auto, "outputs".into(), None));

        let file = settings_with(CommonArgs::default(), &[config]).unwrap();
        assert_eq!((file.color, file.outputs, file.timeout), (Color::Never, "runs".into(), Some(2.5)));
        assert_eq!((file.platform.as_deref(), file.file), (Some("a5sim"), Some(path)));

        let variables = [config, ("ARGUS_COLOR", "always"), ("ARGUS_TIMEOUT", "7"), ("ARGUS_PLATFORM", "x")];
        let both = settings_with(CommonArgs::default(), &variables).unwrap();
        assert_eq!(
            (both.color, both.timeout, both.platform.as_deref()),
            (Color::Always, Some(7.0), Some("x"))
        );

        let flags = CommonArgs { color: Some(Color::Auto), ..CommonArgs::default() };
        assert_eq!(settings_with(flags, &variables).unwrap().color, Color::Auto);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let says = |variables: &[(&str, &str)]| {
            format!("{:#}", settings_with(CommonArgs::default(), variables).unwrap_err())
        };
        assert_eq!(
            says(&[("ARGUS_COLOR", "red")]),
            "ARGUS_COLOR: 'red' is not one of auto, always and never"
        );
        assert_eq!(says(&[("ARGUS_TIMEOUT", "soon")]), "ARGUS_TIMEOUT is 'soon', not a number of seconds");
        let missing = says(&[("ARGUS_CONFIG", "nowhere.toml")]);
        assert!(missing.starts_with("cannot read the configuration nowhere.toml: No such file"), "{missing}");
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("wrong.toml");
        std::fs::write(&path, "colour = 'red'\n").unwrap();
        let unknown = says(&[("ARGUS_CONFIG", path.to_str().unwrap())]);
        assert!(unknown.contains("unknown field `colour`"), "{unknown}");
    }
}
