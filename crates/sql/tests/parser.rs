//! Parser and cache key over a corpus of statements: what is accepted, how it binds, what errors say, and
//! that no input at all makes them panic.

use bumpalo::Bump;
use sql::ast::*;
use sql::{CacheKey, LexMode, LiteralKind, ParseErrorKind, Parsed, parse, parse_numbered};

const CORPUS: [(&str, &str); 5] = [
    ("queries", include_str!("corpus/queries.sql")),
    ("writes", include_str!("corpus/writes.sql")),
    ("definitions", include_str!("corpus/definitions.sql")),
    ("administration", include_str!("corpus/administration.sql")),
    ("clients", include_str!("corpus/clients.sql")),
];

fn corpus() -> impl Iterator<Item = &'static str> {
    CORPUS.iter().flat_map(|(_, text)| text.lines()).filter(|line| !line.trim().is_empty())
}

#[test]
fn every_statement_of_the_corpus_parses() {
    let mut failures = Vec::new();
    for text in corpus() {
        let arena = Bump::new();
        let (mut start, mut more) = (0, true);
        while more {
            more = false;
            match parse(text.as_bytes(), start, LexMode::NONE, &arena) {
                Ok(parsed) => (start, more) = (parsed.end, parsed.more),
                // A text that is nothing but comments for other servers.
                Err(error) if error.kind == ParseErrorKind::Empty => start = text.len(),
                Err(error) => failures.push(format!("{text}\n  {error}")),
            }
        }
        assert!(start == text.len() || !failures.is_empty(), "{text}");
    }
    assert!(corpus().count() >= 500, "the corpus shrank");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn key_and_tree_number_the_same_literals() {
    let mut key = CacheKey::new();
    let mut cached = 0;
    for text in corpus() {
        let arena = Bump::new();
        if !key.read(text.as_bytes(), 0, LexMode::NONE) {
            continue;
        }
        let parsed = parse_numbered(text.as_bytes(), 0, LexMode::NONE, &arena, Some(&key), usize::MAX);
        let Ok(parsed) = parsed else { panic!("{text}") };
        let known_gap = text.contains("OUTFILE") || text.contains("DUMPFILE") || text.contains("JSON_TABLE(");
        assert!(parsed.numbered || known_gap, "{text}\n{:?}", key.literals());
        assert_eq!(parsed.params, key.params(), "{text}");
        assert_eq!(parsed.end, key.end(), "{text}");
        cached += 1;
    }
    assert!(cached > 150, "{cached}");
}

#[test]
fn keys_ignore_values_and_keep_what_decides_plans() {
    let key = |text: &str| {
        let mut key = CacheKey::new();
        assert!(key.read(text.as_bytes(), 0, LexMode::NONE), "{text}");
        (key.bytes().to_vec(), key.hash())
    };
    let same = [
        ("SELECT c FROM t WHERE id=1", "SELECT c  from t where id = 22 -- x"),
        ("INSERT INTO t VALUES (1,'a')", "INSERT INTO t VALUES (2 , 'bb\\'')"),
        ("INSERT INTO t VALUES (1,'a'),(2,'b')", "INSERT INTO t VALUES( 1 ,'a' ) , (2,/**/'b')"),
        ("INSERT INTO t VALUES (1,NULL,2), (3,NULL,4)", "INSERT INTO t VALUES (1 ,NULL, 2)\n,\n(3,null,4 )"),
        (
            "INSERT INTO t VALUES (f(1,2),3) ON DUPLICATE KEY UPDATE a=1",
            "INSERT INTO t VALUES (f(4 ,5 ),6 ) ON DUPLICATE KEY UPDATE a=7",
        ),
        ("UPDATE t SET a=1.5 WHERE b=0x11", "UPDATE t SET a=2.25 WHERE b=0x2233"),
        (
            "SELECT EXISTS(SELECT 1 FROM t WHERE id=5) AS e",
            "SELECT exists( SELECT 1 FROM t WHERE id = 66 ) as e",
        ),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5)", "SELECT EXISTS(SELECT 1 FROM t WHERE id=66)"),
        (
            "SELECT a+1, (SELECT b FROM t WHERE c IN (1,2) LIMIT 1) AS `b`, 'x' FROM u WHERE d=3",
            "SELECT a+1, (SELECT b FROM t WHERE c IN (7,8) LIMIT 1) AS `b`, 'x' FROM u WHERE d=4",
        ),
        (
            "SELECT /*+ A() */ (SELECT (SELECT 1 FROM t WHERE a=1) AS x FROM t WHERE b='y') AS z",
            "SELECT /*+ A() */ (SELECT (SELECT 1 FROM t WHERE a=1) AS x FROM t WHERE b='yy') AS z",
        ),
    ];
    for (a, b) in same {
        assert_eq!(key(a), key(b), "{a} / {b}");
    }
    let different = [
        ("SELECT c FROM t WHERE id=1", "SELECT c FROM t WHERE id='1'"),
        ("SELECT c FROM t WHERE id=1", "SELECT c FROM t WHERE id=-1"),
        ("SELECT c FROM t WHERE id=1", "SELECT C FROM t WHERE id=1"),
        ("SELECT 1 FROM t", "SELECT 2 FROM t"),
        ("SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2"),
        ("SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 2"),
        ("SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (1,2)"),
        ("SELECT a FROM t WHERE b = NULL", "SELECT a FROM t WHERE b = 1"),
        ("SELECT a FROM t WHERE CAST(b AS CHAR(1)) = 'x'", "SELECT a FROM t WHERE CAST(b AS CHAR(2)) = 'x'"),
        ("SELECT a FROM t WHERE a = _latin1'x'", "SELECT a FROM t WHERE a = _utf8mb4'x'"),
        ("SELECT /*+ A() */ a FROM t", "SELECT /*+ B() */ a FROM t"),
        ("SELECT a FROM t WHERE b=1", "SELECT a FROM `t` WHERE b=1"),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5)", "SELECT EXISTS(SELECT 1 FROM t WHERE id= 5)"),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5)", "SELECT EXISTS(SELECT 1 FROM t WHERE id='5')"),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5)", "SELECT exists(SELECT 1 FROM t WHERE id=5)"),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5)+1", "SELECT EXISTS(SELECT 1 FROM t WHERE id=5)+2"),
        (
            "SELECT a FROM (SELECT EXISTS(SELECT 1 FROM t WHERE id=5)) d",
            "SELECT a FROM (SELECT EXISTS(SELECT 1 FROM t WHERE id=6)) d",
        ),
        ("SELECT EXISTS(SELECT 1 FROM t WHERE id=5) AS e", "SELECT EXISTS(SELECT 1 FROM t WHERE id=5) AS f"),
        (
            "SELECT EXISTS(SELECT 1 FROM t WHERE id=5)+1 AS e",
            "SELECT EXISTS(SELECT 1 FROM t WHERE id=5)+2 AS e",
        ),
        ("SELECT a+1, EXISTS(SELECT 1) AS e", "SELECT a +1, EXISTS(SELECT 1) AS e"),
        ("SELECT (SELECT 1 FROM t) AS e", "SELECT (SELECT 2 FROM t) AS e"),
        ("SELECT (SELECT a FROM t LIMIT 1) AS e", "SELECT (SELECT a FROM t LIMIT 2) AS e"),
        ("SELECT /*+ A() */ EXISTS(SELECT 1) AS e", "SELECT /*+ B() */ EXISTS(SELECT 1) AS e"),
        (
            "SELECT (SELECT 1) + EXTRACT(YEAR FROM '2020-01-01') AS e",
            "SELECT (SELECT 1) + EXTRACT(YEAR FROM '2021-01-01') AS e",
        ),
    ];
    for (a, b) in different {
        assert_ne!(key(a).0, key(b).0, "{a} / {b}");
    }
    let mut buffer = CacheKey::new();
    let repeated = "SELECT (SELECT a FROM t WHERE b=1) AS e FROM u GROUP BY (SELECT a FROM t WHERE b=1)";
    for text in ["SET a = 1", "SHOW TABLES", "CREATE TABLE t (a INT)", "BEGIN", "", "SELECT 'a", repeated] {
        assert!(!buffer.read(text.as_bytes(), 0, LexMode::NONE), "{text}");
    }
}

