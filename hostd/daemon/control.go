package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fsward/hostd/guard"
)

// controlHandler serves the control socket: the status, decisions about held writes, and reloading
// rules.
func (d *Daemon) controlHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /disks", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(d.Status())
	})
	release := func(pass bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			disk := r.PathValue("disk")
			holder, err := d.Holder(disk)
			if err != nil {
				http.Error(w, err.Error(), http.StatusNotFound)
				return
			}
			if holder == nil {
				http.Error(w, "this daemon does not pause: start it with --on-violation pause "+
					"or --on-undecided pause",
					http.StatusConflict)
				return
			}
			if err := holder.Release(pass); err != nil {
				http.Error(w, err.Error()+" on "+disk, http.StatusConflict)
			}
		}
	}
	mux.HandleFunc("POST /disks/{disk}/resume", release(true))
	mux.HandleFunc("POST /disks/{disk}/reject", release(false))
	mux.HandleFunc("GET /self", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(d.Self())
	})
	mux.HandleFunc("POST /rules/reload", func(w http.ResponseWriter, _ *http.Request) {
		rules, err := d.Reload()
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(rules)
	})
	return mux
}

// A Control is a client of a daemon's control socket.
type Control struct {
	socket string
	client http.Client
}

// NewControl returns a client of the control socket at a path.
func NewControl(socket string) *Control {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}
	return &Control{socket: socket, client: http.Client{Transport: &http.Transport{DialContext: dial},
		Timeout: 10 * time.Second}}
}

// Status returns the state of every disk.
func (c *Control) Status() ([]guard.VolumeStatus, error) {
	body, err := c.do("GET", "/disks")
	if err != nil {
		return nil, err
	}
	var out []guard.VolumeStatus
	return out, json.Unmarshal(body, &out)
}

// Self returns the state of the daemon itself.
func (c *Control) Self() (self Self, err error) {
	body, err := c.do("GET", "/self")
	if err != nil {
		return self, err
	}
	return self, json.Unmarshal(body, &self)
}

// Release lets the held write of a disk pass, or refuses it.
func (c *Control) Release(disk string, pass bool) error {
	verb := map[bool]string{true: "resume", false: "reject"}[pass]
	_, err := c.do("POST", "/disks/"+url.PathEscape(disk)+"/"+verb)
	return err
}

// Reload makes the daemon read its rules again and returns their number. An error is the daemon's,
// and says that the old rules stay in force.
func (c *Control) Reload() (rules int, err error) {
	body, err := c.do("POST", "/rules/reload")
	if err != nil {
		return 0, err
	}
	return rules, json.Unmarshal(body, &rules)
}

func (c *Control) do(method, path string) ([]byte, error) {
	req, err := http.NewRequest(method, "http://fsward"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no fsward daemon answers at %s: %w", c.socket, errors.Unwrap(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(body)))
	}
	return body, nil
}
