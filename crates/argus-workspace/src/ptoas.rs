//! The `ptoas` backend: a kernel that is a plain `__global__` function, made into a test case by PTOAS.
//!
//! In: the tokens of the source and the task. Out: the function's name and parameters, and one input file per
//! pointer parameter with the packed elements of the tensor in the same position. The test case generator
//! itself belongs to PTOAS and is called by the workspace's script.

use std::path::Path;

use crate::error::WorkspaceError;
use crate::scan::{Scan, Token};
use crate::task::{TaskSpec, packed};

/// A function that the device can launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalFunction {
    pub name: String,
    pub pointers: Vec<String>,
    pub scalars: Vec<String>,
}

/// The function to launch: the only one, or of several the one with this name. What a dump calls a kernel need not
/// be the name of its function.
pub fn global_function(
    path: &Path,
    scan: &Scan<'_>,
    wanted: Option<&str>,
) -> Result<GlobalFunction, WorkspaceError> {
    let mut functions = global_functions(&scan.tokens);
    let names = || functions.iter().map(|function| function.name.clone()).collect();
    let chosen = match (wanted, functions.as_slice()) {
        (_, []) => return Err(WorkspaceError::NoGlobal { path: path.to_owned() }),
        (_, [_]) => Some(0),
        (None, _) => return Err(WorkspaceError::SeveralGlobals { path: path.to_owned(), names: names() }),
        (Some(wanted), _) => functions.iter().position(|function| function.name == wanted),
    };
    match (chosen, wanted) {
        (Some(index), _) => Ok(functions.swap_remove(index)),
        (None, wanted) => Err(WorkspaceError::UnknownGlobal {
            path: path.to_owned(),
            name: wanted.unwrap_or_default().to_owned(),
            names: names(),
        }),
    }
}

/// The input files of a test case, by parameter name.
pub fn inputs(task: &TaskSpec, function: &GlobalFunction) -> Result<Vec<(String, Vec<u8>)>, WorkspaceError> {
    let tensors = task.tensors();
    let name = function.name.clone();
    if !function.scalars.is_empty() {
        return Err(WorkspaceError::ScalarParameters { function: name, names: function.scalars.clone() });
    }
    if tensors.len() != function.pointers.len() {
        let (pointers, tensors) = (function.pointers.len(), tensors.len());
        return Err(WorkspaceError::TensorCount { function: name, pointers, tensors });
    }
    let files = function.pointers.iter().zip(tensors);
    files.map(|(parameter, tensor)| Ok((parameter.clone(), packed(task, tensor)?))).collect()
}

fn global_functions(tokens: &[Token<'_>]) -> Vec<GlobalFunction> {
    let mut found: Vec<GlobalFunction> = Vec::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| **token == Token::Word("__global__")) {
        // A declaration and its definition are the same function.
        if let Some(function) = function_at(&tokens[at + 1..])
            && found.iter().all(|other| other.name != function.name)
        {
            found.push(function);
        }
    }
    found
}

/// The function whose declaration continues here.
fn function_at(tokens: &[Token<'_>]) -> Option<GlobalFunction> {
    let mut at = 0;
    loop {
        match tokens.get(at..)? {
            [Token::Word("__attribute__"), ..] => at += 1 + balanced(&tokens[at + 1..])?,
            [Token::Word(name), Token::Mark('('), ..] => {
                let inside = at + 2..at + balanced(&tokens[at + 1..])?;
                return Some(parameters(name, &tokens[inside]));
            }
            [Token::Mark('{' | ';'), ..] | [] => return None,
            _ => at += 1,
        }
    }
}

/// Tokens from an opening to its closing parenthesis, both counted.
fn balanced(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(') => depth += 1,
            Token::Mark(')') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

fn parameters(name: &str, tokens: &[Token<'_>]) -> GlobalFunction {
    let mut function = GlobalFunction { name: name.to_owned(), pointers: Vec::new(), scalars: Vec::new() };
    for parameter in tokens.split(|token| *token == Token::Mark(',')) {
        let last_word = parameter.iter().rev().find_map(|token| match token {
            Token::Word(word) if *word != "void" => Some((*word).to_owned()),
            _ => None,
        });
        let Some(last_word) = last_word else { continue };
        let list = match parameter.contains(&Token::Mark('*')) {
            true => &mut function.pointers,
            false => &mut function.scalars,
        };
        list.push(last_word);
    }
    function
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;

    #[test]
    fn signatures_are_read_through_attributes_and_comments() {
        let text = "__global__ AICORE void add(__gm__ float* v1, __gm__ half const * v2 /* , x */, int32_t v3);\n\
                    extern \"C\" __global__ [aicore] __attribute__((aligned(8))) void none(void) { f(1, 2); }\n\
                    __global__ AICORE void add(__gm__ float* v1, __gm__ half const * v2, int32_t v3) {}";
        let functions = global_functions(&scan(text).tokens);
        let expected = [("add", vec!["v1", "v2"], vec!["v3"]), ("none", vec![], vec![])];
        assert_eq!(functions.len(), expected.len());
        for (function, (name, pointers, scalars)) in functions.iter().zip(expected) {
            assert_eq!(function.name, name);
            assert_eq!(function.pointers, pointers);
            assert_eq!(function.scalars, scalars);
        }
    }

    #[test]
    fn unfinished_text_holds_no_function() {
        for text in
            ["__global__", "__global__ void f(", "__global__ void f(int a", "__global__ __attribute__(("]
        {
            assert_eq!(global_functions(&scan(text).tokens), []);
        }
    }
}
