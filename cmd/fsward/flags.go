package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// sink returns the report on stdout: a table, or one JSON object a line.
func sink(asJSON bool) guard.Sink {
	if asJSON {
		return guard.NewJSONReport(os.Stdout, "")
	}
	return guard.NewTextReport(os.Stdout)
}

// fsFlag is the value of a flag with a file system.
type fsFlag struct{ name *string }

func (f fsFlag) String() string { return *f.name }

func (fsFlag) Type() string { return "string" }

func (f fsFlag) Set(name string) error {
	*f.name = name
	return detect.CheckName(name)
}

func addFSFlag(c *cobra.Command, fs *string) {
	*fs = detect.Auto
	c.Flags().Var(fsFlag{fs}, "fs", "file system on the disk: auto, btrfs or ext3")
}

func addJSONFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "print one JSON object a line")
}

// addDataOrdered adds the flag that says how the guest mounts ext3.
func addDataOrdered(c *cobra.Command, ordered *bool) {
	c.Flags().BoolVar(ordered, "data-ordered", false,
		"for a guest that mounts ext3 with data=ordered, the default of Linux: also refuse a "+
			"commit if new data was not flushed before it, or if a file has had unwritten blocks "+
			"since an earlier commit")
}

// addDegraded adds the flag that accepts a Btrfs with lost devices.
func addDegraded(c *cobra.Command, degraded *bool) {
	c.Flags().BoolVar(degraded, "degraded", false,
		"accept a Btrfs that lacks devices, if Linux mounts it with the option degraded")
}

// guardFlags are the flags that guard and vm run share.
type guardFlags struct {
	disks   []string
	formats []string
	control string
	reports reportOptions
	memory  memoryFlags
	// bound of the recording, BYTES
	recorded string
	cfg      guard.Config
}

func (f *guardFlags) add(c *cobra.Command) {
	f.addGuard(c)
	f.addReports(c)
}

// addReports adds the flags of the process: how it reports, and how it is controlled.
func (f *guardFlags) addReports(c *cobra.Command) {
	c.Flags().StringVar(&f.control, "control", "",
		"serve status, resume, reject and rules reload on the control socket `unix:PATH`")
	addJSONFlag(c, &f.reports.json)
	f.reports.addLimit(c)
	c.Flags().BoolVarP(&f.reports.verbose, "verbose", "v", false, "log debug messages")
}

// addGuard adds the flags that say what is guarded for a guest, and how.
func (f *guardFlags) addGuard(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.disks, "disk", nil, "guard the image, block device or NBD URI "+
		"`[NAME=]IMG`; repeat it for every disk of the guest (required); "+
		"write ./IMG if the path has a \"=\"")
	_ = c.MarkFlagRequired("disk")
	c.Flags().StringArrayVar(&f.formats, "disk-format", nil,
		"read the disks, or the disk NAME, in this `[NAME=]FORMAT`: raw, qcow2, vmdk, vdi, "+
			"vhdx, or auto (default), for which the header and the extension of the file must agree")
	addFSFlag(c, &f.cfg.FS)
	addRulesFlags(c, &f.cfg.Rules)
	c.Flags().StringVar(&f.cfg.OnViolation, "on-violation", guard.OnRefuse,
		"what to do with a commit that violates a rule: refuse (complete it with EIO), "+
			"pause (suspend the guest and wait for fsward resume or reject), log (let it through)")
	c.Flags().StringVar(&f.cfg.OnUndecided, "on-undecided", "",
		"what to do with a commit that cannot be judged: refuse, pause, pass (let it through, "+
			"mark the volume unverified and check it in the background); default: as "+
			"--on-violation, but pass if that is log")
	addDuration(c, &f.cfg.LagTimeout, "lag-timeout", guard.DefaultLagTimeout,
		"let a commit of a file system on several disks wait at most `DURATION` for blocks on a disk "+
			"that the guest has not flushed yet; 0 refuses it at once")
	c.Flags().StringVar(&f.cfg.Unguarded, "unguarded", guard.UnguardedPass,
		"what to do with a write to a volume that is not guarded: pass (report the volume once), refuse")
	c.Flags().StringSliceVar(&f.cfg.Require, "require", nil,
		"do not start unless each of the file systems `FS[,FS...]` is guarded on a volume, "+
			"or a volume is blank")
	addDegraded(c, &f.cfg.Degraded)
	c.Flags().StringVar(&f.cfg.Record, "record", "",
		"record every write to `LOG` in dm-log-writes format, and further segments to LOG.000001, …; "+
			"with several disks to LOG.NAME")
	c.Flags().StringVar(&f.recorded, "record-limit", "4G",
		"keep about `BYTES` of recorded writes and discard older segments; 0 keeps all")
	c.Flags().DurationVar(&f.cfg.Recording.Age, "record-time", 0,
		"discard segments that are older than `DURATION`, such as 24h; 0 keeps them")
	c.Flags().StringVar(&f.cfg.RecordBase, "record-base", "",
		"make the writes of discarded segments on `IMG`, so that the recording can be replayed "+
			"from it; IMG is a copy of the disk as it is now (with several disks: IMG.NAME)")
	c.Flags().BoolVar(&f.cfg.AuditCrashes, "audit-crashes", false,
		"also judge, at low priority, the disks that a crash could leave, and report those that "+
			"violate an invariant; needs --record and --record-base")
	c.Flags().BoolVar(&f.cfg.Verify, "verify-baseline", true,
		"check the whole file system once in the background, as it is when the guard starts")
	addDataOrdered(c, &f.cfg.DataOrdered)
	f.memory.addReserve(c)
}

