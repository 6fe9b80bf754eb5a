//! Whether the hot functions of a built executable are what they are meant to be: small or inlined, without
//! panics and formatting among their hot code, and without validators.
//!
//! Machine code is asked, not source: what a compiler made of a bounds check, a `#[cold]` function or an
//! `#[inline]` is known there only. The list of hot functions says what each may have; the numbers in it may
//! only fall.

mod binary;
mod flow;
mod names;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::Result;
use binary::{Binary, Frame, Place};
use flow::{Call, Target};
use names::{Callee, callee, crate_of, in_check_module, is_validator, last_segment};
pub use paths::{HotPaths, Limits};

/// Bytes from which on a copy is listed.
pub const LARGE_COPY: u64 = 256;

/// What was found in an executable.
#[derive(Debug, Default)]
pub struct Report {
    /// What is wrong, a line each.
    pub findings: Vec<String>,
    /// The hot functions as they are: a list that would allow just that.
    pub measured: BTreeMap<String, Limits>,
    /// Large copies in all functions of the hot crates, a line each.
    pub copies: Vec<String>,
    /// Numbers of the list that may be lowered.
    pub may_fall: Vec<String>,
}

/// Looks at the executable at `path`.
pub fn look(path: &Path, paths: &HotPaths) -> Result<Report> {
    let binary = Binary::read(path)?;
    let mut report = Report::default();
    let bodies: Vec<Body> = paths.functions.keys().map(|name| Body::of(name, &binary)).collect();
    for (allowed, body) in paths.functions.values().zip(&bodies) {
        body.judge(allowed, &bodies, &mut report);
        body.find_validators(paths, &mut report.findings);
    }
    report.findings.extend(census(paths, &binary));
    for (name, place) in binary.functions_of(&paths.crates) {
        let calls = calls_of(place, &binary);
        let large = calls.iter().filter_map(|call| Some((call, large_copy(call, &binary)?)));
        report.copies.extend(
            large.map(|(call, bytes)| format!("{name}: {bytes} bytes, {}", at(call.address, &binary))),
        );
    }
    Ok(report)
}

/// A hot function's machine code, all instances of it.
struct Body {
    name: String,
    /// Bytes of the largest instance; none if there is no function of this name.
    bytes: Option<u64>,
    /// Calls to failure machinery in cold tails, of the instance with most; in words.
    cold: Vec<String>,
    /// The same in line.
    inline: Vec<String>,
    /// Large copies, in words.
    copies: Vec<String>,
    /// Functions it calls, with places.
    called: BTreeMap<String, String>,
    /// Functions of the workspace whose code is in it.
    inlined: BTreeSet<Frame>,
}

impl Body {
    fn of(name: &str, binary: &Binary) -> Body {
        let places = binary.instances(name);
        let mut body = Body {
            name: name.to_owned(),
            bytes: places.first().map(|place| place.bytes),
            cold: Vec::new(),
            inline: Vec::new(),
            copies: Vec::new(),
            called: BTreeMap::new(),
            inlined: BTreeSet::new(),
        };
        for place in places {
            body.add(place, binary);
        }
        body
    }

