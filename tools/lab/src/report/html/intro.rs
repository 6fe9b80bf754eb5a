//! What a stranger has to know first: who was measured, where and how, and how to read the rest.

use std::fmt::Write;

use super::Report;
use super::text::{escape, number};

/// Names of the sections to go to.
const SECTIONS: [(&str, &str); 9] = [
    ("read", "How to read it"),
    ("summary", "Summary"),
    ("heat", "Heat map"),
    ("rates", "Row by row"),
    ("cpu", "CPU"),
    ("costs", "All figures"),
    ("failures", "Without a number"),
    ("ledger", "Instruction ledger"),
    ("flames", "Flame graphs"),
];

impl Report<'_> {
    pub(super) fn introduce(&self, out: &mut String) {
        let header = self.header;
        let base = escape(&header.targets[0].0);
        let _ = writeln!(
            out,
            "<p>Database servers that speak the MySQL protocol, measured side by side by <code>ratchet lab</code>. <b>{base}</b> is \
             the base: all others are given as multiples of it.</p>"
        );
        let alone = header.targets.len() < 2;
        let sections = SECTIONS.iter().filter(|(id, _)| !(alone && ["heat", "rates"].contains(id)));
        let links: Vec<String> = sections.map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>")).collect();
        let _ = writeln!(out, "<nav>{}</nav>\n<dl>", links.join("\n"));
        self.facts(out);
        out.push_str("</dl>\n");
        out.push_str("<div class=\"pair\">\n<section>\n");
        how_to_read(&base, out);
        out.push_str("</section>\n<section>\n");
        self.how_it_was_measured(out);
        out.push_str("</section>\n</div>\n");
    }

    fn facts(&self, out: &mut String) {
        let header = self.header;
        for (at, (name, version)) in header.targets.iter().enumerate() {
            let role = if at == 0 { "base" } else { "target" };
            let version = if version.is_empty() { "did not answer" } else { version };
            fact(role, &format!("{name}: {version}"), out);
        }
        for (name, words) in &header.settings {
            fact("setting", &format!("{name}: {words}"), out);
        }
        let (tables, rows) = header.data;
        let rows = number(rows as f64);
        fact(
            "data",
            &format!("{tables} {} of {rows} rows", if tables == 1 { "table" } else { "tables" }),
            out,
        );
        let machine = &header.machine;
        let memory = (machine.memory_mib + 512) / 1024;
        fact(
            "machine",
            &format!("{} cores of {}, {memory} GiB of memory", machine.cores, machine.processor),
            out,
        );
        fact("kernel", &format!("Linux {}", machine.kernel), out);
        fact("date", &header.date, out);
    }

    fn how_it_was_measured(&self, out: &mut String) {
        let header = self.header;
        let _ = writeln!(
            out,
            "<h2 id=\"how\">How it was measured</h2>\n<p>A <i>workload</i> is one kind of statement, or one kind of transaction, \
             that sysbench sends over and over from one or more client connections. A <i>row</i> is a workload with a number of \
             clients and, for writes, a setting of the servers. Each row is measured in {} rounds, or fewer where the time was short; in a round \
             each server runs for {} s, one right after the other in random order, while the others are stopped. So a slow minute of the machine meets \
             all of them. Rows that look different are measured again in fresh rounds, and only those decide. All servers have the same \
             tables, and each has to answer the same to the same queries, or it has no number in that row.</p>\n<p>Figures are \
             medians over the rounds. <i>Relative queries a second</i> is a server's rate over the base's in the same round: 1.10 \
             is ten per cent more. Costs (CPU, context switches, bytes) are per query, and taken from the server's process only. \
             Everything measured is in <code>results.jsonl</code> beside this page, a table for programs in \
             <code>results.tsv</code>.</p>",
            header.repetitions, header.seconds,
        );
    }
}

fn how_to_read(base: &str, out: &mut String) {
    let _ = writeln!(
        out,
        "<h2 id=\"read\">How to read it</h2>\n<ul>\n<li><span class=\"key f3\">▲</span> faster than {base}, beyond doubt: of all \
         reports in which nothing differs, at most 5 in 100 name any row.</li>\n<li><span class=\"key s3\">▼</span> slower than \
         {base}, beyond doubt.</li>\n<li><span class=\"key plain\">~</span> no difference shown; a large one would have \
         been, unless the time was over before the row's fresh rounds.</li>\n<li><span class=\"key plain\">?</span> undecided: the rounds are too few or vary too much to say.</li>\n<li>Blue is faster, orange \
         slower, and stronger means more; every colour has its sign and its figure. The interval behind a figure holds the true \
         value in 95 of 100 such rows.</li>\n</ul>"
    );
}

fn fact(name: &str, value: &str, out: &mut String) {
    let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(value));
}