// config checks the flags that cobra cannot check, and returns the configuration of the guard.
func (f *guardFlags) config(c *cobra.Command) (guard.Config, error) {
	for _, s := range f.disks {
		spec, err := guard.ParseDiskSpec(s)
		if err != nil {
			return f.cfg, usageError{err, c.CommandPath()}
		}
		f.cfg.Disks = append(f.cfg.Disks, spec)
	}
	for _, s := range f.formats {
		if err := f.cfg.SetFormat(s); err != nil {
			return f.cfg, usageError{err, c.CommandPath()}
		}
	}
	err := f.cfg.Check()
	if err == nil && f.cfg.Pauses() && f.control == "" {
		name := "--on-violation"
		if f.cfg.OnViolation != guard.OnPause {
			name = "--on-undecided"
		}
		err = errors.New(name + " pause needs --control: without it nobody could decide")
	}
	f.cfg.Control = f.control != ""
	if err == nil {
		err = f.limitRecording()
	}
	if err == nil {
		f.cfg.Memory, err = f.memory.limits()
	}
	if err != nil {
		return f.cfg, usageError{err, c.CommandPath()}
	}
	return f.cfg, nil
}

// leastRecording is the least bound of a recording: its segments are an eighth of it.
const leastRecording = 8 << 20

// limitRecording reads the flags for the bounds of the recording.
func (f *guardFlags) limitRecording() (err error) {
	l := &f.cfg.Recording
	if l.Bytes, err = parseBytes(f.recorded); err != nil {
		return fmt.Errorf("--record-limit: %w", err)
	}
	switch {
	case l.Bytes > 0 && l.Bytes < leastRecording:
		return fmt.Errorf("--record-limit: %s is less than %d MiB", f.recorded, leastRecording>>20)
	case l.Age < 0:
		return fmt.Errorf("--record-time: %v is negative", l.Age)
	case f.cfg.RecordBase != "" && f.cfg.Record == "":
		return errors.New("--record-base needs --record")
	}
	return nil
}

func addControlFlag(c *cobra.Command, control *string) {
	c.Flags().StringVar(control, "control", os.Getenv("FSWARD_CONTROL"),
		"ask the daemon at the control socket `unix:PATH` (default: $FSWARD_CONTROL)")
}

// controlClient returns a client of the control socket at an address, for the command c.
func controlClient(c *cobra.Command, address string) (*daemon.Control, error) {
	if address == "" {
		return nil, usageError{
			errors.New("give the daemon's control socket: --control unix:PATH, or FSWARD_CONTROL in the " +
				"environment"),
			c.CommandPath(),
		}
	}
	path, err := daemon.Address(address)
	if err != nil {
		return nil, err
	}
	return daemon.NewControl(path), nil
}
