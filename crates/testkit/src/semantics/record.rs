//! From recorded answers to tables.

use std::collections::HashMap;

use super::operand::{OPERANDS, is_text, label, sql_type, without_braces};
use super::table::Table;
use crate::script::Entry;

/// The connection whose sql_mode is empty.
const LAX: &str = "lax";

/// Returns the tables that the comments of `entries` name.
///
/// # Errors
/// A cell has no answer, or a statement does not have the form that [`super`] describes.
pub fn tables_of(entries: &[Entry]) -> Result<Vec<Table>, String> {
    let mut drafts = Vec::<Draft>::new();
    for entry in entries {
        for comment in &entry.comments {
            direct(comment.trim_start_matches('#').trim(), &mut drafts)?;
        }
        if let Some(draft) = drafts.last_mut() {
            draft.take(entry).map_err(|e| format!("line {}: {e}", entry.line))?;
        }
    }
    drafts.iter().map(Draft::finish).collect()
}

/// Applies a comment to the drafts. Those before the first table say what the script is about.
fn direct(comment: &str, drafts: &mut Vec<Draft>) -> Result<(), String> {
    if let Some(name) = comment.strip_prefix("table: ") {
        drafts.push(Draft { name: name.to_owned(), ..Draft::default() });
        return Ok(());
    }
    let Some(draft) = drafts.last_mut() else { return Ok(()) };
    match comment.split_once(": ") {
        Some(("cell", template)) => draft.shape = Shape::Grid(template.to_owned()),
        Some(("columns", columns)) => draft.columns = columns.split(" | ").map(str::to_owned).collect(),
        Some(("list", "expressions")) => draft.shape = Shape::Expressions,
        Some(("list", "assignments")) => draft.shape = Shape::Assignments,
        None if comment == "without types" => draft.is_untyped = true,
        _ => return Err(format!("{comment:?} directs no table")),
    }
    Ok(())
}

/// How a table is made of the answers.
#[derive(Default)]
enum Shape {
    #[default]
    Expressions,
    Assignments,
    /// The template of its cells.
    Grid(String),
}

/// A table in the making.
#[derive(Default)]
struct Draft {
    name: String,
    shape: Shape,
    columns: Vec<String>,
    is_untyped: bool,
    /// What was asked, in order.
    questions: Vec<String>,
    answers: HashMap<String, Answer>,
}

/// The answer to one expression or statement.
#[derive(Default)]
struct Answer {
    /// Value and type, `ok`, or the number of the error.
    text: String,
    /// Numbers of the warnings, and texts of warnings or of the error.
    notes: Vec<(String, String)>,
}

impl Draft {
    fn take(&mut self, entry: &Entry) -> Result<(), String> {
        let (lines, notes) = split_notes(&entry.expected);
        let first = lines.first().ok_or("the statement is not recorded")?;
        if entry.sql.starts_with("SELECT ") && entry.connection == LAX {
            return self.store(lines);
        }
        let question = match expression_of(&entry.sql) {
            Some(expression) => expression.to_owned(),
            None if entry.connection.is_empty() => entry.sql.clone(),
            None => format!("[{}] {}", entry.connection, entry.sql),
        };
        if let Some((number, text)) = first.strip_prefix("error ").and_then(|e| e.split_once(" (")) {
            let text = text.split_once("): ").map_or(text, |(_, text)| text);
            let notes = vec![(String::new(), text.to_owned())];
            return self.add(question, Answer { text: format!("error {number}"), notes });
        }
        if first.starts_with("ok ") {
            return self.add(question, Answer { text: "ok".to_owned(), notes });
        }
        let names: Vec<&str> = first.split('\t').collect();
        let values: Vec<Option<&str>> = match lines {
            [_] => vec![None; names.len()],
            [_, row] => row.split('\t').map(Some).collect(),
            _ => return Err(format!("{:?} has several rows", entry.sql)),
        };
        let is_alone = names.len() == 1;
        if names.len() != values.len() || !is_alone && !notes.is_empty() {
            return Err(format!("{:?} warns of one of several expressions", entry.sql));
        }
        for (name, value) in names.into_iter().zip(values) {
            let (name, kind) = name.rsplit_once(':').ok_or("a column has no type")?;
            // The name of a literal lacks its quotes.
            let expression = if is_alone { question.clone() } else { name.to_owned() };
            self.add(expression, Answer { text: self.shown(value, kind), notes: notes.clone() })?;
        }
        Ok(())
    }

