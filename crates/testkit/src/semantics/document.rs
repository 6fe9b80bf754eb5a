//! The document: prose with a pair of markers around each table.

use super::table::Table;

const BEGIN: &str = "<!-- table ";
const BEGIN_END: &str = " -->\n";
const END: &str = "<!-- end -->";

/// A stretch of the document.
enum Part<'t> {
    Prose(&'t str),
    Table { name: &'t str, body: &'t str },
}

/// Splits the document at its markers.
fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((prose, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(BEGIN_END).ok_or("a marker has no end")?;
        let (body, after) = after.split_once(END).ok_or_else(|| format!("table {name} has no end"))?;
        parts.push(Part::Prose(prose));
        parts.push(Part::Table { name, body });
        rest = after;
    }
    parts.push(Part::Prose(rest));
    Ok(parts)
}

/// Returns the document with `tables` between its markers.
///
/// # Errors
/// A marker has no table, or a table has not exactly one pair of markers.
pub fn render(text: &str, tables: &[Table]) -> Result<String, String> {
    let (mut out, mut shown) = (String::new(), Vec::new());
    for part in parts(text)? {
        match part {
            Part::Prose(prose) => out.push_str(prose),
            Part::Table { name, .. } => {
                let table = tables.iter().find(|table| table.name == name);
                let table = table.ok_or_else(|| format!("table {name} is not recorded"))?;
                shown.push(name);
                out.push_str(&format!("{BEGIN}{name}{BEGIN_END}{}{END}", table.to_markdown()));
            }
        }
    }
    let count = |table: &Table| shown.iter().filter(|name| **name == table.name).count();
    match tables.iter().find(|table| count(table) != 1) {
        Some(table) => Err(format!("table {} stands {} times in the document", table.name, count(table))),
        None => Ok(out),
    }
}

/// Returns the tables that are in the document.
///
/// # Errors
/// A marker has no end, or a row has another width than its table.
pub fn read_tables(text: &str) -> Result<Vec<Table>, String> {
    let tables = parts(text)?.into_iter().filter_map(|part| match part {
        Part::Prose(_) => None,
        Part::Table { name, body } => Some(Table::parse(name, body)),
    });
    tables.collect()
}

/// Returns how the tables of the document differ from those that were `answered`, one message for each
/// difference.
pub fn differences(document: &[Table], answered: &[Table]) -> Vec<String> {
    let mut found: Vec<String> = document
        .iter()
        .filter(|table| answered.iter().all(|other| other.name != table.name))
        .map(|table| format!("table {} has no answers", table.name))
        .collect();
    for table in answered {
        match document.iter().find(|other| other.name == table.name) {
            None => found.push(format!("table {} is missing", table.name)),
            Some(stated) if stated.rows.is_empty() => found.push(format!("table {} is empty", table.name)),
            Some(stated) => compare(stated, table, &mut found),
        }
    }
    found
}

fn compare(stated: &Table, answered: &Table, found: &mut Vec<String>) {
    let name = &stated.name;
    if (&stated.cell, &stated.head) != (&answered.cell, &answered.head) {
        found
            .push(format!("table {name} has another head: {:?} instead of {:?}", stated.head, answered.head));
        return;
    }
    if stated.rows.len() > answered.rows.len() {
        found.push(format!("table {name} has {} rows too many", stated.rows.len() - answered.rows.len()));
    }
    for (at, wanted) in answered.rows.iter().enumerate() {
        let Some(row) = stated.rows.get(at).filter(|row| row[0] == wanted[0]) else {
            found.push(format!("table {name}: row {:?} is not covered", wanted[0]));
            continue;
        };
        for ((title, cell), answer) in stated.head.iter().zip(row).zip(wanted) {
            if cell != answer {
                found.push(format!(
                    "table {name}, {}, {title}: {cell:?} is stated, {answer:?} answered",
                    row[0]
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[[&str; 2]]) -> Table {
        Table {
            name: "sum".to_owned(),
            cell: "a + b".to_owned(),
            head: vec!["a".to_owned(), "INT".to_owned()],
            rows: rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect(),
        }
    }

    const EMPTY: &str = "Rule.\n\n<!-- table sum -->\n<!-- end -->\nMore.\n";

    #[test]
    fn a_rendered_document_has_the_tables_and_keeps_its_prose() {
        let tables = [table(&[["INT", "2"]])];
        let text = render(EMPTY, &tables).unwrap();
        assert!(text.starts_with("Rule.\n\n<!-- table sum -->\nEach cell is `a + b`.\n"));
        assert!(text.ends_with("<!-- end -->\nMore.\n"));
        assert_eq!(render(&text, &tables).unwrap(), text);
        assert_eq!(read_tables(&text).unwrap(), tables);
        assert!(render(EMPTY, &[]).is_err() && render("Rule.\n", &tables).is_err());
    }

    #[test]
    fn whatever_a_document_lacks_is_a_difference() {
        let answered = [table(&[["INT", "2"], ["NULL", "NULL"]])];
        let of = |document: &[Table]| differences(document, &answered);
        assert_eq!(of(&answered), [""; 0]);
        assert_eq!(of(&[]), ["table sum is missing"]);
        assert_eq!(of(&[table(&[])]), ["table sum is empty"]);
        assert_eq!(of(&[table(&[["INT", "2"]])]), ["table sum: row \"NULL\" is not covered"]);
        let wrong = of(&[table(&[["INT", "3"], ["NULL", "NULL"]])]);
        assert_eq!(wrong, ["table sum, INT, INT: \"3\" is stated, \"2\" answered"]);
        assert_eq!(differences(&answered, &[]), ["table sum has no answers"]);
    }
}
