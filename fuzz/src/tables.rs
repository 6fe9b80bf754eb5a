//! The tables that statements under test find: every type, every kind of index, NULLs, values off the page.

use crate::mounted::Mounted;

/// Definitions and rows, one statement each. Names are short, so that chance finds them.
const STATEMENTS: [&str; 13] = [
    "CREATE DATABASE f",
    "CREATE TABLE f.t (a INT PRIMARY KEY, b INT, c VARCHAR(20), KEY b (b), KEY c (c))",
    "CREATE TABLE f.u (a INT, b BIGINT UNSIGNED, c CHAR(10), d DECIMAL(20,4), UNIQUE KEY b (b), KEY ac (a, c))",
    "CREATE TABLE f.e (a INT PRIMARY KEY AUTO_INCREMENT, b INT NOT NULL DEFAULT 7)",
    "CREATE TABLE f.w (a BIGINT UNSIGNED PRIMARY KEY, ti TINYINT, si SMALLINT UNSIGNED, mi MEDIUMINT, f FLOAT, \
     d DOUBLE, de DECIMAL(30,10), bi BIT(13), y YEAR, da DATE, ti6 TIME(6), dt DATETIME(3), ts TIMESTAMP(6) NULL, \
     ch CHAR(5) CHARACTER SET latin1, vc VARCHAR(50) COLLATE utf8mb4_bin, bn BINARY(4), vb VARBINARY(30), tx TEXT, \
     bl BLOB, en ENUM('x','y','z'), st SET('p','q','r'), KEY da (da), KEY de (de), KEY vc (vc(10)), KEY tx (tx(5)))",
    "INSERT INTO f.t VALUES (1,10,'one'),(2,20,'two'),(3,NULL,'three'),(4,20,NULL),(5,-5,''),(6,0,'One')",
    "INSERT INTO f.u VALUES (1,18446744073709551615,'x',1.5),(1,0,'y',-0.0001),(2,7,NULL,NULL),(NULL,8,'x ',9999)",
    "INSERT INTO f.w VALUES (1,-1,65535,-8388608,1.5,-2.5e300,12345678901234567890.0123456789,b'1010101010101',1999,\
     '2024-02-29','-838:59:59','9999-12-31 23:59:59.999','2001-01-01 00:00:01','abc','déf',x'00ff',x'00',\
     REPEAT('text ',9000),REPEAT('blob',5000),'y','p,r')",
    "INSERT INTO f.w (a) VALUES (18446744073709551615)",
    "INSERT INTO f.w (a, ti, vc, tx, en, st, da) VALUES (2,127,'','','x','','1000-01-01'),(3,0,'ß','a','z','q',NULL)",
    "INSERT INTO f.t SELECT a + 100, b, REPEAT(c, 4) FROM f.t",
    "UPDATE f.t SET b = b + 1 WHERE a > 100",
    "DELETE FROM f.t WHERE a = 106",
];

/// Makes the tables.
///
/// # Panics
/// When a statement fails.
pub(crate) fn fill(mounted: &Mounted) {
    for statement in STATEMENTS {
        let answer = mounted.prepare(statement);
        for packet in answer.packets() {
            let message = String::from_utf8_lossy(packet.get(9..).unwrap_or_default());
            assert!(packet.first() != Some(&0xff), "{statement}: {message}");
        }
    }
}