#[test]
fn syntax_errors_name_the_token_and_its_line() {
    let cases = [
        ("SELEC 1", "SELEC 1", 1),
        ("SELECT 1 FROM", "", 1),
        ("SELECT\n  a,\n  FROM t", "FROM t", 3),
        ("SELECT 1 1", "1", 1),
        ("SELECT 'abc", "'abc", 1),
        ("INSERT INTO t VALUES (1,)", ")", 1),
        ("CREATE TABLE t (a FOO)", "FOO)", 1),
        ("SELECT * FROM t WHERE a LIKE 'x' LIKE 'y'", "LIKE 'y'", 1),
        ("UPDATE t SET", "", 1),
        ("SELECT a FROM select", "select", 1),
        ("SELECT 1 /* open", "/* open", 1),
        ("SELECT 1 IS TRUE = 1", "= 1", 1),
        ("SELECT NOT 1 IS UNKNOWN IS NULL", "IS NULL", 1),
        ("SELECT 2 > 1 IS TRUE > 0", "> 0", 1),
        ("SELECT 'a' AS 'b' 'c'", "'c'", 1),
        ("SELECT GROUP_CONCAT(b SEPARATOR ',' /* x */ ';') FROM t", "';') FROM t", 1),
        ("CREATE TABLE t (a INT COMMENT 'a' 'b')", "'b')", 1),
        ("SELECT @@ version", " version", 1),
    ];
    for (text, near, line) in cases {
        let arena = Bump::new();
        let error = parse(text.as_bytes(), 0, LexMode::NONE, &arena).unwrap_err();
        assert_eq!((error.near.as_str(), error.line), (near, line), "{text}");
        assert_eq!(
            error.to_string(),
            format!(
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server \
                 version for the right syntax to use near '{near}' at line {line}"
            )
        );
    }
    let arena = Bump::new();
    for text in ["", " ;; ", "-- x", "/*!99999 SELECT 1 */"] {
        assert_eq!(parse(text.as_bytes(), 0, LexMode::NONE, &arena).unwrap_err().kind, ParseErrorKind::Empty);
    }
}

