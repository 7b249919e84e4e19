//! Tensors by their bytes in the payload file.

use serde_json::{Value, json};

use crate::setup::{Columns, Run, Server};

struct Tile {
    rows: usize,
    cols: usize,
    min: Vec<f32>,
    max: Vec<f32>,
    mean: Vec<f32>,
    counts: Vec<u32>,
    values: Vec<f64>,
}

fn tile(server: &Server, record: usize, query: &str) -> Tile {
    let answer = server.get(&format!("api/0/record/{record}/tile?{query}"));
    assert_eq!(answer.status, 200, "{query}: {:?}", String::from_utf8_lossy(&answer.body));
    let mut columns = Columns::new(&answer.body, "ATIL");
    let (rows, cols) = (columns.u32(), columns.u32());
    let cells = rows * cols;
    let (min, max, mean) = (columns.f32s(cells), columns.f32s(cells), columns.f32s(cells));
    let counts = columns.u32s(cells);
    let values = if columns.at < answer.body.len() { columns.f64s(cells) } else { Vec::new() };
    columns.end();
    Tile { rows, cols, min, max, mean, counts, values }
}

/// Records of f32 tensors: index, shape, values.
fn floats(run: &Run) -> Vec<(usize, Vec<u64>, Vec<f32>)> {
    let payload = run.payload();
    let manifest = run.manifest();
    let tensors = manifest["tensors"].as_array().unwrap().iter().enumerate();
    let tensors = tensors.filter(|(_, record)| record["kind"] == "tensor" && record["dtype"] == "FLOAT32");
    tensors
        .map(|(index, record)| {
            let shape: Vec<u64> = serde_json::from_value(record["shape"].clone()).unwrap();
            let at = record["bin_offset"].as_u64().unwrap() as usize;
            let bytes = &payload[at..at + record["bin_size"].as_u64().unwrap() as usize];
            let values = bytes.chunks_exact(4).map(|raw| f32::from_le_bytes(raw.try_into().unwrap()));
            (index, shape, values.collect())
        })
        .collect()
}

#[test]
fn tiles_hold_the_values_of_the_payload_file() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let floats = floats(&run);
    assert!(!floats.is_empty());
    for (index, shape, values) in &floats {
        let object = server.get(&format!("api/0/record/{index}")).json();
        assert_eq!(object["shape"], json!(shape));
        let (rows, cols) = (object["rows"].as_u64().unwrap(), object["cols"].as_u64().unwrap());
        assert_eq!(object["planes"], json!(1));
        let low = values.iter().fold(f32::INFINITY, |low, &value| low.min(value));
        assert_eq!(object["statistics"]["min"], json!(f64::from(low)));
        let counted: u64 = object["histogram"]["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(counted, values.len() as u64);
        for col in 0..cols.div_ceil(256) {
            let tile = tile(&server, *index, &format!("plane=0&level=0&row=0&col={col}"));
            for at in 0..tile.rows * tile.cols {
                let (row, column) = ((at / tile.cols) as u64, (at % tile.cols) as u64 + col * 256);
                let wanted = values[(row * cols + column) as usize];
                assert_eq!(
                    (tile.values[at], tile.min[at], tile.max[at]),
                    (f64::from(wanted), wanted, wanted)
                );
                assert_eq!((tile.mean[at], tile.counts[at]), (wanted, 0));
            }
        }
        let top = object["levels"].as_u64().unwrap() - 1;
        let all = tile(&server, *index, &format!("level={top}"));
        let side = 1 << top;
        assert_eq!((all.rows as u64, all.cols as u64), (rows.div_ceil(side), cols.div_ceil(side)));
        let least = all.min.iter().fold(f32::INFINITY, |low, &value| low.min(value));
        assert_eq!((least, all.values.len()), (low, if top == 0 { all.min.len() } else { 0 }));
        let outside = server.get(&format!("api/0/record/{index}/tile?level={}", top + 1));
        assert_eq!(outside.status, 404);
    }
}

#[test]
fn a_correct_output_differs_from_its_reference_by_nothing() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    server.wait_for("api/0/overview", |object| object["judging"] == "done");
    let manifest = run.manifest();
    let mut compared = 0;
    for (index, record) in manifest["tensors"].as_array().unwrap().iter().enumerate() {
        let object = server.get(&format!("api/0/record/{index}")).json();
        if object["reference"].is_null() {
            assert_eq!(
                server.get(&format!("api/0/record/{index}/tile?of=reference")).status,
                404,
                "{record}"
            );
            continue;
        }
        compared += 1;
        assert_eq!(object["reference"]["kind"], "reference");
        let difference = tile(&server, index, "of=difference");
        let reference = tile(&server, index, "of=reference");
        let value = tile(&server, index, "of=value");
        for at in 0..value.values.len() {
            assert_eq!(value.values[at] - reference.values[at], difference.values[at]);
        }
        assert_eq!(
            object["reference"]["agreement"] == "equal",
            difference.values.iter().all(|&value| value == 0.0)
        );
    }
    assert_eq!(compared, 5, "every output of every task");
}

