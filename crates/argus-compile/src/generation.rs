//! Which names a source uses: the public interface was renamed twice.

/// A generation of the kernel and orchestration interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Generation {
    April,
    June,
    August,
}

impl Generation {
    pub const ALL: [Generation; 3] = [Generation::April, Generation::June, Generation::August];

    pub const fn name(self) -> &'static str {
        match self {
            Generation::April => "april",
            Generation::June => "june",
            Generation::August => "august",
        }
    }

    pub fn by_name(name: &str) -> Option<Generation> {
        Generation::ALL.into_iter().find(|generation| generation.name() == name)
    }

    /// The generation that these sources of one scene are written in: by names that only one of them has. Comments do
    /// not count, they often speak of names that are gone. Without any such name they are June's.
    pub fn detect<'a>(sources: impl IntoIterator<Item = &'a str>) -> Generation {
        const AUGUST: &[&str] = &["ChipTensor", "CoreTaskArgs", "ChipTaskArgs", "GraphTaskArgs"];
        const APRIL: &[&str] = &["pto2_rt_", "PTO2Runtime"];
        let mut found = Generation::June;
        for text in sources {
            let code = code(text);
            let has =
                |starts: &[&str]| names(&code).any(|name| starts.iter().any(|start| name.starts_with(start)));
            if has(AUGUST) {
                return Generation::August;
            }
            if has(APRIL) {
                found = Generation::April;
            }
        }
        found
    }
}

/// The names in a source, and its keywords and numbers.
fn names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// A source without its comments and texts.
fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"']) {
        code.push_str(&rest[..at]);
        code.push(' ');
        rest = &rest[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map(|end| 2 + end + 2)
        } else if rest.starts_with('"') {
            end_of_text(rest)
        } else {
            Some(1)
        };
        rest = &rest[end.unwrap_or(rest.len())..];
    }
    code + rest
}

/// The place behind a text in quotes. One that does not end on its line is none: the quote may be a character.
fn end_of_text(rest: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at + 1),
            '\n' => break,
            _ => {}
        }
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_of_the_generation_whose_names_it_uses() {
        assert_eq!(Generation::detect(["void f(const ChipStorageTaskArgs &args) {}"]), Generation::June);
        assert_eq!(Generation::detect(["int x;", "auto *t = (ChipTensor *)args[0];"]), Generation::August);
        assert_eq!(Generation::detect(["pto2_rt_submit_task(rt, mk, arg);"]), Generation::April);
        assert_eq!(Generation::detect([]), Generation::June);
        let speaks = "// was pto2_rt_submit_task\n/* takes a\n ChipTensor */ LOG_INFO_V0(\"CoreTaskArgs \\\" %d\", 1);";
        assert_eq!(Generation::detect([speaks]), Generation::June);
        let after = "char quote = '\"'; // \"\nint ratio = 4 / 2; CoreTaskArgsWithDeps<1> args;";
        assert_eq!(Generation::detect([after]), Generation::August);
        assert_eq!(Generation::detect(["MyChipTensor x; /* never ends: ChipTensor"]), Generation::June);
        for generation in Generation::ALL {
            assert_eq!(Generation::by_name(generation.name()), Some(generation));
        }
    }
}