#[test]
fn statements_of_one_packet_are_told_apart() {
    let text = b"SELECT 1; ; SELECT ';' ;\n-- end\n";
    let arena = Bump::new();
    let first = parse(text, 0, LexMode::NONE, &arena).unwrap();
    assert!(first.more);
    let second = parse(text, first.end, LexMode::NONE, &arena).unwrap();
    assert!(!second.more);
    assert_eq!(&text[..second.end], b"SELECT 1; ; SELECT ';' ;");
}

/// Runs `work` on a stack that holds the greatest nesting in a debug build.
fn on_a_large_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(work).expect("a thread starts");
    thread.join().expect("the work fails no assertion");
}

fn refusal(text: &str) -> Option<ParseErrorKind> {
    let arena = Bump::new();
    parse(text.as_bytes(), 0, LexMode::NONE, &arena).err().map(|error| error.kind)
}

#[test]
fn nesting_is_bounded() {
    on_a_large_stack(|| {
        for (open, close) in [("(", ")"), ("-", ""), ("NOT ", ""), ("!", ""), ("f(", ")"), ("CASE WHEN ", "")]
        {
            let text = format!("SELECT {}1{}", open.repeat(10_000), close.repeat(10_000));
            assert_eq!(refusal(&text), Some(ParseErrorKind::TooDeep), "{open}");
        }
        let selects = |levels: usize| format!("SELECT {}1{}", "(SELECT ".repeat(levels), ")".repeat(levels));
        assert_eq!(refusal(&selects(63)), None);
        assert_eq!(refusal(&selects(64)), Some(ParseErrorKind::TooManySelects));
        for tail in ["+1", "||2^1", " COLLATE x", " IS NULL"] {
            let text = format!("SELECT 1{}", tail.repeat(10_000));
            assert!(matches!(refusal(&text), None | Some(ParseErrorKind::TooDeep)));
        }
        let froms = [
            format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000)),
            format!("a{}", " JOIN a".repeat(10_000)),
        ];
        for from in froms {
            assert_eq!(refusal(&format!("SELECT * FROM {from}")), Some(ParseErrorKind::TooDeep));
        }
    });
}

#[test]
fn heights_add_up_through_subqueries_and_derived_tables() {
    on_a_large_stack(|| {
        let chains = |levels: usize, terms: usize| {
            format!(
                "SELECT {}1{}",
                "(SELECT ".repeat(levels),
                format!("{})", "+1".repeat(terms)).repeat(levels)
            )
        };
        assert_eq!(refusal(&chains(5, 300)), None);
        assert_eq!(refusal(&chains(5, 990)), Some(ParseErrorKind::TooDeep));
        let from = |terms: usize| format!("SELECT a{0} FROM (SELECT 1{0} a) d", "+1".repeat(terms));
        assert_eq!(refusal(&from(900)), None);
        assert_eq!(refusal(&from(1999)), Some(ParseErrorKind::TooDeep));
    });
}

#[test]
fn ordinary_nesting_is_accepted() {
    let text = format!("SELECT {}1{}", "(".repeat(90), ")".repeat(90));
    let arena = Bump::new();
    assert!(parse(text.as_bytes(), 0, LexMode::NONE, &arena).is_ok());
    let text = format!("SELECT 1 FROM t WHERE a = 0{}", " OR a = 1".repeat(20_000));
    assert!(parse(text.as_bytes(), 0, LexMode::NONE, &arena).is_ok());
}