    /// Enters the value that the statement before has stored.
    fn store(&mut self, lines: &[String]) -> Result<(), String> {
        let [head, row] = lines else { return Err("a stored value is one row".to_owned()) };
        let kind = head.rsplit_once(':').map_or("", |(_, kind)| kind);
        let value = shown_value(row, sql_type(kind));
        let last = self.questions.last().and_then(|question| self.answers.get_mut(question));
        let answer = last.ok_or("no statement stores the value")?;
        if answer.text == "ok" {
            answer.text = value;
        }
        Ok(())
    }

    fn add(&mut self, question: String, answer: Answer) -> Result<(), String> {
        if self.answers.insert(question.clone(), answer).is_some() {
            return Err(format!("{question:?} is asked twice"));
        }
        self.questions.push(question);
        Ok(())
    }

    /// Returns a value and its type as the document shows them, the type alone where there is no row.
    fn shown(&self, value: Option<&str>, kind: &str) -> String {
        let kind = sql_type(kind);
        let Some(value) = value else { return kind.to_owned() };
        let value = shown_value(value, kind);
        if self.is_untyped { value } else { format!("{value} {kind}") }
    }

    fn finish(&self) -> Result<Table, String> {
        let mut table = Table { name: self.name.clone(), ..Table::default() };
        match &self.shape {
            Shape::Grid(template) => self.grid(template, &mut table)?,
            Shape::Expressions => self.expressions(&mut table),
            Shape::Assignments => self.assignments(&mut table)?,
        }
        if table.rows.is_empty() { Err(format!("table {} is empty", self.name)) } else { Ok(table) }
    }

    fn grid(&self, template: &str, table: &mut Table) -> Result<(), String> {
        let all: Vec<String> = OPERANDS.iter().map(|(name, _)| (*name).to_owned()).collect();
        let columns = if self.columns.is_empty() { &all } else { &self.columns };
        // A grid of different expressions names them in its head.
        if template != "{b}" {
            table.cell = without_braces(template);
        }
        table.head = std::iter::once("a".to_owned()).chain(columns.iter().map(|c| label(c))).collect();
        for row in &all {
            let mut cells = vec![label(row)];
            for column in columns {
                let question = template.replace("{b}", column).replace("{a}", row);
                cells.push(self.answer(&question)?.in_grid());
            }
            table.rows.push(cells);
        }
        let cells = table.rows.len() * columns.len();
        if cells == self.questions.len() {
            Ok(())
        } else {
            Err(format!("table {} has {cells} cells for {} answers", self.name, self.questions.len()))
        }
    }

    fn expressions(&self, table: &mut Table) {
        let mut head = vec!["expression", "answer", "error or warnings"];
        if self.answers.values().all(|answer| answer.notes.is_empty()) {
            head.pop();
        }
        table.head = head.into_iter().map(str::to_owned).collect();
        for question in &self.questions {
            let answer = &self.answers[question];
            let mut row = vec![format!("`{question}`"), answer.text.clone(), answer.texts()];
            row.truncate(table.head.len());
            table.rows.push(row);
        }
    }

    fn assignments(&self, table: &mut Table) -> Result<(), String> {
        table.head = ["column", "value", "strict", "lax", "error", "warnings"].map(str::to_owned).to_vec();
        for question in self.questions.iter().filter(|question| !question.starts_with('[')) {
            let parts =
                question.strip_prefix("REPLACE INTO one (id, ").and_then(|rest| rest.split_once(") "));
            let (column, value) = parts.ok_or_else(|| format!("{question:?} stores no value"))?;
            let value = value.strip_prefix("VALUES (1, ").and_then(|rest| rest.strip_suffix(')'));
            let value = value.ok_or_else(|| format!("{question:?} stores no value"))?;
            let (strict, lax) = (self.answer(question)?, self.answer(&format!("[{LAX}] {question}"))?);
            let (answers, notes) = ([&strict.text, &lax.text], [strict.texts(), lax.texts()]);
            let cells = [label(column), format!("`{value}`")];
            table.rows.push(cells.into_iter().chain(answers.map(String::clone)).chain(notes).collect());
        }
        Ok(())
    }

    fn answer(&self, question: &str) -> Result<&Answer, String> {
        self.answers.get(question).ok_or_else(|| format!("table {} has no answer to {question:?}", self.name))
    }
}

