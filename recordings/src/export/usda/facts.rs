//! The facts of a take as USD's dictionaries.

use std::io::{self, Write};

use serde_json::Value;

use super::text::{D, Quoted, Text};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 8;

/// Writes a value under its name. USD has no null, which is left out, and no mixed lists, which become a string of
/// JSON.
pub(super) fn write(name: &str, value: &Value, text: &mut Text<'_, impl Write>) -> io::Result<()> {
    nested(name, value, 0, text)
}

fn nested(
    name: &str,
    value: &Value,
    depth: usize,
    text: &mut Text<'_, impl Write>,
) -> io::Result<()> {
    let name = Quoted(name);
    match value {
        Value::Null => Ok(()),
        Value::Bool(value) => text.line(format_args!("bool {name} = {}", u8::from(*value))),
        Value::Number(number) => {
            if let Some(Ok(whole)) = number.as_i64().map(i32::try_from) {
                text.line(format_args!("int {name} = {whole}"))
            } else {
                let value = D(number.as_f64().unwrap_or(0.0));
                text.line(format_args!("double {name} = {value}"))
            }
        }
        Value::String(value) => text.line(format_args!("string {name} = {}", Quoted(value))),
        Value::Object(map) if depth < MAX_DEPTH => {
            text.open(format_args!("dictionary {name} = {{"))?;
            for (key, value) in map {
                nested(key, value, depth + 1, text)?;
            }
            text.close("}")
        }
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_string) => {
            let values = values.iter().filter_map(Value::as_str).map(Quoted);
            text.array(&format!("string[] {name}"), values, None)
        }
        Value::Array(values) if !values.is_empty() && values.iter().all(Value::is_number) => {
            let values = values.iter().filter_map(Value::as_f64).map(D);
            text.array(&format!("double[] {name}"), values, None)
        }
        Value::Array(_) | Value::Object(_) => {
            let json = value.to_string();
            text.line(format_args!("string {name} = {}", Quoted(&json)))
        }
    }
}
