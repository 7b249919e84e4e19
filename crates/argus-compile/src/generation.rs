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

    /// The generation that these sources of one scene are written in: by words that only one of them has. Without any
    /// such word they are June's.
    pub fn detect<'a>(sources: impl IntoIterator<Item = &'a str>) -> Generation {
        const AUGUST: &[&str] = &["ChipTensor", "CoreTaskArgs", "ChipTaskArgs", "GraphTaskArgs"];
        const APRIL: &[&str] = &["pto2_rt_", "PTO2Runtime"];
        let mut found = Generation::June;
        for text in sources {
            if has_word(text, AUGUST) {
                return Generation::August;
            }
            if has_word(text, APRIL) {
                found = Generation::April;
            }
        }
        found
    }
}

fn has_word(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
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
        for generation in Generation::ALL {
            assert_eq!(Generation::by_name(generation.name()), Some(generation));
        }
    }
}
