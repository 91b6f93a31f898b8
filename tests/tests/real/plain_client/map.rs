//! The static map, as `ambit_proto::map` describes the block. Compared with the test vectors.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::bits::BitReader;

/// Steps of an extent and of a coordinate, in metres.
const HALF_STEP: f64 = 1.0 / 64.0;
const PLACE_STEP: f64 = 1.0 / 256.0;
const LOWEST_M: f64 = -64.0;

/// The obstacles in the words of the test vectors.
fn read_map(block: &[u8]) -> Result<Vec<Value>> {
    let mut reader = BitReader::new(block);
    let mut look = 0;
    let count = reader.up_to(65_536)?;
    let obstacles: Result<_> = (0..count).map(|_| read_obstacle(&mut reader, &mut look)).collect();
    reader.align()?;
    ensure!(reader.left() == 0, "{} bits follow", reader.left());
    obstacles
}

fn read_obstacle(reader: &mut BitReader<'_>, look: &mut u64) -> Result<Value> {
    let [x, y, z] = [reader.bits(22)?, reader.bits(22)?, reader.bits(16)?];
    let [x, y, z] = [x, y, z].map(|steps| steps as f64 * PLACE_STEP);
    let is_special = reader.flag()?;
    let mut is_round = false;
    if is_special {
        is_round = reader.flag()?;
    }
    let mut half = || Ok::<_, anyhow::Error>(reader.bits(14)? as f64 * HALF_STEP);
    let shape = if is_round {
        json!({ "shape": "cylinder", "radius": half()?, "half_height": half()? })
    } else {
        let half = [half()?, half()?, half()?];
        let turn = if is_special { 1 + reader.up_to(254)? } else { 0 };
        json!({ "shape": "box", "half": half, "turn": turn })
    };
    if reader.flag()? {
        *look = reader.up_to(15)?;
    }
    let look = look.checked_sub(1);
    Ok(json!({ "centre": [x, y, z + LOWEST_M], "shape": shape, "look": look }))
}

#[test]
fn the_static_map_is_read_as_the_vectors_say() -> Result<()> {
    let text = include_str!("../../../../proto/tests/vectors/maps.json");
    let vectors: Vec<Value> = serde_json::from_str(text)?;
    ensure!(vectors.len() > 4, "{} vectors", vectors.len());
    for vector in vectors {
        let digits = vector["bytes"].as_str().unwrap_or_default().as_bytes();
        let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
        let bytes: Vec<u8> =
            digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
        let seen = numbers_as_floats(&Value::from(read_map(&bytes)?));
        assert_eq!(seen, numbers_as_floats(&vector["value"]), "{}", vector["name"]);
    }
    Ok(())
}

/// 2 and 2.0 are the same number.
fn numbers_as_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(numbers_as_floats).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), numbers_as_floats(value))).collect()
        }
        other => other.clone(),
    }
}
