//! What a user's file changes.

use serde_json::{Map, Value};

use super::{LARGEST, ParamsError, row_names};

/// Puts a user's changes over a set, key by key.
pub(super) struct Changes<'a> {
    pub file: &'a str,
}

impl Changes<'_> {
    pub fn apply(
        &self,
        base: &mut Map<String, Value>,
        changes: &Map<String, Value>,
        prefix: &str,
    ) -> Result<(), ParamsError> {
        for (key, change) in changes {
            let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
            if prefix == "vector" {
                row_names::give_own(base, key);
            }
            let Some(old) = base.get_mut(key) else {
                let known: Vec<&str> = base.keys().map(String::as_str).collect();
                let known = known.join(", ");
                return Err(ParamsError::UnknownKey { file: self.file.to_owned(), key: path, known });
            };
            match (old, change) {
                (Value::Object(old), Value::Object(change)) => {
                    if old.contains_key("source") && !change.contains_key("source") {
                        old.insert("source".into(), self.file.into());
                    }
                    self.apply(old, change, &path)?;
                }
                (old @ Value::String(_), Value::String(_)) => *old = change.clone(),
                (old @ Value::Number(_), Value::Number(_)) => {
                    self.check_range(&path, change.as_f64().unwrap_or(f64::NAN))?;
                    *old = change.clone();
                }
                (old, change) => {
                    let wanted = match old {
                        Value::Object(_) => "an object",
                        Value::String(_) => "a text",
                        _ => "a number",
                    };
                    let found = change.to_string();
                    return Err(ParamsError::WrongType {
                        file: self.file.to_owned(),
                        key: path,
                        wanted,
                        found,
                    });
                }
            }
        }
        Ok(())
    }

    fn check_range(&self, key: &str, value: f64) -> Result<(), ParamsError> {
        // By these something is divided.
        let divides = key == "clock.mhz" || key.ends_with(".gib_s");
        let (good, low) = if divides { (value >= 1e-3, "0.001") } else { (value >= 0.0, "0") };
        if good && value <= LARGEST {
            return Ok(());
        }
        Err(ParamsError::OutOfRange { file: self.file.to_owned(), key: key.to_owned(), value, low })
    }
}
