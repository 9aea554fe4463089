package guard

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/qemudisk"
	"fsward/change"
	"fsward/hostd/memory"
	"fsward/hostd/recording"
	"fsward/interp/detect"
)

// Config selects the disks to guard, and says how to guard them.
type Config struct {
	Disks []DiskSpec
	FS    string // detect.Auto or a name
	Policies
	// Unguarded is the treatment of writes to volumes that are not guarded: UnguardedPass or
	// UnguardedRefuse; "": UnguardedPass.
	Unguarded string
	// Require names file systems that a volume must have: the guard does not start without them.
	Require []string
	// Degraded: a Btrfs may lack devices, as far as Linux mounts it with the option degraded.
	Degraded bool
	Rules    RulesConfig
	// Control: there is a control socket, by which a person can decide about a held write.
	Control bool
	// path of a dm-log-writes log, with .NAME appended if there are several disks; "" for none
	Record string
	// path of a copy of the disk that follows the recording, with .NAME likewise; "" for none
	RecordBase string
	Recording  recording.Limits
	// AuditCrashes: judge the crash states of the recorded disks in the background.
	AuditCrashes bool
	Guest        Suspender
	Simulate     bool // disks can simulate a bug
	Verify       bool // check the whole baseline in the background
	DataOrdered  bool // the guest mounts ext3 with data=ordered
	// LagTimeout bounds how long a commit waits for a disk that lags: see interp.Lagger; 0: it does
	// not wait.
	LagTimeout time.Duration
	Memory     memory.Limits
	Work       change.WorkLimits // for each judgment; the zero value: DefaultWork
	Sinks      []Sink
}

// Check returns an error that names the flag of a value that cannot be used, and the choices.
func (c *Config) Check() error {
	return errors.Join(c.Policies.Check(), c.checkUnguarded(), c.checkAudit(), detect.CheckName(c.FS))
}

// DiskSpec names a disk and its image or block device.
type DiskSpec struct {
	Name, Path string
	Format     qemudisk.Format // of Path; "" is qemudisk.Auto
	Disk       blocktap.Disk   // if not nil, this disk is guarded instead of Path; Close closes it
	Witness    Witness         // sees what the guard does to the disk; may be nil
}

// A Witness sees what is done to a guarded disk.
type Witness interface {
	// Of wraps d: the device uses the result, so that the witness sees every request.
	Of(d blocktap.Disk) blocktap.Disk
	// Refused notes that a write was completed with an error.
	Refused()
}

// ParseDiskSpec reads NAME=PATH or PATH. A PATH with a "=" must have a slash before it, as in
// ./a=b.img, or a NAME. The default name is the file's name without its extension, or the name of
// the export of an NBD URI.
func ParseDiskSpec(s string) (DiskSpec, error) {
	name, path, named := strings.Cut(s, "=")
	if !named || strings.Contains(name, "/") {
		path, name = s, s
		if qemudisk.IsURI(path) {
			name, _, _ = strings.Cut(path, "?")
		}
		name = filepath.Base(name)
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if name == "" || path == "" || strings.ContainsAny(name, "/ \t\n") {
		return DiskSpec{}, fmt.Errorf("disk %q: expected IMG or NAME=IMG; "+
			"a name has no spaces or slashes; write ./IMG if a path has a \"=\"", s)
	}
	return DiskSpec{Name: name, Path: path}, nil
}
