// Logs in by go-sql-driver as the lines on standard input say.
//
// A line: name, account, password, socket or -, TLS (no, yes or a version), file of the authority or -, outcome, key or -.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

const create = "CREATE TABLE round_trip (id INT PRIMARY KEY, words VARCHAR(100), big BIGINT, exact DECIMAL(20,6)," +
	" approximate DOUBLE, day DATE, moment DATETIME(6), bytes VARBINARY(100), nothing INT)" +
	" DEFAULT CHARSET utf8mb4"

type login struct {
	name, account, password, socket, tls, authority, wanted string
}

type row struct {
	id          int
	words       string
	big         int64
	exact       string
	approximate float64
	day         time.Time
	moment      time.Time
	bytes       []byte
	nothing     sql.NullInt64
}

var sent = row{
	-7, "naïve 🦀 中文 o'brien \\", -9007199254740993, "12345678901234.567890", 0.1,
	time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC),
	[]byte{0, 0xff, 0x27, 0x5c}, sql.NullInt64{},
}

func configure(port string, l login) (*mysql.Config, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = l.account, l.password, "d"
	config.ParseTime = true
	config.Net, config.Addr = "tcp", "127.0.0.1:"+port
	if l.socket != "-" {
		config.Net, config.Addr = "unix", l.socket
	}
	if l.tls == "no" {
		return config, nil
	}
	// The certificate names no host, so that only its chain can be checked.
	config.TLS = &tls.Config{InsecureSkipVerify: true}
	if l.authority != "-" {
		pem, err := os.ReadFile(l.authority)
		if err != nil {
			return nil, err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		config.TLS.VerifyConnection = func(state tls.ConnectionState) error {
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots})
			return err
		}
	}
	if version, ok := map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}[l.tls]; ok {
		config.TLS.MinVersion, config.TLS.MaxVersion = version, version
	}
	return config, nil
}

func expect(found, wanted any) error {
	if !reflect.DeepEqual(found, wanted) {
		return fmt.Errorf("%v in place of %v", found, wanted)
	}
	return nil
}

func roundTrip(db *sql.DB, l login) error {
	var user, variable, version string
	if err := db.QueryRow("SELECT CURRENT_USER()").Scan(&user); err != nil {
		return err
	}
	if err := db.QueryRow("SHOW STATUS LIKE 'Ssl_version'").Scan(&variable, &version); err != nil {
		return err
	}
	wanted := map[string]string{"no": "", "yes": "TLSv1"}[l.tls]
	if l.tls == "yes" {
		version, _, _ = strings.Cut(version, ".")
	} else if l.tls != "no" {
		wanted = "TLSv" + l.tls
	}
	if err := expect([]string{user, version}, []string{l.account + "@%", wanted}); err != nil {
		return err
	}
	for _, statement := range []string{"DROP TABLE IF EXISTS round_trip", create} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	insert, err := db.Prepare("INSERT INTO round_trip VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	s := sent
	_, err = insert.Exec(s.id, s.words, s.big, s.exact, s.approximate, s.day, s.moment, s.bytes, s.nothing)
	if err != nil {
		return err
	}
	query, err := db.Prepare("SELECT * FROM round_trip WHERE id = ? AND words = ?")
	if err != nil {
		return err
	}
	defer query.Close()
	var r row
	err = query.QueryRow(s.id, s.words).Scan(
		&r.id, &r.words, &r.big, &r.exact, &r.approximate, &r.day, &r.moment, &r.bytes, &r.nothing)
	if err != nil {
		return err
	}
	return expect(r, s)
}

// The outcome of a login: "in", an error number, or "refused"; a round that went wrong is neither.
func outcome(port string, l login) (string, error) {
	config, err := configure(port, l)
	if err != nil {
		return "", err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := db.Ping(); err != nil {
		var refusal *mysql.MySQLError
		if errors.As(err, &refusal) {
			return strconv.Itoa(int(refusal.Number)), err
		}
		return "refused", err
	}
	if err := roundTrip(db, l); err != nil {
		return "round", err
	}
	return "in", nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		l := login{f[0], f[1], f[2], f[3], f[4], f[5], f[6]}
		found, err := outcome(os.Args[1], l)
		isRefused := l.wanted == "refused" && found != "in" && found != "round" && found != ""
		if found == l.wanted || isRefused {
			fmt.Println("ok " + l.name)
		} else {
			fmt.Printf("wrong %s: wanted %s, found %s: %v\n", l.name, l.wanted, found, err)
		}
	}
}