fn try_all(text: &[u8], key: &mut CacheKey, arena: &mut Bump) {
    for mode in [LexMode::NONE, LexMode::ANSI_QUOTES.with(LexMode::NO_BACKSLASH_ESCAPES)] {
        let keyed = key.read(text, 0, mode);
        if let Ok(parsed) = parse_numbered(text, 0, mode, arena, keyed.then_some(&*key), usize::MAX) {
            std::hint::black_box(format!("{:?}", parsed.statement).len());
        }
        arena.reset();
    }
}

#[test]
fn no_prefix_and_no_mutation_panics() {
    let mut prng = base::prng::Prng::new(7);
    let (mut key, mut arena) = (CacheKey::new(), Bump::new());
    let bytes = b"'\"`()*/!-;@.\\,0x9e \n\0\xff?#";
    for text in corpus().filter(|text| text.len() < 1500) {
        let text = text.as_bytes();
        for end in 0..text.len() {
            key.read(&text[..end], 0, LexMode::NONE);
            let _ = parse(&text[..end], 0, LexMode::NONE, &arena);
            arena.reset();
        }
        for _ in 0..30 {
            let mut mutant = text.to_vec();
            for _ in 0..=prng.below(3) {
                let at = prng.below(mutant.len() as u64) as usize;
                match prng.below(3) {
                    0 => mutant[at] = bytes[prng.below(bytes.len() as u64) as usize],
                    1 => mutant[at] = prng.next_u64() as u8,
                    _ => drop(mutant.remove(at)),
                }
                if mutant.is_empty() {
                    break;
                }
            }
            try_all(&mutant, &mut key, &mut arena);
        }
    }
}

#[test]
fn values_lists_are_flat_cells() {
    let arena = Bump::new();
    let text = b"INSERT INTO t VALUES (1, 'a', NULL), (-2, 'b''c', 1 + 1)";
    let Statement::Insert(insert) = parse(text, 0, LexMode::NONE, &arena).unwrap().statement else {
        panic!()
    };
    let InsertSource::Values(list) = insert.source else { panic!() };
    assert_eq!((list.columns, list.rows, list.cells.len(), list.uneven_row), (3, 2, 6, None));
    let Cell::Literal(one, false) = list.cells[0] else { panic!() };
    assert_eq!((one.kind, one.text(text)), (LiteralKind::Int, &b"1"[..]));
    assert!(matches!(list.cells[2], Cell::Null));
    assert!(matches!(list.cells[3], Cell::Literal(_, true)));
    let Cell::Literal(quoted, false) = list.cells[4] else { panic!() };
    assert_eq!(&*quoted.string_value(text, LexMode::NONE), b"b'c");
    assert!(matches!(list.cells[5], Cell::Expr(_)));
    let text = b"INSERT INTO t VALUES (1, 2), (3), (4, 5)";
    let Statement::Insert(insert) = parse(text, 0, LexMode::NONE, &arena).unwrap().statement else {
        panic!()
    };
    let InsertSource::Values(list) = insert.source else { panic!() };
    assert_eq!((list.columns, list.rows, list.cells.len(), list.uneven_row), (2, 3, 2, Some(2)));
}

fn bound(text: &str, mode: LexMode) -> String {
    let arena = Bump::new();
    let sql = format!("DO {text}");
    let Ok(Parsed { statement: Statement::Do([expr]), .. }) = parse(sql.as_bytes(), 0, mode, &arena) else {
        panic!()
    };
    sql::print::expr_to_sql(expr, sql.as_bytes()).replace('`', "")
}

