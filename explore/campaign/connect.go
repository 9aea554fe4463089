package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An Address says where the server is: in a folder, or at a URL.
type Address struct {
	Dir string // the server of a folder; "": URL

	URL string // of a server of a cluster, such as tls://nats.example.com:4222
	// Credentials is a file with a user's JWT and key, as nsc makes it; "": none.
	Credentials string
	// CA is a file with the certificates that sign the server's; "": those of the system. Cert and Key
	// are files with a certificate of this client; "": none.
	CA, Cert, Key string
}

// Check returns an error for an address that is incomplete.
func (a Address) Check() error {
	switch {
	case (a.Dir == "") == (a.URL == ""):
		return errors.New("give one of --dir and --nats")
	case a.Dir != "" && (a.Credentials != "" || a.CA != "" || a.Cert != "" || a.Key != ""):
		return errors.New("credentials and certificates are for --nats")
	case (a.Cert == "") != (a.Key == ""):
		return errors.New("--tls-cert and --tls-key need each other")
	}
	return nil
}

// String returns the address without a password.
func (a Address) String() string {
	if a.Dir != "" {
		return a.Dir
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return "an address that is no URL"
	}
	return u.Redacted()
}

// A Client is a connection to a server.
type Client struct {
	folder *folder // nil: the server is at a URL
	conn   *nats.Conn
	js     jetstream.JetStream
}

// Times of connections.
const (
	reconnectWait = 2 * time.Second // with jitter; a lost server is asked again without end
	requestTime   = 10 * time.Second
	takeOver      = 5 * time.Second // for the server of a process that is ending
	// pingTime is how long a connection may be silent before the server is asked for a sign of life.
	// Two that do not come end the connection.
	pingTime = 10 * time.Second
)

// Connect connects to a server. If no process has that of a folder, this one has it until Close. It
// is an error if the folder had no server ever and create is not set.
func Connect(ctx context.Context, a Address, create bool) (*Client, error) {
	c := new(Client)
	opts := []nats.Option{nats.Name("fsward"), nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait), nats.Timeout(requestTime),
		nats.PingInterval(pingTime),
		// The default handler prints. What fails is repeated, and who waits for it is told.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}
	if a.Dir != "" {
		var err error
		if c.folder, err = openFolder(ctx, a.Dir, create); err != nil {
			return nil, err
		}
		opts = append(opts, nats.InProcessServer(c.folder))
	} else {
		opts = append(opts, a.secure()...)
	}
	var err error
	if c.conn, err = nats.Connect(a.URL, opts...); err == nil {
		c.js, err = jetstream.New(c.conn, jetstream.WithDefaultTimeout(requestTime),
			jetstream.WithPublishAsyncTimeout(requestTime))
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("the NATS server at %s: %w", a, err)
	}
	return c, nil
}

// secure returns the options for credentials and TLS.
func (a Address) secure() (opts []nats.Option) {
	if a.Credentials != "" {
		opts = append(opts, nats.UserCredentials(a.Credentials))
	}
	if a.CA != "" {
		opts = append(opts, nats.RootCAs(a.CA))
	}
	if a.Cert != "" {
		opts = append(opts, nats.ClientCert(a.Cert, a.Key))
	}
	return opts
}

// openFolder returns what connects to the server of a folder, when it does.
func openFolder(ctx context.Context, dir string, create bool) (*folder, error) {
	if _, err := os.Stat(filepath.Join(dir, storeName)); err != nil && !create {
		return nil, fmt.Errorf("%s is not the folder of a campaign: %w", dir, err)
	}
	f := &folder{dir: dir, stop: make(chan struct{})}
	for end := time.Now().Add(takeOver); ; {
		conn, err := f.InProcessConn()
		if err == nil {
			return f, conn.Close()
		}
		if !errors.Is(err, ErrInUse) || time.Now().After(end) {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(takeOver / 50):
		}
	}
}

// Trouble returns why the server cannot be reached; nil: it can.
func (c *Client) Trouble() error {
	if c.folder != nil {
		if err := c.folder.trouble(); err != nil {
			return err
		}
	}
	if !c.conn.IsConnected() {
		return fmt.Errorf("the server is away: %w", cmp.Or(c.conn.LastError(), nats.ErrDisconnected))
	}
	return nil
}

// Alone reports whether nobody else uses the queue of the folder: this process has its server, and
// no other one is connected. It is false for a server at a URL.
func (c *Client) Alone() bool {
	if c.folder == nil {
		return false
	}
	c.folder.mu.Lock()
	defer c.folder.mu.Unlock()
	return c.folder.server != nil && c.folder.server.nats.NumClients() <= 1
}

// Close ends the connection, and the server if it is in this process.
func (c *Client) Close() {
	if c.conn != nil {
		c.conn.Close()
	}
	if c.folder != nil {
		c.folder.close()
	}
}
