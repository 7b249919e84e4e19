//! Where the code of a run came from.

/// The files that a scene was made from, with their texts, so that its dump can be understood and its tasks replayed
/// wherever the dump is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SceneOrigin {
    /// The file that describes the scene, as a full path.
    pub path: String,
    /// The scene's own file first.
    pub files: Vec<OriginFile>,
    /// The commands that compiled it, as they can be typed.
    pub commands: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginFile {
    /// Its name below the directory of the scene, or its full path if it lies elsewhere.
    pub name: String,
    pub text: String,
}
