//! Where in a kernel's source an instruction was issued.

use core::panic::Location;

/// A place in a kernel's source. A column of 0 means that only the line is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    file: &'static str,
    line: u32,
    column: u32,
}

impl Site {
    /// A place that another process told. Its file's name stays in memory: one for each fault that ends a run.
    pub fn relayed(file: String, line: u32, column: u32) -> Site {
        Site { file: file.leak(), line, column }
    }

    pub const fn file(&self) -> &'static str {
        self.file
    }

    pub const fn line(&self) -> u32 {
        self.line
    }

    pub const fn column(&self) -> u32 {
        self.column
    }
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Site {
        Site { file: location.file(), line: location.line(), column: location.column() }
    }
}

/// A line of a source that Rust's compiler does not know. The name becomes text only when it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignSite {
    pub file: &'static [u8],
    pub line: u32,
}

impl From<ForeignSite> for Site {
    fn from(site: ForeignSite) -> Site {
        let file = core::str::from_utf8(site.file).unwrap_or("(a file whose name is not UTF-8)");
        Site { file, line: site.line, column: 0 }
    }
}
