"""Logs in as the lines on standard input say, by the driver that the first argument names.

A line: name, account, password, socket or -, TLS (no, yes or a version), file of the authority or -, outcome, key or -.
"""

import sys

if sys.argv[1] == "connector-c":
    # The C library brings an OpenSSL of its own, which must be loaded before the system's.
    import _mysql_connector  # noqa: F401

import ssl
from datetime import date, datetime
from decimal import Decimal

ROW = (
    -7,
    "naïve 🦀 中文 o'brien \\",
    -9007199254740993,
    Decimal("12345678901234.567890"),
    0.1,
    date(2024, 2, 29),
    datetime(2024, 2, 29, 23, 59, 59, 123456),
    b"\x00\xff'\\",
    None,
)
CREATE = (
    "CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, exact DECIMAL(20,6),"
    " approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT)"
    " DEFAULT CHARSET utf8mb4"
)


def pymysql_connect(port, account, password, socket, tls, authority):
    import pymysql

    place = {"unix_socket": socket} if socket != "-" else {"host": "127.0.0.1", "port": port}
    security = {"ssl_disabled": True}
    if tls != "no":
        context = ssl.create_default_context(cafile=None if authority == "-" else authority)
        context.check_hostname = False
        if authority == "-":
            context.verify_mode = ssl.CERT_NONE
        if tls != "yes":
            context.minimum_version = context.maximum_version = ssl.TLSVersion["TLSv" + tls.replace(".", "_")]
        security = {"ssl": context}
    return pymysql.connect(user=account, password=password, database="d", **place, **security)


def connector_connect(port, account, password, socket, tls, authority, pure):
    import mysql.connector

    place = {"unix_socket": socket} if socket != "-" else {"host": "127.0.0.1", "port": port}
    security = {"ssl_disabled": tls == "no"}
    if authority != "-":
        security |= {"ssl_ca": authority, "ssl_verify_cert": True}
    if tls not in ("no", "yes"):
        security["tls_versions"] = ["TLSv" + tls]
    return mysql.connector.connect(
        user=account, password=password, database="d", use_pure=pure, **place, **security
    )


DRIVERS = {
    # PyMySQL prepares nothing on the server.
    "pymysql": (pymysql_connect, {}, ROW),
    "connector": (lambda *login: connector_connect(*login, pure=True), {"prepared": True}, ROW),
    # Its C part sends every float in single precision.
    "connector-c": (
        lambda *login: connector_connect(*login, pure=False),
        {"prepared": True},
        (*ROW[:4], 0.125, *ROW[5:]),
    ),
}


def round_trip(connection, account, tls, options, row):
    plain = connection.cursor()
    plain.execute("SELECT CURRENT_USER()")
    expect(text(plain.fetchone()[0]), account + "@%")
    plain.execute("SHOW STATUS LIKE 'Ssl_version'")
    version = text(plain.fetchone()[1])
    expect(version if tls != "yes" else version[:5], {"no": "", "yes": "TLSv1"}.get(tls, "TLSv" + tls))
    plain.execute("DROP TABLE IF EXISTS round_trip")
    plain.execute(CREATE)
    prepared = connection.cursor(**options)
    prepared.execute("INSERT INTO round_trip VALUES (" + ", ".join(["%s"] * len(row)) + ")", row)
    connection.commit()
    prepared.execute("SELECT * FROM round_trip WHERE id = %s AND words = %s", row[:2])
    rows = [tuple(bytes(v) if isinstance(v, bytearray) else v for v in found) for found in prepared.fetchall()]
    expect(rows, [row])
    prepared.close()
    plain.close()


def text(value):
    return value.decode() if isinstance(value, (bytes, bytearray)) else value


def expect(found, wanted):
    if found != wanted:
        raise ValueError(f"{found!r} in place of {wanted!r}")


def outcome(driver, port, account, password, socket, tls, authority):
    """None after a login and a sound round; else the error's number, if it has one, and its text."""
    connect, options, row = DRIVERS[driver]
    try:
        connection = connect(port, account, password, socket, tls, authority)
    except Exception as error:  # every failure is an outcome
        number = getattr(error, "errno", None) or (error.args and error.args[0])
        return number, f"{type(error).__name__}: {error}"
    try:
        round_trip(connection, account, tls, options, row)
    except Exception as error:
        return "round", f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    return None


def main():
    driver, port = sys.argv[1], int(sys.argv[2])
    for line in sys.stdin:
        name, *login, wanted, _key = line.rstrip("\n").split("\t")
        found = outcome(driver, port, *login)
        if wanted == "in":
            right = found is None
        elif wanted == "refused":
            right = found is not None and found[0] != "round"
        else:
            right = found is not None and str(found[0]) == wanted
        print(f"ok {name}" if right else f"wrong {name}: wanted {wanted}, found {found}", flush=True)


main()
