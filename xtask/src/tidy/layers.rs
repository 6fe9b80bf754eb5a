//! The direction of dependencies: a crate uses crates of strictly lower layers only.

use std::collections::HashMap;

use serde_json::Value;

use crate::process::output;

/// Edges that do not point downwards, and crates without a layer.
pub(crate) fn findings() -> Result<Vec<String>, String> {
    let text = output("cargo", &["metadata", "--format-version", "1", "--no-deps", "--offline"])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata without packages")?;
    let mut layers = HashMap::new();
    let mut found = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        match package["metadata"]["layer"].as_u64() {
            Some(layer) => {
                layers.insert(name, layer);
            }
            None => found.push(format!("crate {name} states no layer in [package.metadata]")),
        }
    }
    for package in packages {
        found.extend(upward_edges(package, &layers));
    }
    Ok(found)
}

fn upward_edges(package: &Value, layers: &HashMap<&str, u64>) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some(&layer) = layers.get(name) else { return Vec::new() };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies
        .iter()
        .filter(|d| d["kind"].as_str() != Some("dev"))
        .filter_map(|d| d["name"].as_str())
        .filter_map(|used| layers.get(used).map(|&below| (used, below)))
        .filter(|&(_, below)| below >= layer)
        .map(|(used, below)| format!("crate {name} (layer {layer}) depends on {used} (layer {below})"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_sideways_is_found_and_a_test_only_edge_is_not() {
        let layers = HashMap::from([("env", 1), ("types", 1), ("page", 2)]);
        let package: Value = serde_json::from_str(
            r#"{"name":"env","dependencies":[{"name":"types","kind":null},{"name":"page","kind":"dev"}]}"#,
        )
        .unwrap();
        assert_eq!(upward_edges(&package, &layers), ["crate env (layer 1) depends on types (layer 1)"]);
    }
}