    fn add(&mut self, place: Place, binary: &Binary) {
        let (mut cold, mut inline, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for call in calls_of(place, binary) {
            let Some((name, _)) = call.target.and_then(|t| binary.callee(t)) else { continue };
            if let Some(bytes) = large_copy(&call, binary) {
                copies.push(format!("{bytes} bytes, {}", at(call.address, binary)));
            }
            if matches!(callee(name), Callee::Panic | Callee::Format) {
                let words = format!("{name}, {}", at(call.address, binary));
                if call.is_cold { cold.push(words) } else { inline.push(words) }
            }
            self.called.entry(name.to_owned()).or_insert_with(|| at(call.address, binary));
        }
        for (most, these) in [(&mut self.cold, cold), (&mut self.inline, inline), (&mut self.copies, copies)]
        {
            if these.len() > most.len() {
                *most = these;
            }
        }
        for address in flow::addresses(binary.code(place), place.address) {
            self.inlined.extend(binary.frames(address).into_iter().filter(Frame::is_own));
        }
    }

    /// Compares with what the list allows.
    fn judge(&self, allowed: &Limits, all: &[Body], report: &mut Report) {
        let Body { name, bytes, cold, inline, copies, .. } = self;
        let mut find = |what: String| report.findings.push(format!("{name}: {what}"));
        match (*bytes, allowed.bytes) {
            (Some(bytes), None) => find(format!("is not inlined, but a function of {bytes} bytes")),
            (Some(bytes), Some(most)) if bytes > most => find(format!("{bytes} bytes, {most} at most")),
            (None, _) if !all.iter().any(|body| body.has_in_line(name)) => {
                find("is neither a function nor inlined in one of the list: renamed?".to_owned());
            }
            _ => {}
        }
        let kinds = [
            ("calls to failure machinery in cold tails", cold, allowed.cold),
            ("calls to failure machinery in line", inline, allowed.inline),
            ("large copies", copies, allowed.copies),
        ];
        for (kind, these, most) in kinds {
            if these.len() > most {
                find(format!("{} {kind}, {most} at most:\n    {}", these.len(), these.join("\n    ")));
            } else if these.len() < most {
                report.may_fall.push(format!("{name}: {} {kind}, not {most}", these.len()));
            }
        }
        let (cold, inline, copies) = (cold.len(), inline.len(), copies.len());
        report.measured.insert(name.clone(), Limits { bytes: *bytes, cold, inline, copies });
    }

    /// Whether code of the function called `name` is in this one: line tables know its last name and its file
    /// only.
    fn has_in_line(&self, name: &str) -> bool {
        let (crate_name, function) = (format!("/{}/", crate_of(name)), last_segment(name));
        self.inlined.iter().any(|frame| frame.function == function && frame.file.contains(&crate_name))
    }

    /// Validators that are called, or whose code is in line.
    fn find_validators(&self, paths: &HotPaths, findings: &mut Vec<String>) {
        for (validator, place) in &self.called {
            let is_own = paths.crates.iter().any(|c| c == crate_of(validator));
            if is_own && is_validator(validator) && !is_allowed(validator, paths) {
                findings.push(format!("{}: calls the validator {validator}, {place}", self.name));
            }
        }
        let mut told = BTreeSet::new();
        for frame in &self.inlined {
            let counts = is_validator(&frame.function) && !is_allowed(&frame.function, paths);
            if counts && told.insert(&frame.function) {
                let (validator, place) = (&frame.function, frame.place());
                findings.push(format!("{}: has in line the validator {validator}, {place}", self.name));
            }
        }
    }
}

fn is_allowed(validator: &str, paths: &HotPaths) -> bool {
    paths.validators.iter().any(|v| v == last_segment(validator))
}

/// Validators of the hot crates that are functions outside the check modules.
fn census(paths: &HotPaths, binary: &Binary) -> BTreeSet<String> {
    let all = binary.functions_of(&paths.crates);
    let outside =
        all.filter(|(name, _)| is_validator(name) && !in_check_module(name) && !is_allowed(name, paths));
    outside
        .map(|(name, place)| {
            format!("{name}: a validator outside the check modules, {}", at(place.address, binary))
        })
        .collect()
}

/// The calls in a function.
fn calls_of(place: Place, binary: &Binary) -> Vec<Call> {
    flow::calls(binary.code(place), place.address, &|target| judge(target, binary))
}

/// What a target is. A function that only ever panics counts as one that does not return.
fn judge(target: Target, binary: &Binary) -> Callee {
    let by_name = |target| binary.callee(target).map_or(Callee::Other, |(name, _)| callee(name));
    let kind = by_name(target);
    let Some((_, Some(place))) = binary.callee(target) else { return kind };
    if kind == Callee::Other && !flow::can_return(binary.code(place), place.address, &by_name) {
        return Callee::Unwind;
    }
    kind
}

/// Bytes that a call copies, if they are constant and many.
fn large_copy(call: &Call, binary: &Binary) -> Option<u64> {
    let (name, _) = binary.callee(call.target?)?;
    let bytes = call.third_argument?;
    (callee(name) == Callee::Copy && bytes >= LARGE_COPY).then_some(bytes)
}

/// An address in words: with the line of the innermost function of the workspace.
fn at(address: u64, binary: &Binary) -> String {
    match binary.frames(address).iter().find(|frame| frame.is_own()) {
        Some(frame) => format!("at {address:#x}, {} in {}", frame.place(), frame.function),
        None => format!("at {address:#x}"),
    }
}