impl Answer {
    /// Returns the answer with the numbers of its warnings, each once.
    fn in_grid(&self) -> String {
        let mut numbers: Vec<&str> = Vec::new();
        for (number, _) in self.notes.iter().filter(|(number, _)| !number.is_empty()) {
            if !numbers.contains(&number.as_str()) {
                numbers.push(number);
            }
        }
        if numbers.is_empty() { self.text.clone() } else { format!("{} ({})", self.text, numbers.join(", ")) }
    }

    /// Returns the texts of its warnings, or of its error.
    fn texts(&self) -> String {
        let texts = self.notes.iter().map(|(number, text)| format!("{number} {text}").trim().to_owned());
        texts.collect::<Vec<_>>().join("; ")
    }
}

/// Splits the lines of an answer from those of its warnings, which become numbers and texts.
fn split_notes(lines: &[String]) -> (&[String], Vec<(String, String)>) {
    let note = |line: &String| {
        let rest = ["warning ", "note ", "error "].iter().find_map(|level| line.strip_prefix(level))?;
        let (number, text) = rest.split_once(": ")?;
        number.parse::<u16>().ok()?;
        Some((number.to_owned(), text.to_owned()))
    };
    let notes: Vec<_> = lines.iter().skip(1).filter_map(note).collect();
    (&lines[..lines.len() - notes.len()], notes)
}

/// Returns the select list of a query of no table, or of a sample table.
fn expression_of(sql: &str) -> Option<&str> {
    const SOURCES: [&str; 4] = [" FROM v", " FROM w", " FROM g", " FROM v WHERE id = 0"];
    let list = sql.strip_prefix("SELECT ")?;
    Some(SOURCES.iter().find_map(|from| list.strip_suffix(from)).unwrap_or(list))
}

/// Returns `value` of the SQL type `kind` as the document shows it. Scripts show an empty text as `''`.
fn shown_value(value: &str, kind: &str) -> String {
    if value == "NULL" || value == "''" || value.starts_with("0x") || !is_text(kind) {
        return value.to_owned();
    }
    format!("'{value}'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;

    fn tables(text: &str) -> Result<Vec<Table>, String> {
        tables_of(&script::parse(text).unwrap())
    }

    #[test]
    fn a_list_has_a_row_for_each_expression() {
        let text = "SET x = 1\n----\nok 0 rows\n\n# table: t\n# list: expressions\nSELECT 1, 2 FROM v\n----\n\
                    1:LONGLONG\t2:LONGLONG\n1\t2\n\nSELECT 'a'\n----\na:VAR_STRING\na\n\nSELECT 1 / 0\n----\n1 / 0:NEWDECIMAL\nNULL\n\
                    warning 1365: Division by 0\n";
        let [table] = &tables(text).unwrap()[..] else { panic!("one table") };
        let rows: Vec<String> = table.rows.iter().map(|row| row.join(" ")).collect();
        let warned = "`1 / 0` NULL DECIMAL 1365 Division by 0";
        assert_eq!(rows, ["`1` 1 BIGINT ", "`2` 2 BIGINT ", "`'a'` 'a' VARCHAR ", warned]);
    }

    #[test]
    fn an_assignment_has_both_modes() {
        let text = "# table: t\n# list: assignments\nREPLACE INTO one (id, i) VALUES (1, 'x')\n----\n\
                    error 1366 (HY000): Bad\n\n[lax] REPLACE INTO one (id, i) VALUES (1, 'x')\n----\nok 1 rows\n\
                    warning 1366: Bad\n\n[lax] SELECT i FROM one\n----\ni:LONG\n0\n";
        let [table] = &tables(text).unwrap()[..] else { panic!("one table") };
        assert_eq!(table.rows, [["INT", "`'x'`", "error 1366", "0", "Bad", "1366 Bad"]]);
    }

    #[test]
    fn a_grid_without_an_answer_to_a_cell_is_refused() {
        let text = "# table: t\n# cell: {a} + {b}\nSELECT i + i FROM v\n----\ni + i:LONGLONG\n2\n";
        assert_eq!(tables(text).unwrap_err(), "table t has no answer to \"i + u\"");
    }

    #[test]
    fn warnings_of_several_expressions_are_refused() {
        let text =
            "# table: t\n# list: expressions\nSELECT 1, 2\n----\n1:LONG\t2:LONG\n1\t2\nwarning 1292: x\n";
        assert!(tables(text).unwrap_err().contains("one of several"));
    }
}
