//! The instruction ledger over time.

use std::fmt::Write;

use crate::ledger::{Entry, History, percent};

use super::canvas::{self, FASTER, LINE, MUTED, Side, WIDTH, width_of};
use super::text::{breakable, escape, number, shortened};

/// Height of a chart.
const HEIGHT: i32 = 96;
/// Its lines of text above and below.
const HEAD: i32 = 22;
const FOOT: i32 = 20;
/// Changes above this are marked, as the ledger's gate does.
const CHANGE: f64 = 1.005;

pub(super) fn section(history: Option<&History>, out: &mut String) {
    out.push_str("<h2 id=\"ledger\">Instruction ledger</h2>\n");
    let Some(history) = history.filter(|history| !history.entries.is_empty()) else {
        out.push_str(
            "<p>No ledger was given. <code>ratchet lab report --history tools/ledger/history.jsonl FOLDER</code> \
             shows what each operation of Ratchet cost in each release.</p>\n",
        );
        return;
    };
    out.push_str(
        "<p>What Ratchet's operations cost the server in user instructions, counted and not timed: the same on every machine and in \
         every run. Each point is a commit that entered new figures, the oldest at the left; at \
         the upper right the newest count and its change since the first, below the first count and the newest commit. Each scale begins at 0.</p>\n<div \
         class=\"charts\">\n",
    );
    for name in history.operations() {
        let counts = history.instructions(name);
        if !counts.is_empty() {
            let label = format!("Instructions of {name} over time");
            let _ = writeln!(out, "<figure>{}</figure>", chart(name, &counts, &label));
        }
    }
    out.push_str("</div>\n");
    table(history, out);
}

fn chart(name: &str, counts: &[(&Entry, f64)], label: &str) -> String {
    let most = counts.iter().map(|c| c.1).fold(1.0, f64::max);
    let (top, bottom) = (HEAD + 6, HEIGHT - FOOT);
    let step = (WIDTH - 12) as f64 / (counts.len().max(2) - 1) as f64;
    let place = |(at, &(_, count)): (usize, &(&Entry, f64))| {
        (6 + (at as f64 * step) as i32, bottom - (count / most * f64::from(bottom - top)).round() as i32)
    };
    let points: Vec<(i32, i32)> = counts.iter().enumerate().map(place).collect();
    let (first, newest) = (counts[0], counts[counts.len() - 1]);
    canvas::draw(HEIGHT, label, |canvas| {
        let figure = format!("{} ({})", number(newest.1), percent(first.1, newest.1));
        canvas.heading(name, &figure, 9);
        canvas.path(vec![(0, bottom), (WIDTH, bottom)], LINE, 1);
        canvas.path(points.clone(), FASTER, 2);
        for point in &points {
            canvas.dot(*point, FASTER);
        }
        let middle = HEIGHT - 9;
        let left = format!("{} {}", first.0.date, number(first.1));
        canvas.label(&left, (0, middle), Side::Left, MUTED);
        if counts.len() > 1 {
            let columns = ((WIDTH - width_of(&left)) / width_of("0")) as usize - 2;
            let right = shortened(&format!("{} {}", newest.0.date, newest.0.label()), columns);
            canvas.label(&right, (WIDTH, middle), Side::Right, MUTED);
        }
    })
}

fn table(history: &History, out: &mut String) {
    out.push_str(
        "<details><summary>Every entry</summary>\n<div class=\"scroll\"><table class=\"pinned\">\n<thead><tr><th>instructions</th>",
    );
    for entry in &history.entries {
        let (label, date) = (escape(entry.label()), escape(&entry.date));
        let subject = escape(entry.subject.as_deref().unwrap_or_default());
        let _ = write!(out, "<th class=\"number\" title=\"{subject}\">{label}<br/>{date}</th>");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for name in history.operations() {
        let _ = write!(out, "<tr><th class=\"name mono\">{}</th>", breakable(name));
        let mut before = None;
        for entry in &history.entries {
            let count = entry.operation(name).and_then(|operation| operation.instructions);
            let mark = match (before, count) {
                (Some(before), Some(now)) if now > before * CHANGE => "▲ ",
                (Some(before), Some(now)) if now * CHANGE < before => "▼ ",
                _ => "",
            };
            let count_text = count.map(number).unwrap_or_default();
            let _ = write!(out, "<td class=\"number\">{mark}{count_text}</td>");
            before = count.or(before);
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div></details>\n");
}
