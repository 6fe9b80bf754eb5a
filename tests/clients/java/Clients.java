import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Objects;
import java.util.Properties;

/**
 * Logs in by Connector/J as the lines on standard input say.
 *
 * <p>A line: name, account, password, socket or -, TLS (no, yes or a version), file of the authority or -, outcome, key
 * or -.
 */
public final class Clients {
    private static final String CREATE =
            "CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, exact DECIMAL(20,6),"
                    + " approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT)"
                    + " DEFAULT CHARSET utf8mb4";
    private static final Object[] ROW = {
        -7,
        "naïve 🦀 中文 o'brien \\",
        -9007199254740993L,
        new BigDecimal("12345678901234.567890"),
        0.1,
        LocalDate.of(2024, 2, 29),
        LocalDateTime.of(2024, 2, 29, 23, 59, 59, 123456000),
        new byte[] {0, (byte) 0xff, 0x27, 0x5c},
        null,
    };

    private Clients() {}

    private record Login(
            String name, String account, String password, String tls, String authority, String wanted, boolean key) {
        static Login of(String line) {
            String[] f = line.split("\t");
            return new Login(f[0], f[1], f[2], f[4], f[5], f[6], f[7].equals("key"));
        }
    }

    /** The driver takes authorities from a key store. */
    private static Path keyStore(Path pem) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (var in = Files.newInputStream(pem)) {
            store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        Path path = Files.createTempFile("authority", ".p12");
        path.toFile().deleteOnExit();
        try (var out = Files.newOutputStream(path)) {
            store.store(out, "password".toCharArray());
        }
        return path;
    }

    private static Properties properties(Login login) throws Exception {
        Properties p = new Properties();
        p.setProperty("user", login.account());
        p.setProperty("password", login.password());
        p.setProperty("useServerPrepStmts", "true");
        p.setProperty("connectionTimeZone", "UTC");
        p.setProperty("allowPublicKeyRetrieval", String.valueOf(login.key()));
        boolean checks = !login.authority().equals("-");
        p.setProperty("sslMode", login.tls().equals("no") ? "DISABLED" : checks ? "VERIFY_CA" : "REQUIRED");
        if (checks) {
            p.setProperty("trustCertificateKeyStoreUrl", keyStore(Path.of(login.authority())).toUri().toString());
            p.setProperty("trustCertificateKeyStoreType", "PKCS12");
            p.setProperty("trustCertificateKeyStorePassword", "password");
            p.setProperty("fallbackToSystemTrustStore", "false");
        }
        if (login.tls().startsWith("1.")) {
            p.setProperty("tlsVersions", "TLSv" + login.tls());
        }
        return p;
    }

    private static void expect(Object found, Object wanted) {
        if (!Objects.deepEquals(found, wanted)) {
            throw new IllegalStateException(found + " in place of " + wanted);
        }
    }

    private static void roundTrip(Connection connection, Login login) throws SQLException {
        try (Statement plain = connection.createStatement()) {
            try (ResultSet user = plain.executeQuery("SELECT CURRENT_USER()")) {
                user.next();
                expect(user.getString(1), login.account() + "@%");
            }
            try (ResultSet status = plain.executeQuery("SHOW STATUS LIKE 'Ssl_version'")) {
                status.next();
                String version = status.getString(2);
                switch (login.tls()) {
                    case "no" -> expect(version, "");
                    case "yes" -> expect(version.startsWith("TLSv1"), true);
                    default -> expect(version, "TLSv" + login.tls());
                }
            }
            plain.execute("DROP TABLE IF EXISTS round_trip");
            plain.execute(CREATE);
        }
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO round_trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int i = 0; i < ROW.length; i++) {
                insert.setObject(i + 1, ROW[i]);
            }
            expect(insert.executeUpdate(), 1);
        }
        try (PreparedStatement query =
                connection.prepareStatement("SELECT * FROM round_trip WHERE id = ? AND words = ?")) {
            query.setObject(1, ROW[0]);
            query.setObject(2, ROW[1]);
            try (ResultSet rows = query.executeQuery()) {
                rows.next();
                for (int i = 0; i < ROW.length; i++) {
                    Class<?> type = ROW[i] == null ? Integer.class : ROW[i].getClass();
                    expect(rows.getObject(i + 1, type), ROW[i]);
                }
                expect(rows.next(), false);
            }
        }
    }

    /** "in", an error number (0: the driver's own), or "round". Then the error's text. */
    private static String[] outcome(String port, Login login) throws Exception {
        Connection connection;
        try {
            connection = DriverManager.getConnection("jdbc:mysql://127.0.0.1:" + port + "/d", properties(login));
        } catch (SQLException error) {
            return new String[] {String.valueOf(error.getErrorCode()), error.toString()};
        }
        try (connection) {
            roundTrip(connection, login);
        } catch (SQLException | RuntimeException error) {
            return new String[] {"round", error.toString()};
        }
        return new String[] {"in", ""};
    }

    public static void main(String[] args) throws Exception {
        var out = new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8);
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line : lines.lines().toList()) {
            Login login = Login.of(line);
            String[] found = outcome(args[0], login);
            boolean refused = login.wanted().equals("refused") && !found[0].equals("in") && !found[0].equals("round");
            if (refused || found[0].equals(login.wanted())) {
                out.println("ok " + login.name());
            } else {
                out.println("wrong " + login.name() + ": wanted " + login.wanted() + ", found " + Arrays.toString(found));
            }
        }
    }
}
