//! A scene in a directory of the test's own: three kernels and an orchestration of the conformance suite.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_scene::Scene;
use argus_scene_file::{SceneFileError, SceneFiles, load};

/// out = k (a + b) - a, in three tasks.
const SOURCES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/scenes/chain_elementwise/kernels");

pub const SCENE: &str = r#"
name = "chain"
about = "out = k (a + b) - a"
runtime = "trb"

[orchestration]
source = "kernels/orchestration/chain_orch.cpp"

[[kernel]]
func_id = 0
name = "add"
source = "kernels/aiv/add.cpp"
core = "aiv"
signature = ["in", "in", "out"]

[[kernel]]
func_id = 1
name = "scale"
source = "kernels/aiv/scale.cpp"
core = "aiv"
signature = ["in", "out", "scalar"]

[[kernel]]
func_id = 2
name = "sub"
source = "kernels/aiv/sub.cpp"
core = "aiv"
signature = ["in", "in", "out"]

[[tensor]]
name = "a"
direction = "in"
dtype = "f32"
shape = ["rows", 32]
input = { count = [0.0, 0.5] }

[[tensor]]
name = "b"
direction = "in"
dtype = "f32"
shape = ["rows", 32]
input = { fill = 1.0 }

[[tensor]]
name = "out"
direction = "out"
dtype = "f32"
shape = ["rows", 32]

[[scalar]]
name = "k"
dtype = "f32"
value = "k"

[[case]]
name = "twice"
aliases = ["double"]
params = { k = 2.0, rows = 16 }
block_dim = 3
control_threads = 4

[[case]]
name = "quarter"
params = { k = 0.25, rows = 16 }
"#;

pub struct Project {
    directory: tempfile::TempDir,
}

impl Project {
    pub fn new(scene: &str) -> Project {
        let directory = tempfile::tempdir().unwrap();
        copy(Path::new(SOURCES), &directory.path().join("kernels"));
        let project = Project { directory };
        project.write("scene.toml", scene);
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn load(&self) -> Result<Scene, SceneFileError> {
        load(&self.path("scene.toml"), &settings())
    }
}

pub fn settings() -> SceneFiles {
    SceneFiles { cxx: None, log: Arc::new(|_, _, _| ()), twins: Vec::new() }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A file of NumPy's with f32.
pub fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    file
}
