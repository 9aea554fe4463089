package daemon

import (
	"bytes"
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

	"fsward/blocktap/qemudisk"
	"fsward/hostd/guard"
)

// controlled is what the control socket of a daemon works on: the disks of one guest, or those of
// several.
type controlled interface {
	Status() []guard.VolumeStatus
	Holder(disk string) (*guard.Holder, error)
	Self() Self
	reload() ([]Reloaded, error)
}

// diskChanger is a controlled whose disks can be changed while it serves them.
type diskChanger interface {
	AddDisk(ctx context.Context, spec guard.DiskSpec) error
	RemoveDisk(ctx context.Context, disk string) error
	GrowDisk(ctx context.Context, disk string, size uint64) error
}

// A DiskChange is a change of a disk GUEST/DISK, as the control socket takes it.
type DiskChange struct {
	Path   string `json:"path,omitempty"`   // of the image of a new disk
	Format string `json:"format,omitempty"` // of the image of a new disk; "" is auto
	Size   uint64 `json:"size,omitempty"`   // of a disk that grows, bytes; 0: it has grown already
}

// controlHandler serves the control socket: the status, decisions about held writes, reloading
// rules, and changes of disks.
func controlHandler(d controlled) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /disks", answer(func(*http.Request) (any, error) { return d.Status(), nil }))
	mux.HandleFunc("GET /self", answer(func(*http.Request) (any, error) { return d.Self(), nil }))
	mux.HandleFunc("POST /rules/reload", answer(
		func(*http.Request) (any, error) { return d.reload() }))
	mux.HandleFunc("POST /disks/{disk}/resume", release(d, true))
	mux.HandleFunc("POST /disks/{disk}/reject", release(d, false))
	if changer, ok := d.(diskChanger); ok {
		mux.HandleFunc("POST /disks/{disk}/add", changeDisk(addDisk(changer)))
		mux.HandleFunc("POST /disks/{disk}/remove", changeDisk(
			func(ctx context.Context, disk string, _ DiskChange) error {
				return changer.RemoveDisk(ctx, disk)
			}))
		mux.HandleFunc("POST /disks/{disk}/grow", changeDisk(
			func(ctx context.Context, disk string, c DiskChange) error {
				return changer.GrowDisk(ctx, disk, c.Size)
			}))
	}
	return mux
}

// answer serves the result of f as JSON.
func answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		result, err := f(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	}
}

// release lets the held write of a disk pass, or refuses it.
func release(d controlled, pass bool) http.HandlerFunc {
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

// changeDisk serves a change of a disk.
func changeDisk(change func(ctx context.Context, disk string, c DiskChange) error,
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var c DiskChange
		err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&c)
		if err == nil {
			err = change(r.Context(), r.PathValue("disk"), c)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	}
}

// addDisk adds a disk as a DiskChange describes it.
func addDisk(d diskChanger) func(ctx context.Context, disk string, c DiskChange) error {
	return func(ctx context.Context, disk string, c DiskChange) error {
		spec := guard.DiskSpec{Name: disk, Path: c.Path}
		if c.Format != "" {
			var err error
			if spec.Format, err = qemudisk.ParseFormat(c.Format); err != nil {
				return err
			}
		}
		return d.AddDisk(ctx, spec)
	}
}

// changeTime bounds the change of a disk: the disks of its guest are closed and opened again.
const changeTime = 10 * time.Minute

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
	body, err := c.do("GET", "/disks", nil)
	if err != nil {
		return nil, err
	}
	var out []guard.VolumeStatus
	return out, json.Unmarshal(body, &out)
}

// Self returns the state of the daemon itself.
func (c *Control) Self() (self Self, err error) {
	body, err := c.do("GET", "/self", nil)
	if err != nil {
		return self, err
	}
	return self, json.Unmarshal(body, &self)
}

// Release lets the held write of a disk pass, or refuses it.
func (c *Control) Release(disk string, pass bool) error {
	verb := map[bool]string{true: "resume", false: "reject"}[pass]
	_, err := c.do("POST", "/disks/"+url.PathEscape(disk)+"/"+verb, nil)
	return err
}

// ChangeDisk adds, removes or grows (what) the disk GUEST/DISK of a daemon of several guests.
func (c *Control) ChangeDisk(what, disk string, change DiskChange) error {
	body, err := json.Marshal(change)
	if err != nil {
		return err
	}
	patient := *c
	patient.client.Timeout = changeTime
	_, err = patient.do("POST", "/disks/"+url.PathEscape(disk)+"/"+what, body)
	return err
}

// Reload makes the daemon read its rules again and returns what changed, for each guest. An error
// is the daemon's, and says that the old rules stay in force.
func (c *Control) Reload() (changes []Reloaded, err error) {
	body, err := c.do("POST", "/rules/reload", nil)
	if err != nil {
		return changes, err
	}
	return changes, json.Unmarshal(body, &changes)
}

func (c *Control) do(method, path string, request []byte) ([]byte, error) {
	req, err := http.NewRequest(method, "http://fsward"+path, bytes.NewReader(request))
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