#[test]
fn what_is_looked_for_is_found_and_what_is_not_there_is_not() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    for what in ["nan", "inf", "unwritten", "wrong"] {
        let found = server.get(&format!("api/0/record/0/next?from=0&what={what}")).json();
        assert_eq!(found, json!({ "element": null, "index": null }), "{what}");
    }
    assert_eq!(server.get("api/0/record/0/next?what=gold").status, 400);
    assert_eq!(server.get("api/0/record/999/next?what=nan").status, 404);
}

#[test]
fn a_damaged_payload_is_named_and_the_others_are_shown() {
    let run = Run::of("vector_example", "default");
    let manifest = run.manifest();
    let first =
        manifest["tensors"].as_array().unwrap().iter().position(|record| record["kind"] == "tensor").unwrap();
    let mut payload = run.payload();
    payload[manifest["tensors"][first]["bin_offset"].as_u64().unwrap() as usize] ^= 1;
    std::fs::write(run.dump().join("tensor_dump.bin"), payload).unwrap();
    let server = Server::of(&[run.path()]);
    let object = server.get(&format!("api/0/record/{first}")).json();
    assert!(object["values_missing"].as_str().unwrap().contains("checksum"), "{object}");
    assert_eq!(server.get(&format!("api/0/record/{first}/tile")).status, 422);
    let other = manifest["tensors"].as_array().unwrap().iter().position(|record| {
        record["kind"] == "tensor" && record["bin_offset"] != manifest["tensors"][first]["bin_offset"]
    });
    assert_eq!(server.get(&format!("api/0/record/{}/tile", other.unwrap())).status, 200);
    let overview = server.wait_for("api/0/overview", |object| object["judging"] == "done");
    assert_eq!(overview["verdict"]["verdict"], "damaged");
    assert_ne!(overview["verdict"]["damaged"], Value::Array(Vec::new()));
}

/// A dump of the reference with one tensor of bytes, zero but for a few places; the file has a hole where nothing is.
fn sparse(directory: &std::path::Path, rows: u64, cols: u64, places: &[(u64, u64, u8)]) {
    use std::os::unix::fs::FileExt;
    let dump = directory.join("args_dump");
    std::fs::create_dir_all(&dump).unwrap();
    let record = json!({
        "task_id": "0x0000000000000000", "func_id": [0], "arg_index": 0, "role": "output", "stage": "after_completion",
        "kind": "tensor", "dtype": "UINT8", "is_contiguous": true, "shape": [rows, cols], "strides": [cols, 1],
        "start_offset": 0, "numel": rows * cols, "bin_offset": 0, "bin_size": rows * cols, "truncated": false,
        "overwritten": false,
    });
    let manifest = json!({
        "run_dir": "args_dump", "bin_format": { "type": "logical_contiguous", "byte_order": "little_endian" },
        "dump_args_level": 2, "total_args": 1, "before_dispatch": 0, "after_completion": 1, "input_args": 0,
        "output_args": 1, "inout_args": 0, "truncated_args": 0, "dropped_records": 0, "dropped_overwrite": 0,
        "bin_file": "args.bin", "args": [record],
    });
    std::fs::write(dump.join("args_dump.json"), manifest.to_string()).unwrap();
    let file = std::fs::File::create(dump.join("args.bin")).unwrap();
    file.set_len(rows * cols).unwrap();
    for &(row, col, value) in places {
        file.write_all_at(&[value], row * cols + col).unwrap();
    }
}

#[test]
fn a_tile_of_many_elements_is_pending_until_it_is_exact() {
    let home = tempfile::tempdir().unwrap();
    // At level 4 the plane has more than a million cells: too many to keep, and a tile of 16 million elements.
    let (rows, cols) = (16384, 16640);
    sparse(home.path(), rows, cols, &[(4096, 8192, 200), (4111, 8207, 56), (8191, 12287, 7), (0, 0, 255)]);
    let server = Server::of(&[home.path()]);
    let path = "api/0/record/0/tile?level=4&row=1&col=2";
    assert_eq!(server.get(path).status, 202);
    while server.get(path).status == 202 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let found = tile(&server, 0, "level=4&row=1&col=2");
    assert_eq!((found.rows, found.cols), (256, 256));
    for at in 0..found.max.len() {
        // 16 x 16 elements each: the first cell holds two of the places, the last one the third.
        let wanted = match at {
            0 => (200.0, 256.0 / 256.0),
            65535 => (7.0, 7.0 / 256.0),
            _ => (0.0, 0.0),
        };
        assert_eq!(
            (found.max[at], found.mean[at], found.min[at], found.counts[at]),
            (wanted.0, wanted.1, 0.0, 0)
        );
    }
}
