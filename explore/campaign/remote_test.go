package campaign

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// writePEM writes a PEM file, and returns its path.
func writePEM(t *testing.T, dir, name, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate makes a certificate of 127.0.0.1 that signs itself, and returns its files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, dir, "cert.pem", "CERTIFICATE", der),
		writePEM(t, dir, "key.pem", "PRIVATE KEY", secret)
}

// identity is a key pair of NATS.
type identity struct {
	nkeys.KeyPair
	public string
}

func newIdentity(t *testing.T, create func() (nkeys.KeyPair, error)) identity {
	t.Helper()
	k, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return identity{k, public}
}

// credentials writes the credentials of a new user of an account.
func credentials(t *testing.T, account identity) string {
	t.Helper()
	user := newIdentity(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(user.public).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// secureServer runs a server with TLS, client certificates, and accounts of an operator. It returns
// its URL and the account.
func secureServer(t *testing.T, cert, key string) (url string, account identity) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	operator := newIdentity(t, nkeys.CreateOperator)
	account = newIdentity(t, nkeys.CreateAccount)
	system := newIdentity(t, nkeys.CreateAccount)
	resolver := &server.MemAccResolver{}
	for _, a := range []identity{account, system} {
		claims := jwt.NewAccountClaims(a.public)
		if a == account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		token, err := claims.Encode(operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(a.public, token); err != nil {
			t.Fatal(err)
		}
	}
	token, err := jwt.NewOperatorClaims(operator.public).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeOperatorClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true,
		StoreDir: t.TempDir(), NoLog: true, NoSigs: true, TLS: true, TLSVerify: true, TLSTimeout: 10,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12},
		TrustedOperators: []*jwt.OperatorClaims{claims}, AccountResolver: resolver,
		SystemAccount: system.public, AuthTimeout: 10})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	return "tls://" + s.Addr().String(), account
}

// A campaign on a server with TLS and credentials. Without either nobody gets in.
func TestRemote(t *testing.T) {
	cert, key := certificate(t)
	url, account := secureServer(t, cert, key)
	good := Address{URL: url, Credentials: credentials(t, account), CA: cert, Cert: cert, Key: key}
	bad := map[string]Address{}
	without := func(name string, f func(*Address)) {
		a := good
		f(&a)
		bad[name] = a
	}
	without("credentials", func(a *Address) { a.Credentials = "" })
	without("credentials of this account", func(a *Address) {
		a.Credentials = credentials(t, newIdentity(t, nkeys.CreateAccount))
	})
	without("CA", func(a *Address) { a.CA = "" })
	without("certificate", func(a *Address) { a.Cert, a.Key = "", "" })
	for name, a := range bad {
		if c, err := Connect(t.Context(), a, true); err == nil {
			t.Errorf("it connects without the %s", name)
			c.Close()
		}
	}
	c, err := Connect(t.Context(), good, true)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := Connect(t.Context(), good, false)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	q := submitted(t, c, testDefinition("a", 20, 3))
	run(t, newWorker(other, "w", func(context.Context, Task) (Done, error) {
		return Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1, Dir: t.TempDir()}}}, nil
	}))
	if s := isDone(t, q, 20); s.Errors != 1 {
		t.Errorf("%+v", s)
	}
}
