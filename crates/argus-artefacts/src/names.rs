//! Kernels by number: `name_map*.json`, and `kernel_config.py` of the pypto front end.

mod python;

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::ArtefactError;
use crate::json;

/// What a name map's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameLevel {
    /// Kernels, by func id.
    Kernels,
    /// Whole chip programs and host functions: these numbers are not func ids.
    Callables,
}

/// Names by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub level: NameLevel,
    pub orchestrator: Option<String>,
    by_id: BTreeMap<i32, String>,
}

impl Default for Names {
    fn default() -> Names {
        Names { level: NameLevel::Kernels, orchestrator: None, by_id: BTreeMap::new() }
    }
}

#[derive(Deserialize)]
struct File {
    level: Option<i64>,
    orchestrator_name: Option<String>,
    callable_id_to_name: Option<BTreeMap<String, String>>,
}

impl Names {
    /// Names of kernels, for a writer.
    pub fn of_kernels(
        orchestrator: Option<String>,
        kernels: impl IntoIterator<Item = (i32, String)>,
    ) -> Names {
        Names { level: NameLevel::Kernels, orchestrator, by_id: kernels.into_iter().collect() }
    }

    /// Reads a name map.
    pub fn parse(text: &[u8]) -> Result<Names, ArtefactError> {
        let file: File = json::parse(text)?;
        let level = match file.level {
            Some(2) => NameLevel::Kernels,
            // Levels above are those of several machines: their callables are no kernels either.
            Some(3..=6) => NameLevel::Callables,
            Some(other) => return Err(ArtefactError::value("the file", None, "level", other, "2 to 6")),
            None => {
                return Err(ArtefactError::Kind {
                    expected: "a name map",
                    lack: "it does not say its level",
                });
            }
        };
        let mut by_id = BTreeMap::new();
        for (number, name) in file.callable_id_to_name.unwrap_or_default() {
            let id = number.parse::<i32>().ok().filter(|id| *id >= 0).ok_or_else(|| {
                let found = json::quoted(&number);
                ArtefactError::value("the file", None, "callable_id_to_name", found, "the number of a kernel")
            })?;
            by_id.insert(id, name);
        }
        Ok(Names { level, orchestrator: file.orchestrator_name, by_id })
    }

    /// Reads the kernels out of a `kernel_config.py`: dictionaries, or calls with keywords, that have a `func_id` and a
    /// `name`, in any order.
    ///
    /// The file is a program. It is not run: only literal numbers and strings are taken.
    pub fn parse_kernel_config(text: &[u8]) -> Result<Names, ArtefactError> {
        let text = String::from_utf8_lossy(text);
        if text.trim().is_empty() {
            return Err(ArtefactError::Empty);
        }
        let mut by_id = BTreeMap::new();
        for record in python::records(&text) {
            let id = record.get("func_id").and_then(python::Literal::number);
            let name = record.get("name").and_then(python::Literal::text);
            if let (Some(id), Some(name)) = (id.and_then(|id| i32::try_from(id).ok()), name) {
                by_id.insert(id, name.to_owned());
            }
        }
        if by_id.is_empty() {
            return Err(ArtefactError::Kind {
                expected: "a list of kernels",
                lack: "nothing in it has a literal func_id and a literal name",
            });
        }
        Ok(Names { level: NameLevel::Kernels, orchestrator: None, by_id })
    }

    /// The name of a kernel, if these are names of kernels.
    pub fn kernel(&self, func_id: i32) -> Option<&str> {
        if self.level != NameLevel::Kernels {
            return None;
        }
        self.by_id.get(&func_id).map(String::as_str)
    }

    /// Adds other names of kernels. A kernel with two names loses both, and is returned with them.
    pub(crate) fn join(&mut self, other: &Names) -> Vec<(i32, String, String)> {
        let mut differing = Vec::new();
        self.orchestrator = self.orchestrator.take().or_else(|| other.orchestrator.clone());
        for (&id, name) in &other.by_id {
            match self.by_id.get(&id) {
                Some(known) if known != name => differing.push((id, known.clone(), name.clone())),
                _ => {
                    self.by_id.insert(id, name.clone());
                }
            }
        }
        for (id, ..) in &differing {
            self.by_id.remove(id);
        }
        differing
    }

