//! What the sources of the crates may not contain.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every source file of the crates that `wanted` names, with its text.
fn sources(wanted: impl Fn(&str) -> bool) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(crates()).unwrap().map(Result::unwrap) {
        if wanted(&entry.file_name().to_string_lossy()) {
            collect(&entry.path().join("src"), &mut found);
        }
    }
    assert!(found.len() > 100, "the sources are not where this test looks for them");
    found
}

fn collect(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
    collect_ending(directory, &["rs"], found);
}

fn collect_ending(directory: &Path, endings: &[&str], found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
        if path.is_dir() {
            collect_ending(&path, endings, found);
        } else if ending.is_some_and(|ending| endings.contains(&&*ending)) {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

/// Lines of code: comments are left out.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The text in brackets at the start of `text`, and what is behind them.
fn bracketed(text: &str) -> (&str, &str) {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return (&text[..=at], &text[at + 1..]);
                }
            }
            _ => {}
        }
    }
    panic!("a bracket is never closed: {text}");
}

/// The fields that follow an attribute: those of a variant, or of a struct.
fn fields(behind: &str) -> &str {
    let open = behind.find(['(', '{', ',', ';']).unwrap_or(behind.len());
    match behind[open..].chars().next() {
        Some('(' | '{') => bracketed(&behind[open..]).0,
        _ => "",
    }
}

/// The name by which `#[error("...")]` could print the source of these fields.
fn source_name(fields: &str) -> Option<String> {
    let marked = fields.find("#[source]").or_else(|| fields.find("#[from]"));
    if fields.starts_with('(') {
        return marked.map(|_| "0".to_owned());
    }
    let named = marked.map(|at| {
        let rest = fields[at..].split_once(']').unwrap().1.trim_start();
        let rest = rest.strip_prefix("pub ").unwrap_or(rest);
        rest.split(':').next().unwrap().trim().to_owned()
    });
    named
        .or_else(|| fields.split([' ', '\n', '{']).any(|word| word == "source:").then(|| "source".to_owned()))
}

/// Whether an attribute prints a name: in braces of its text, or as an argument behind it.
fn prints(attribute: &str, name: &str) -> bool {
    let (mut words, mut arguments) = (String::new(), String::new());
    for (at, piece) in attribute.split('"').enumerate() {
        if at % 2 == 1 { &mut words } else { &mut arguments }.push_str(piece);
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    ["}", ":"].iter().any(|end| words.contains(&format!("{{{name}{end}")))
        || arguments.split(|letter| !is_part(letter)).any(|word| word == name)
}

/// Each `#[error(...)]` that prints the source of its own variant.
fn said_twice(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("#[error(") {
        let (attribute, behind) = bracketed(&text[at + 1..]);
        if source_name(fields(behind)).is_some_and(|name| prints(attribute, &name)) {
            found.push(attribute);
        }
    }
    found
}

#[test]
fn no_error_prints_its_own_source() {
    for (path, text) in sources(|_| true) {
        let wrong = said_twice(&text);
        assert!(wrong.is_empty(), "{}: {wrong:#?} print what is their source already", path.display());
    }
}

/// Words for which English has a plainer one, in code and comments of the crates and of the page.
#[test]
fn sources_use_plain_words() {
    let mut all = sources(|_| true);
    let web = crates().parent().unwrap().join("web/src");
    collect_ending(&web, &["ts", "tsx"], &mut all);
    let riddles = ["nobody", "somebody", "whoever", "goes on", "lie behind", "lies behind it", "of any age"];
    for (path, text) in all {
        // Tests may search for names that are not there.
        if path.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = text.to_lowercase();
        let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
        let joined = format!(" {} ", words.join(" "));
        for riddle in riddles {
            assert!(!joined.contains(&format!(" {riddle} ")), "{}: '{riddle}'", path.display());
        }
    }
}

#[test]
fn an_error_that_prints_its_source_is_found() {
    for wrong in [
        r#"#[error("cannot read {path}: {source}")] Read { path: String, source: io::Error },"#,
        r#"#[error("cannot read {}: {source}", path.display())] Read { path: PathBuf, source: io::Error },"#,
        r#"#[error("broken: {}", source)] Broken { source: io::Error },"#,
        r#"#[error("no memory: {0}")] Memory(#[from] MemoryError),"#,
        r#"#[error("no memory: {}", .0)] Memory(#[source] MemoryError),"#,
        r#"#[error("{site} failed: {fault}")] Fault { site: Site, #[source] fault: Fault },"#,
        "#[error(\"{why}\")]\npub struct Why {\n    pub place: u8,\n    #[from]\n    pub why: io::Error,\n}",
    ] {
        assert_eq!(said_twice(wrong).len(), 1, "{wrong}");
    }
    for right in [
        r#"#[error("cannot read {path}")] Read { path: String, source: io::Error },"#,
        r#"#[error(transparent)] Memory(#[from] MemoryError),"#,
        r#"#[error("{0}")] Zip(ZipError),"#,
        r#"#[error("{source_file} is empty")] Empty { source_file: String, source: io::Error },"#,
        r#"#[error("cannot read the source {}", path.display())] Read { path: PathBuf, source: io::Error },"#,
        r#"#[error("{site} failed")] Fault { site: Site, #[source] fault: Fault },"#,
        r#"#[error("{0} must be at least 1")] Zero(&'static str), #[error("no")] No(#[from] io::Error),"#,
    ] {
        assert_eq!(said_twice(right), [""; 0], "{right}");
    }
}

#[test]
fn no_result_has_text_for_an_error() {
    for (path, text) in sources(|_| true) {
        for line in code(&text) {
            let results = line.match_indices("Result<").map(|(at, start)| &line[at + start.len()..]);
            let wrong = results.filter(|rest| closes_with_text(rest)).count();
            assert_eq!(wrong, 0, "{}: {line}", path.display());
        }
    }
}

/// Whether the arguments of a `Result<` end in `, String`.
fn closes_with_text(arguments: &str) -> bool {
    let mut depth = 0;
    for (at, letter) in arguments.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if depth == 0 => return arguments[..at].trim_end().ends_with(", String"),
            '>' if arguments[..at].ends_with('-') => {}
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    false
}

#[test]
fn no_library_names_a_flag_of_the_tool() {
    for (path, text) in sources(|name| name.starts_with("argus-")) {
        // A model that starts itself again speaks to the test harness.
        if path.ends_with("models/weakened.rs") {
            continue;
        }
        for line in code(&text) {
            // Nothing else in Rust looks like that, and a string may go over several lines.
            let mut behind = line.split("--").skip(1);
            let flag = behind.any(|rest| rest.starts_with(|letter: char| letter.is_ascii_lowercase()));
            assert!(!flag, "{}: {line}", path.display());
        }
    }
}
