// Logs in by mysql2 as the lines on standard input say.
//
// A line: name, account, password, socket or -, TLS (no, yes or a version), file of the authority or -, outcome, key or -.

import { readFileSync } from "node:fs";
import mysql from "mysql2/promise";

const ROW = [
  -7,
  "naïve 🦀 中文 o'brien \\",
  "-9007199254740993",
  "12345678901234.567890",
  0.1,
  "2024-02-29",
  "2024-02-29 23:59:59.123456",
  Buffer.from([0, 0xff, 0x27, 0x5c]),
  null,
];
const CREATE =
  "CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, exact DECIMAL(20,6)," +
  " approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT)" +
  " DEFAULT CHARSET utf8mb4";

function options(port, account, password, socket, tls, authority) {
  const place = socket === "-" ? { host: "127.0.0.1", port } : { socketPath: socket };
  const security = {};
  if (tls !== "no") {
    security.ssl = authority === "-" ? { rejectUnauthorized: false } : { ca: readFileSync(authority) };
    if (tls !== "yes") security.ssl.minVersion = security.ssl.maxVersion = `TLSv${tls}`;
  }
  const values = { dateStrings: true, supportBigNumbers: true, bigNumberStrings: true };
  return { user: account, password, database: "d", charset: "utf8mb4", ...place, ...security, ...values };
}

function expect(found, wanted) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${a} in place of ${b}`);
}

async function roundTrip(connection, account, tls) {
  const [[user]] = await connection.query({ sql: "SELECT CURRENT_USER()", rowsAsArray: true });
  expect(user[0], `${account}@%`);
  const [[status]] = await connection.query({ sql: "SHOW STATUS LIKE 'Ssl_version'", rowsAsArray: true });
  if (tls === "yes") expect(status[1].slice(0, 5), "TLSv1");
  else expect(status[1], tls === "no" ? "" : `TLSv${tls}`);
  await connection.query("DROP TABLE IF EXISTS round_trip");
  await connection.query(CREATE);
  await connection.execute(`INSERT INTO round_trip VALUES (${ROW.map(() => "?").join(", ")})`, ROW);
  const sql = "SELECT * FROM round_trip WHERE id = ? AND words = ?";
  const [rows] = await connection.execute({ sql, rowsAsArray: true }, ROW.slice(0, 2));
  expect(rows, [ROW]);
}

// Null after a login and a sound round; else the error's number, if it has one, and its text.
async function outcome(port, account, password, socket, tls, authority) {
  let connection;
  try {
    connection = await mysql.createConnection(options(port, account, password, socket, tls, authority));
  } catch (error) {
    return [error.errno, String(error)];
  }
  try {
    await roundTrip(connection, account, tls);
  } catch (error) {
    return ["round", String(error)];
  } finally {
    await connection.end();
  }
  return null;
}

const port = Number(process.argv[2]);
for (const line of readFileSync(0, "utf8").split("\n").filter((line) => line !== "")) {
  const [name, account, password, socket, tls, authority, wanted] = line.split("\t");
  const found = await outcome(port, account, password, socket, tls, authority);
  let right = found === null;
  if (wanted === "refused") right = found !== null && found[0] !== "round";
  else if (wanted !== "in") right = found !== null && String(found[0]) === wanted;
  console.log(right ? `ok ${name}` : `wrong ${name}: wanted ${wanted}, found ${JSON.stringify(found)}`);
}
