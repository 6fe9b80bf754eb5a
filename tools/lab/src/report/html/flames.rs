//! Flame graphs of profiled servers, drawn from folded stacks.

use std::fmt::Write;
use std::path::Path;

use inferno::flamegraph::color::{BackgroundColor, Color};
use inferno::flamegraph::{Options, from_lines};

use crate::error::{Error, Result};

use super::text::escape;

/// Width of a flame graph; a narrower window scrolls it.
const WIDTH: usize = 1180;
/// What the frame around it needs.
const FRAME: usize = 24;

/// Stacks of one profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The file's name without its ending.
    pub name: String,
    /// Lines of `outermost;..;innermost COUNT`.
    pub stacks: String,
}

/// The profiles of an output folder: files `*.folded` in `profiles`, by name. None if there is no such
/// folder.
pub fn profiles(folder: &Path) -> Result<Vec<Profile>> {
    let folder = folder.join("profiles");
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::file(&folder)(e)),
    };
    let mut profiles = Vec::new();
    for entry in entries {
        let path = entry.map_err(Error::file(&folder))?.path();
        if path.extension().is_some_and(|ending| ending == "folded") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let stacks = std::fs::read(&path).map_err(Error::file(&path))?;
            profiles.push(Profile { name, stacks: String::from_utf8_lossy(&stacks).into_owned() });
        }
    }
    profiles.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(profiles)
}

pub(super) fn section(profiles: &[Profile], out: &mut String) {
    out.push_str("<h2 id=\"flames\">Flame graphs</h2>\n");
    if profiles.is_empty() {
        out.push_str(
            "<p>No profiles were taken. Folded stacks in <code>profiles/*.folded</code> beside the results are drawn here by the next \
             <code>ratchet lab report</code>.</p>\n",
        );
        return;
    }
    out.push_str(
        "<p>Where a server's time went. The lowest box is all samples. Each other one is a function, as wide as its share of \
         them, upon the function that called it; the order from left to right means nothing. Point at a box for its name and share.</p>\n",
    );
    for profile in profiles {
        let name = escape(&profile.name);
        let _ = writeln!(out, "<h3>{name}</h3>");
        match draw(&profile.stacks) {
            Ok((image, height)) => {
                let frame =
                    format!("<!DOCTYPE html><style>body{{margin:0}}#search{{display:none}}</style>{image}");
                let _ = writeln!(
                    out,
                    "<iframe sandbox=\"\" title=\"Flame graph of {name}\" height=\"{}\" srcdoc=\"{}\"></iframe>",
                    height + FRAME,
                    escape(&frame)
                );
            }
            Err(why) => {
                let _ = writeln!(out, "<p>It cannot be drawn: {}.</p>", escape(&why));
            }
        }
    }
}

/// The image and its height, without scripts: its frame would not run one, and hides what is only for it.
fn draw(stacks: &str) -> std::result::Result<(String, usize), String> {
    let mut options = Options::default();
    options.title = String::new();
    options.image_width = Some(WIDTH);
    options.no_javascript = true;
    options.deterministic = true;
    options.bgcolors = Some(BackgroundColor::Flat(Color { r: 255, g: 255, b: 255 }));
    "monospace".clone_into(&mut options.font_type);
    let mut image = Vec::new();
    from_lines(&mut options, stacks.lines(), &mut image).map_err(|e| e.to_string())?;
    let image = String::from_utf8_lossy(&image).into_owned();
    // What is before the image is for a file of its own.
    let image = image.find("<svg").map(|at| &image[at..]).ok_or("no image")?.to_owned();
    let image = without_script(&image);
    let height = image.split_once("height=\"").and_then(|(_, rest)| rest.split('"').next()?.parse().ok());
    Ok((image, height.ok_or("no height")?))
}

/// The drawing library leaves its constants and its entry for a script even where it is told to leave out the
/// script.
fn without_script(image: &str) -> String {
    let image = image.replacen(" onload=\"init(evt)\"", "", 1);
    match (image.find("<script"), image.find("</script>")) {
        (Some(from), Some(to)) => [&image[..from], &image[to + "</script>".len()..]].concat(),
        _ => image,
    }
}
