//! The operands that stand for their types.

/// Column of the sample tables, and the type that a table of the document names for it.
pub(super) const OPERANDS: [(&str, &str); 16] = [
    ("i", "INT"),
    ("u", "BIGINT UNSIGNED"),
    ("d", "DECIMAL"),
    ("f", "FLOAT"),
    ("r", "DOUBLE"),
    ("b", "BIT"),
    ("y", "YEAR"),
    ("da", "DATE"),
    ("ti", "TIME"),
    ("dt", "DATETIME"),
    ("ts", "TIMESTAMP"),
    ("c", "VARCHAR"),
    ("x", "VARBINARY"),
    ("e", "ENUM"),
    ("s", "SET"),
    ("NULL", "NULL"),
];

/// Returns the type that `operand` stands for, or its own text without braces where it is a template.
pub(super) fn label(operand: &str) -> String {
    let known = OPERANDS.iter().find(|(name, _)| *name == operand);
    known.map_or_else(|| without_braces(operand), |(_, label)| (*label).to_owned())
}

/// Returns a template as readers see it.
pub(super) fn without_braces(template: &str) -> String {
    template.replace("{a}", "a").replace("{b}", "b")
}

/// Returns the SQL name of a type that the protocol calls `name`.
pub(super) fn sql_type(name: &str) -> &str {
    match name {
        "TINY" => "TINYINT",
        "SHORT" => "SMALLINT",
        "INT24" => "MEDIUMINT",
        "LONG" => "INT",
        "LONGLONG" => "BIGINT",
        "NEWDECIMAL" => "DECIMAL",
        "VAR_STRING" => "VARCHAR",
        "STRING" => "CHAR",
        other => other,
    }
}

/// Whether values of the SQL type `name` are texts, which the document quotes.
pub(super) fn is_text(name: &str) -> bool {
    matches!(name, "VARCHAR" | "CHAR" | "BLOB" | "ENUM" | "SET")
}
