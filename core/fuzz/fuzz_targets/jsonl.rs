//! A line read by the scanner or the reader behind it says what serde_json's own tree of values says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use neardup_core::jsonl::{FieldNames, read};
use serde_json::Value;

fuzz_target!(|data: (bool, &str)| {
    let (id_required, line) = data;
    if line.contains('\n') {
        return;
    }
    let columns = FieldNames { texts: vec!["text".to_owned()], id: "id".to_owned(), id_required };
    let records = read(line.as_bytes(), &columns, "f", 1, None);
    let taken = (!records.spans.is_empty()).then(|| (records.texts, records.ids));
    // It has limits that the reader has not: numbers that no float holds, nesting beyond 127.
    let Ok(tree) = serde_json::from_str::<Value>(line) else { return };
    let Some(expected) = fields(&tree, id_required) else {
        // A null or a wrong kind that a later column of the same name puts right is refused by the reader alone.
        assert!(taken.is_none(), "{line:?}: taken, and should not be");
        return;
    };
    if let Some(taken) = taken {
        assert_eq!(taken, expected, "{line:?}");
    }
});

/// The text and the id, where they are what they have to be.
fn fields(tree: &Value, id_required: bool) -> Option<(Vec<u8>, Vec<u8>)> {
    let object = tree.as_object()?;
    let id = match object.get("id") {
        Some(Value::String(id)) => id.clone(),
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => id.to_string(),
        None | Some(Value::Null) if !id_required => "f:1".to_owned(),
        _ => return None,
    };
    Some((object.get("text")?.as_str()?.as_bytes().to_vec(), id.into_bytes()))
}
