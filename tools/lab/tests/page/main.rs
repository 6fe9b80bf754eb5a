//! The page as a program can check it; how it looks in a browser is looked at by `cargo xtask page`.

#![allow(clippy::unwrap_used, reason = "test code")]

mod sample;

use std::path::Path;
use std::sync::LazyLock;

use lab::journal::Journal;
use lab::ledger::History;
use lab::report::{self, Extras, TargetResult};
use roxmltree::{Document, Node, ParsingOptions};

use sample::{HOSTILE_TARGET, HOSTILE_WORKLOAD, REFUSED, targets};

const HISTORY: &str = r#"{"version":"0.1.0","commit":"<i>a","date":"2026-01-01","subject":"\"><b>","operations":[{"name":"ping","instructions":500},{"name":"<u>","instructions":3}]}
{"version":"0.2.0","date":"2026-01-03","operations":[{"name":"ping","instructions":400}]}
"#;

struct Sample {
    rows: Vec<report::Row>,
    page: String,
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    sample::write(folder.path()).unwrap();
    let (header, cells) = Journal::read(folder.path()).unwrap();
    let rows = report::rows(&header, &cells);
    let extras = Extras {
        history: Some(History::parse(HISTORY).unwrap()),
        profiles: report::profiles(folder.path()).unwrap(),
    };
    let page = report::html(&header, &rows, &extras);
    Sample { rows, page }
});

/// The page is XML besides: every tag is closed, every ampersand escaped.
fn parsed(page: &str) -> Document<'_> {
    Document::parse_with_options(page, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() })
        .unwrap()
}

fn all<'a>(page: &'a Document, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    page.descendants().filter(move |node| node.has_tag_name(name) || node.tag_name().name() == name)
}

fn text(node: Node) -> String {
    node.descendants().filter(Node::is_text).filter_map(|n| n.text()).collect::<String>().trim().to_owned()
}

/// What a name looks like on the page.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c == '\u{202e}' || c == '\u{0}' { '\u{fffd}' } else { c }).collect()
}

#[test]
fn the_page_refers_to_nothing_outside_and_runs_nothing() {
    let page = parsed(&SAMPLE.page);
    for node in page.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        assert!(
            !["script", "link", "img", "object", "embed", "base", "form", "image", "use"].contains(&name),
            "{name}"
        );
        for attribute in node.attributes() {
            let (key, value) = (attribute.name(), attribute.value());
            assert!(
                !key.starts_with("on") && !["src", "data", "action", "background"].contains(&key),
                "{key}"
            );
            assert!(key != "href" || value.starts_with('#'), "{value}");
        }
    }
    let style = text(all(&page, "style").next().unwrap());
    assert!(!style.contains("url(") && !style.contains("@import"), "the style sheet fetches something");
    links_lead_somewhere(&page);
}

fn links_lead_somewhere(page: &Document) {
    let ids: Vec<&str> = page.descendants().filter_map(|n| n.attribute("id")).collect();
    for link in all(page, "a").filter_map(|a| a.attribute("href")) {
        assert!(ids.contains(&&link[1..]), "{link} leads nowhere");
    }
}

#[test]
fn a_frame_has_its_image_in_itself_and_may_run_nothing() {
    let page = parsed(&SAMPLE.page);
    let frames: Vec<Node> = all(&page, "iframe").collect();
    assert_eq!((frames.len(), frames[0].attribute("sandbox")), (1, Some("")));
    let image = frames[0].attribute("srcdoc").unwrap();
    let image = parsed(&image[image.find("<svg").unwrap()..]);
    let runs =
        |n: Node| n.tag_name().name() == "script" || n.attributes().any(|a| a.name().starts_with("on"));
    assert!(!image.descendants().any(runs), "the image has a script");
    assert!(all(&image, "title").any(|title| text(title).starts_with("<b>parse&\"x\"")));
    let links =
        image.descendants().flat_map(|n| n.attributes()).filter(|a| ["href", "src"].contains(&a.name()));
    assert_eq!(links.count(), 0);
    assert!(SAMPLE.page.contains("<h3>broken</h3>\n<p>It cannot be drawn: "));
}

#[test]
fn hostile_names_are_shown_as_they_are() {
    let page = parsed(&SAMPLE.page);
    let heads: Vec<String> = all(&page, "th").map(text).collect();
    for name in [HOSTILE_TARGET, HOSTILE_WORKLOAD, "<u>"] {
        assert!(heads.contains(&shown(name)), "{name}");
    }
    assert_eq!(
        text(all(&page, "title").next().unwrap()),
        format!("{} compared", targets().map(shown).join(", "))
    );
}

