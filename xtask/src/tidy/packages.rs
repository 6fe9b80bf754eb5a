//! Packages that the workspace uses: their licences, their versions, where they come from. `deny.toml` says
//! what is permitted, in the words of `cargo deny`, which knows more rules and is not needed here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml::Table;

use crate::process::{output, root};

/// Where packages come from that are not the workspace's own.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What `deny.toml` permits.
struct Permitted {
    licenses: Vec<String>,
    /// Further licences of single packages.
    exceptions: Vec<(String, String)>,
    /// Versions that may be beside a newer one.
    skipped: BTreeSet<(String, String)>,
}

struct Package {
    name: String,
    version: String,
    /// An SPDX expression.
    license: Option<String>,
    /// `None`: a folder of the workspace.
    source: Option<String>,
}

/// Packages with other licences or sources, and second versions. `Cargo.lock` has to be up to date.
pub(super) fn findings() -> Result<Vec<String>, String> {
    let deny = std::fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
    let permitted = permitted(&deny.parse().map_err(|e| format!("deny.toml: {e}"))?);
    let target = "--filter-platform=x86_64-unknown-linux-gnu";
    let text = output("cargo", &["metadata", "--format-version", "1", "--locked", target])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata without packages")?;
    Ok(judge(&packages.iter().map(package).collect::<Vec<_>>(), &permitted))
}

fn permitted(deny: &Table) -> Permitted {
    let list = |section: &str, key: &str| {
        let list = deny.get(section).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
        list.cloned().unwrap_or_default()
    };
    let text =
        |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).unwrap_or_default().to_owned();
    let exceptions = list("licenses", "exceptions").into_iter().flat_map(|exception| {
        let allowed = exception.get("allow").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        let name = text(exception.get("name"));
        allowed.into_iter().map(move |license| (name.clone(), text(Some(&license))))
    });
    Permitted {
        licenses: list("licenses", "allow").iter().map(|license| text(Some(license))).collect(),
        exceptions: exceptions.collect(),
        skipped: list("bans", "skip").iter().map(|s| (text(s.get("name")), text(s.get("version")))).collect(),
    }
}

fn package(value: &Value) -> Package {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Package {
        name: text("name").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        license: text("license"),
        source: text("source"),
    }
}

fn judge(packages: &[Package], permitted: &Permitted) -> Vec<String> {
    let mut found = Vec::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let Package { name, version, license, source } = package;
        if !may_be_used(package, permitted) {
            let license = license.as_deref().unwrap_or("no licence");
            found.push(format!("deny.toml: {name} {version}: {license} is not permitted"));
        }
        if let Some(source) = source.as_deref().filter(|source| *source != REGISTRY) {
            found.push(format!("deny.toml: {name} {version} comes from {source}"));
        }
        if !permitted.skipped.contains(&(name.clone(), version.clone())) {
            versions.entry(name).or_default().push(version);
        }
    }
    let several = versions.iter().filter(|(_, versions)| versions.len() > 1);
    found.extend(several.map(|(name, versions)| {
        format!("deny.toml: {name} is there in the versions {}", versions.join(", "))
    }));
    let is_there = |(name, version): &&(String, String)| {
        packages.iter().any(|package| (&package.name, &package.version) == (name, version))
    };
    let gone = permitted.skipped.iter().filter(|skipped| !is_there(skipped));
    found.extend(gone.map(|(name, version)| format!("deny.toml: {name} {version} is not used any more")));
    found
}

fn may_be_used(package: &Package, permitted: &Permitted) -> bool {
    let is_allowed = |license: &str| {
        permitted.licenses.iter().any(|allowed| allowed == license)
            || permitted.exceptions.contains(&(package.name.clone(), license.to_owned()))
    };
    // Older manifests separate alternatives by a slash.
    let expression = package.license.as_deref().map(|license| license.replace('/', " OR "));
    let parsed = expression.and_then(|text| spdx::Expression::parse(&text).ok());
    parsed.is_some_and(|expression| {
        expression.evaluate(|requirement| {
            // With an exception a licence demands less.
            requirement.license.id().is_some_and(|id| is_allowed(id.name))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, version: &str, license: &str) -> Package {
        let source = Some(REGISTRY.to_owned());
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: Some(license.to_owned()),
            source,
        }
    }

    #[test]
    fn other_licences_sources_and_second_versions_are_found() {
        let permitted = permitted(
            &r#"
            [licenses]
            allow = ["MIT", "Apache-2.0"]
            exceptions = [{ name = "drawing", allow = ["CDDL-1.0"] }]
            [bans]
            skip = [{ name = "old", version = "1.0.0" }, { name = "gone", version = "3.0.0" }]
            "#
            .parse()
            .unwrap(),
        );
        let elsewhere = Package { source: Some("git+https://here".to_owned()), ..of("git", "1.0.0", "MIT") };
        let packages = [
            of("one", "1.0.0", "MIT/GPL-2.0-only"),
            of("both", "1.0.0", "MIT AND GPL-2.0-only"),
            of("with", "1.0.0", "Apache-2.0 WITH LLVM-exception"),
            of("drawing", "1.0.0", "CDDL-1.0"),
            of("other", "1.0.0", "CDDL-1.0"),
            of("old", "1.0.0", "MIT"),
            of("old", "2.0.0", "MIT"),
            of("twice", "1.0.0", "MIT"),
            of("twice", "1.1.0", "MIT"),
            elsewhere,
        ];
        assert_eq!(
            judge(&packages, &permitted),
            [
                "deny.toml: both 1.0.0: MIT AND GPL-2.0-only is not permitted",
                "deny.toml: other 1.0.0: CDDL-1.0 is not permitted",
                "deny.toml: git 1.0.0 comes from git+https://here",
                "deny.toml: twice is there in the versions 1.0.0, 1.1.0",
                "deny.toml: gone 3.0.0 is not used any more",
            ]
        );
    }
}
