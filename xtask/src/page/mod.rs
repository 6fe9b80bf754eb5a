//! `cargo xtask page`: the lab's report in a real browser. Asks the layout for what is wrong, and takes
//! pictures for the eye.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{output, target_dir};

/// Debian's package and program.
const BROWSER: &str = "chromium";
/// A browser that takes longer hangs.
const BROWSER_SECONDS: &str = "300";
/// Frames of the pictures, one at each section of the page: their width, and how many stand side by side.
const FRAMES: [(u32, u32); 2] = [(360, 11), (1280, 4)];
/// Height of such a frame.
const FRAME_HEIGHT: u32 = 1800;
/// What the measuring must object to, or it is blind.
const BROKEN: &str = "<!DOCTYPE html><body style=\"background:#fff;margin:0\"><div style=\"width:2000px\">wide</div>\
     <p style=\"color:#ccc\">pale</p><div style=\"position:relative;height:40px\"><b style=\"position:absolute\">one</b>\
     <b style=\"position:absolute\">two</b></div><svg width=\"40\" height=\"20\"><text x=\"30\" y=\"15\">outside</text>\
     <rect width=\"9\" height=\"9\" fill=\"#eee\"/></svg></body>";
/// One object of each kind.
const OBJECTIONS: [&str; 7] = [
    "360 px, light: the page is 2000 px wide",
    "<DIV> ends at 2000",
    "\"pale\" has a contrast of",
    "\"two\" lies over \"one\"",
    "\"outside\" leaves its image",
    "a bar has a contrast of",
    "1280 px, dark: the page does not follow the colour scheme",
];

/// Looks at the report in a folder, or at one of made-up measurements, and takes pictures of it.
pub(crate) fn run(folder: Option<&str>) -> Result<(), String> {
    let place = place()?;
    let folder = folder.map_or_else(|| sample(&place), |folder| Ok(PathBuf::from(folder)))?;
    let path = folder.join("report.html");
    let page = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    // First: of what is found, pictures tell more.
    pictures(&place, &page)?;
    println!("page: pictures in {}", place.display());
    look(&place, &page)
}

fn place() -> Result<PathBuf, String> {
    let place = target_dir().join("page");
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    Ok(place)
}

/// A folder of made-up measurements.
fn sample(place: &Path) -> Result<PathBuf, String> {
    let sample = place.join("sample");
    // What is not there need not be removed.
    let _ = fs::remove_dir_all(&sample);
    let sample_text = sample.to_string_lossy();
    output("cargo", &["run", "--quiet", "--package=lab", "--example=sample_report", "--", &sample_text])?;
    Ok(sample)
}

/// Measures a page's layout, after that of a page with known faults.
fn look(place: &Path, page: &str) -> Result<(), String> {
    let found = measure(place, BROKEN)?.1.join("\n");
    let blind: Vec<&str> = OBJECTIONS.into_iter().filter(|objection| !found.contains(objection)).collect();
    if !blind.is_empty() {
        return Err(format!("page: the browser does not see these faults of a broken page: {blind:?}"));
    }
    let (measured, findings) = measure(place, page)?;
    for finding in &findings {
        println!("page: {finding}");
    }
    println!("page: {measured}, {} findings", findings.len());
    if findings.is_empty() { Ok(()) } else { Err(format!("page: {} findings", findings.len())) }
}

/// What the browser's layout says of a page: how much was measured, and what is wrong.
fn measure(place: &Path, page: &str) -> Result<(String, Vec<String>), String> {
    let harness = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><pre id=\"findings\"></pre><textarea id=\"page\" hidden>\n{}</textarea>\
         <script>{}</script>",
        escape(page),
        include_str!("measure.js")
    );
    let path = place.join("measure.html");
    fs::write(&path, harness).map_err(|e| format!("{}: {e}", path.display()))?;
    let dom = browse(&path, &["--dump-dom".to_owned()])?;
    let told = dom.split_once("<pre id=\"findings\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let mut lines: Vec<String> = told.map_or(Vec::new(), |(told, _)| told.lines().map(unescape).collect());
    if lines.pop().as_deref() != Some("end") {
        return Err("page: the measuring did not come to its end".to_owned());
    }
    Ok((lines.remove(0), lines))
}

/// A picture per width and colour scheme: the page as far as it fits, at its top and at each section.
fn pictures(place: &Path, page: &str) -> Result<(), String> {
    let sections = page.matches("<h2 id=").count() as u32;
    for (width, columns) in FRAMES {
        for scheme in ["light", "dark"] {
            let style = format!("width:{width}px;height:{FRAME_HEIGHT}px;border:0;color-scheme:{scheme}");
            let sheet = format!(
                "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0;display:flex;flex-wrap:wrap\">\
                 <textarea id=\"page\" hidden>\n{}</textarea><script>const style = \"{style}\";{}</script>",
                escape(page),
                include_str!("picture.js")
            );
            let path = place.join("picture.html");
            fs::write(&path, sheet).map_err(|e| format!("{}: {e}", path.display()))?;
            let picture = place.join(format!("{width}-{scheme}.png"));
            let (sheet_width, rows) = (width * columns, (sections + 1).div_ceil(columns));
            let options = [
                format!("--screenshot={}", picture.display()),
                format!("--window-size={sheet_width},{}", rows * FRAME_HEIGHT),
            ];
            browse(&path, &options)?;
        }
    }
    Ok(())
}

fn browse(page: &Path, options: &[String]) -> Result<String, String> {
    let out = Command::new("timeout")
        .args([BROWSER_SECONDS, BROWSER])
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--no-first-run", "--disable-background-networking", "--virtual-time-budget=60000"])
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .map_err(|e| format!("timeout: {e}"))?;
    if matches!(out.status.code(), Some(127)) {
        return Err(format!("cargo xtask page needs the program {BROWSER} (Debian package {BROWSER})"));
    }
    if !out.status.success() {
        return Err(format!("{BROWSER} failed: {}", String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}