#[test]
fn operators_bind_as_in_mysql() {
    let cases = [
        ("a*b^c", "(a * (b ^ c))"),
        ("a|b^c&d<<2>>1", "(a | ((b ^ c) & ((d << 2) >> 1)))"),
        ("a||b AND c", "(a OR (b AND c))"),
        ("BINARY a = b", "(CAST(a AS BINARY) = b)"),
        ("NOT a = b", "!((a = b))"),
        ("!a = b", "(!(a) = b)"),
        ("a = b = c", "((a = b) = c)"),
        ("a = b IS NULL", "((a = b) IS NULL)"),
        ("NOT a IS NULL", "!((a IS NULL))"),
        ("a OR b XOR c AND d", "(a OR (b XOR (c AND d)))"),
        ("a AND b AND c OR d", "((a AND b AND c) OR d)"),
        ("a BETWEEN 1 AND 2 AND b", "((a BETWEEN 1 AND 2) AND b)"),
        ("a BETWEEN 1 AND b BETWEEN 2 AND 3", "(a BETWEEN 1 AND (b BETWEEN 2 AND 3))"),
        ("a < b LIKE c", "(a < (b LIKE c))"),
        ("a LIKE b = c", "((a LIKE b) = c)"),
        ("a + b LIKE c", "((a + b) LIKE c)"),
        ("-a ^ b", "(-(a) ^ b)"),
        ("-a COLLATE x", "-((a COLLATE x))"),
        ("a - b - c", "((a - b) - c)"),
        ("a DIV b MOD c % d", "(((a DIV b) % c) % d)"),
        ("a IN (1, 2) AND b NOT IN (3)", "((a IN (1, 2)) AND (b NOT IN (3)))"),
        ("@a := b OR c", "(@a := (b OR c))"),
        ("NOT NOT a OR b", "(!(!(a)) OR b)"),
        ("a REGEXP b | c", "(a REGEXP (b | c))"),
    ];
    for (text, expected) in cases {
        assert_eq!(bound(text, LexMode::NONE), expected, "{text}");
    }
    assert_eq!(bound("a || b * c", LexMode::PIPES_AS_CONCAT), "((a || b) * c)");
    assert_eq!(bound("-a || b", LexMode::PIPES_AS_CONCAT), "(-(a) || b)");
    assert_eq!(bound("NOT a = b", LexMode::HIGH_NOT_PRECEDENCE), "(!(a) = b)");
}

#[test]
fn a_row_of_literals_is_the_row_that_its_tokens_are() {
    // Blanks before commas and parentheses have the literals read as tokens.
    for (compact, spaced) in [
        ("(a, b) IN ((1,'x'), (2.5, 'it\\'s'),(3,4))", "(a, b) IN (( 1 , 'x' ), (2.5 ,'it\\'s' ),(3 , 4 ))"),
        ("(1,2) = (a,b)", "(1 ,2 ) = (a,b)"),
        ("(1,2,3,4,5,6,7,8) = (1,2,3,4,5,6,7,8,9)", "(1 ,2,3,4,5,6,7,8) = (1 ,2,3,4,5,6,7,8,9)"),
        ("(1, (2, a)) = ((1), -2)", "(1 , (2 , a)) = ((1 ), -2)"),
    ] {
        assert_eq!(bound(compact, LexMode::NONE), bound(spaced, LexMode::NONE), "{compact}");
    }
    let arena = Bump::new();
    for broken in ["DO (1,", "DO (1,)", "DO (1,2", "DO (,2)", "DO (1,2))"] {
        assert!(parse(broken.as_bytes(), 0, LexMode::NONE, &arena).is_err(), "{broken}");
    }
}

#[test]
fn printed_queries_parse_to_the_same_text() {
    let mut printed = 0;
    for text in corpus() {
        let arena = Bump::new();
        let Ok(parsed) = parse(text.as_bytes(), 0, LexMode::NONE, &arena) else { continue };
        let Statement::Query(query) = parsed.statement else { continue };
        if text.contains("OUTFILE") || text.contains("DUMPFILE") {
            continue;
        }
        let once = sql::print::query_to_sql(query, text.as_bytes());
        let again = match parse(once.as_bytes(), 0, LexMode::NONE, &arena) {
            Ok(Parsed { statement: Statement::Query(query), .. }) => {
                sql::print::query_to_sql(query, once.as_bytes())
            }
            other => panic!("{text}\n{once}\n{other:?}"),
        };
        assert_eq!(once, again, "{text}");
        printed += 1;
    }
    assert!(printed > 100, "{printed}");
}

#[test]
fn a_long_text_ends_where_the_statement_is_to_end() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    let values = format!("INSERT INTO t VALUES {}", vec!["(1, 'a')"; 50_000].join(","));
    let list = format!("SELECT {}", vec!["a + 1"; 50_000].join(","));
    let kind =
        |sql: &str| parse(sql.as_bytes(), 0, LexMode::NONE, &Bump::new()).map(|_| ()).map_err(|e| e.kind);
    base::sync::interrupt::set_flag(Some(Arc::new(AtomicBool::new(true))));
    let ended = [kind(&values), kind(&list), kind("SELECT 1")];
    base::sync::interrupt::set_flag(None);
    assert_eq!(ended, [Err(ParseErrorKind::Interrupted), Err(ParseErrorKind::Interrupted), Ok(())]);
    assert_eq!([kind(&values), kind(&list)], [Ok(()), Ok(())]);
}