    /// All names by number, whatever they are names of.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &str)> {
        self.by_id.iter().map(|(&id, name)| (id, name.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The text of a name map, as the reference writes it.
    pub fn text(&self) -> String {
        let level = match self.level {
            NameLevel::Kernels => 2,
            NameLevel::Callables => 3,
        };
        let orchestrator = self.orchestrator.as_deref().map_or_else(|| "null".to_owned(), json::quoted);
        let mut text = format!("{{\n  \"level\": {level},\n  \"orchestrator_name\": {orchestrator}");
        if !self.by_id.is_empty() {
            let names = self.by_id.iter().map(|(id, name)| format!("    \"{id}\": {}", json::quoted(name)));
            let names: Vec<String> = names.collect();
            text += &format!(",\n  \"callable_id_to_name\": {{\n{}\n  }}", names.join(",\n"));
        }
        text + "\n}"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_map_is_written_as_it_was_read() {
        let text = "{\n  \"level\": 2,\n  \"orchestrator_name\": null,\n  \"callable_id_to_name\": {\n    \
                    \"0\": \"fill\",\n    \"1\": \"gather\"\n  }\n}";
        let names = Names::parse(text.as_bytes()).unwrap();
        assert_eq!((names.kernel(0), names.kernel(1), names.kernel(2)), (Some("fill"), Some("gather"), None));
        assert_eq!(names.text(), text);
    }

    #[test]
    fn names_of_callables_name_no_kernel() {
        let names = Names::parse(br#"{"level": 3, "callable_id_to_name": {"0": "chip_program"}}"#).unwrap();
        assert_eq!(names.kernel(0), None);
        assert_eq!(names.iter().collect::<Vec<_>>(), [(0, "chip_program")]);
        let cause = |text: &[u8]| argus_facts::with_causes(&Names::parse(text).unwrap_err());
        assert_eq!(cause(b"{}"), "it is not a name map: it does not say its level");
        assert_eq!(cause(b"  "), "it is empty");
        assert_eq!(cause(br#"{"level": 1}"#), "the file: level is 1; allowed is 2 to 6");
        assert_eq!(
            cause(br#"{"level": 2, "callable_id_to_name": {"x": "y"}}"#),
            "the file: callable_id_to_name is \"x\"; allowed is the number of a kernel"
        );
    }

    #[test]
    fn kernels_are_read_out_of_a_python_file_in_either_quotes() {
        let text = b"X = 3\nKERNELS = [\n  {\"func_id\": 0, \"name\": \"Q,K\"},\n  {'name': 'SF', 'func_id': 7 },\n  \
                     {\"func_id\": compute(), \"name\": \"no\"},\n]\n";
        let names = Names::parse_kernel_config(text).unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), [(0, "Q,K"), (7, "SF")]);
        assert!(Names::parse_kernel_config(b"print('hello')").is_err());
    }

    #[test]
    fn kernels_are_read_in_every_form_in_which_python_can_write_them() {
        let text = br#"
# {"func_id": 0, "name": "commented out"}
"""A text that shows how: {"func_id": 0, "name": "documented"}"""
ORCHESTRATION = {"source": "orch.cpp", "function_name": "build"}
KERNELS = [
    {"func_id": 1, "source": str(ROOT / "a}.cpp"), "options": {"name": "inner", "x": [1, 2]}, "name": "outer"},
    dict(func_id=2, name='call', signature=[D.IN, D.OUT]),
    Kernel(name="typed", core_type="aiv", func_id=3),
    {
        'name': "two " 'pieces',   # a comment } with a brace
        "func_id": 0x4,
    },
    {"func_id": 5, "name": r"raw\n"}, {"func_id": 6, "name": "tab\tand \"quote\""},
    {"func_id": 7, "name": f"made_{x}"}, {"func_id": 8, "name": PREFIX + "x"}, {"func_id": -9, "name": "no"},
    {"func_id": 1_0, "name": "ten"},
]
"#;
        let names = Names::parse_kernel_config(text).unwrap();
        let expected = [
            (1, "outer"),
            (2, "call"),
            (3, "typed"),
            (4, "two pieces"),
            (5, "raw\\n"),
            (6, "tab\tand \"quote\""),
            (10, "ten"),
        ];
        assert_eq!(names.iter().collect::<Vec<_>>(), expected);
        // What is cut has what stands before the cut.
        let cut = Names::parse_kernel_config(b"K = [{'func_id': 0, 'name': 'a'}, {'func_id': 1, 'name': 'b")
            .unwrap();
        assert_eq!(cut.iter().collect::<Vec<_>>(), [(0, "a")]);
    }
}