#[test]
fn every_row_is_in_map_charts_and_tables_with_its_number_or_the_reason() {
    let page = parsed(&SAMPLE.page);
    let cells: Vec<String> = all(&page, "td").map(text).collect();
    let count = |wanted: &str| cells.iter().filter(|cell| *cell == wanted).count();
    let names: Vec<String> = all(&page, "th").map(text).collect();
    let mut failed = 0;
    for row in &SAMPLE.rows {
        // One in a heat map, and one for each of its rows in the tables of all figures.
        let lines = names.iter().filter(|name| **name == shown(&row.key.workload)).count();
        let rows = SAMPLE.rows.iter().filter(|other| other.key.workload == row.key.workload).count();
        assert_eq!(lines, 1 + rows, "{}", row.key.workload);
        for result in &row.results {
            match result {
                TargetResult::Measured(_, Some(c)) => {
                    let (low, high) = c.interval;
                    let interval = format!("{:.3} ({low:.3} to {high:.3})", c.ratio);
                    assert!(cells.iter().any(|cell| cell.ends_with(&interval)), "{interval}");
                }
                TargetResult::Measured(..) => {}
                TargetResult::Failed(_) => failed += 1,
                TargetResult::Missing => {}
            }
        }
    }
    assert_eq!(
        count("connection refused") + count(REFUSED),
        failed + 2,
        "each in the tables, each reason in the list"
    );
    assert_eq!(count(&format!("all {}", SAMPLE.rows.len())), 1);
    for key in
        SAMPLE.rows.iter().filter(|row| matches!(row.results[2], TargetResult::Missing)).map(|row| &row.key)
    {
        let told = cells.iter().any(|cell| cell.contains(&key.workload) && cell.contains(" client"));
        assert!(told, "{}", key.workload);
    }
    let images: Vec<Node> = all(&page, "svg").collect();
    let labels = images.iter().flat_map(Node::descendants).filter(|n| n.tag_name().name() == "text");
    let labels: Vec<String> = labels.map(text).collect();
    for name in lab::workload::catalogue().iter().map(|w| &w.name) {
        let rows = SAMPLE.rows.iter().filter(|row| row.key.workload == *name).count();
        // Rates of two targets and CPU of three; the one that is down has no chart.
        assert_eq!(labels.iter().filter(|label| *label == name).count(), rows * 5, "{name}");
    }
    for sign in ["▲", "▼", "~", "?"] {
        assert!(cells.iter().any(|cell| cell.starts_with(sign)), "the sample has no {sign}");
    }
}

/// With the widest of the common fixed-width fonts.
#[test]
fn labels_of_charts_lie_within_and_do_not_touch() {
    let page = parsed(&SAMPLE.page);
    let mut labels_seen = 0;
    for image in all(&page, "svg") {
        let number = |node: Node, key: &str| -> f64 { node.attribute(key).unwrap().parse().unwrap() };
        let (width, height) = (number(image, "width"), number(image, "height"));
        let mut boxes: Vec<(f64, f64, f64, String)> = Vec::new();
        for label in image.descendants().filter(|n| n.tag_name().name() == "text") {
            let text = text(label);
            let column = 0.603 * number(label, "font-size");
            let long = text.chars().map(|c| if c.is_ascii() { column } else { 2.0 * column }).sum::<f64>();
            let (x, y) = (number(label, "x"), number(label, "y"));
            let left = match label.attribute("text-anchor").unwrap() {
                "start" => x,
                "end" => x - long,
                _ => x - long / 2.0,
            };
            assert!(
                left > -0.5 && left + long < width + 0.5 && y > 6.0 && y < height - 6.0,
                "'{text}' leaves its image"
            );
            for (from, to, other_y, other) in &boxes {
                let apart = left >= *to || left + long <= *from || (y - other_y).abs() > 13.0;
                assert!(apart, "'{text}' and '{other}' touch");
            }
            boxes.push((left, left + long, y, text));
            labels_seen += 1;
        }
        for node in image.descendants().filter(|n| n.tag_name().name() == "rect") {
            let right = number(node, "x") + number(node, "width");
            assert!(number(node, "x") >= 0.0 && right <= width, "a bar leaves its image");
        }
    }
    assert!(labels_seen > 1000);
}

#[test]
fn every_colour_of_a_chart_is_one_that_the_style_sheet_translates() {
    let page = parsed(&SAMPLE.page);
    let style = text(all(&page, "style").next().unwrap());
    let mut seen = std::collections::BTreeSet::new();
    for node in all(&page, "svg").flat_map(|image| image.descendants()) {
        for key in ["fill", "stroke"] {
            seen.extend(node.attribute(key).filter(|c| *c != "none").map(|c| format!("svg [{key}=\"{c}\"]")));
        }
    }
    assert!(seen.len() > 5);
    for colour in seen {
        assert!(style.contains(&colour), "{colour}");
    }
}

#[test]
fn without_history_profiles_or_a_second_target_the_page_says_so() {
    let folder = tempfile::tempdir().unwrap();
    sample::write(folder.path()).unwrap();
    let (mut header, cells) = Journal::read(folder.path()).unwrap();
    header.targets.truncate(1);
    let page = report::html(&header, &report::rows(&header, &cells), &Extras::default());
    links_lead_somewhere(&parsed(&page));
    for sentence in ["No ledger was given", "No profiles were taken", "Only one server was measured"] {
        assert!(page.contains(sentence), "{sentence}");
    }
    assert!(report::profiles(Path::new("/nonexistent")).unwrap().is_empty());
}

#[test]
fn all_reports_are_written_beside_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    sample::write(folder.path()).unwrap();
    let written = report::write(folder.path(), None).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("report.md"), written.markdown);
    assert!(read("report.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(read("results.tsv").lines().count(), 1 + written.rows.len() * targets().len());
}
