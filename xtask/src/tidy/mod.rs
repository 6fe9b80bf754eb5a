//! House rules that a program can check: layers, import cycles, sizes, names of bounds, banned calls, retired
//! words, leftovers, public items that no other crate uses, paths in documents, forgotten tests, licences of
//! packages.

mod banned;
mod bounds;
mod cycles;
mod doc_paths;
mod layers;
mod packages;
mod retired;
mod sizes;
mod source;
mod unnamed;
mod unused_public;

/// Runs all rules and prints every finding; an error if there is one.
pub(crate) fn run() -> Result<(), String> {
    let files = source::rust_files()?;
    let mut findings = layers::findings()?;
    findings.extend(packages::findings()?);
    for document in source::documents()? {
        findings.extend(doc_paths::findings(&document));
        findings.extend(retired::findings(&document));
    }
    findings.extend(cycles::findings(&files));
    findings.extend(unnamed::findings(&files));
    findings.extend(unused_public::findings(&files));
    for file in &files {
        findings.extend(sizes::findings(file)?);
        findings.extend(banned::findings(file));
        findings.extend(bounds::findings(file));
        findings.extend(retired::findings(file));
    }
    for finding in &findings {
        println!("tidy: {finding}");
    }
    println!("tidy: {} files, {} findings", files.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err(format!("tidy: {} findings", findings.len())) }
}
