package linux

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// device is the disk in the guest.
const device = "/dev/ubda"

// FileSystems lists the file systems that the kernel mounts.
func FileSystems() []string {
	return []string{"btrfs", "ext2", "ext3", "ext4", "f2fs", "gfs2", "jfs", "minix1", "minix2",
		"minix3", "ocfs2", "reiserfs", "vfat", "xfs"}
}

// typeOf returns the kernel's name of a file system.
func typeOf(fs string) string {
	switch {
	case strings.HasPrefix(fs, "minix"):
		return "minix"
	case fs == "ext3":
		return "ext4" // a repair may remove a journal, and the type ext3 needs one
	}
	return fs
}

// ErrEnded means that the kernel crashed, or that a call does not return. The machine is of no use
// any more.
var ErrEnded = errors.New("the kernel ended or hangs")

// A View is what the kernel finds on an image.
type View struct {
	Problem string        // the call that failed, and its error; "" if none did
	Where   string        // the file that could not be read, if that is the problem
	Files   []agent.Entry // with paths relative to the root, which is "."
	Full    bool          // there was no space to write
	// Complaints are different lines of the kernel's log that speak of errors.
	Complaints []string
}

// Names of what Look writes into the root, and its size in bytes.
const (
	newName  = "fsward-new"
	newBytes = 5000
)

// Look mounts the disk and reads the tree of files. With write it then makes a file, unmounts the
// disk, mounts it again, and looks for the file. An error is ErrEnded, or one of this machine.
func (m *Machine) Look(ctx context.Context, fs string, write bool) (*View, error) {
	v := &View{}
	data, err := m.visit(ctx, v, fs, nil)
	if err != nil || v.Problem != "" {
		return v, err
	}
	if v.Files, err = agent.DecodeTree(data); err != nil {
		return v, err
	}
	if v.unreadable() || !write {
		return v, nil
	}
	path := mountPoint + "/" + newName
	data, err = m.visit(ctx, v, fs, []agent.Op{
		agent.Open(0, path, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600),
		agent.Fill(0, 0, newBytes, 1), agent.Fsync(0), agent.Close(0)})
	if err != nil || v.Problem != "" || v.Full {
		return v, err
	}
	before, err := agent.DecodeTree(data)
	if err != nil {
		return v, err
	}
	if data, err = m.visit(ctx, v, fs, nil); err != nil || v.Problem != "" {
		return v, err
	}
	after, err := agent.DecodeTree(data)
	if err == nil {
		v.compare(before, after)
	}
	return v, err
}

// unreadable reports whether a file or a directory could not be read, which is the problem then.
func (v *View) unreadable() bool {
	for i := range v.Files {
		if f := &v.Files[i]; f.Errno != 0 {
			v.Problem, v.Where = "a file cannot be read: "+f.Errno.Error(), f.Path
			return true
		}
	}
	return false
}

// compare reports a file that is different after the disk was mounted again.
func (v *View) compare(before, after []agent.Entry) {
	for _, e := range before {
		i := slices.IndexFunc(after, func(a agent.Entry) bool { return a.Path == e.Path })
		switch {
		case i < 0:
			v.Problem = fmt.Sprintf("%s is gone after the next mount", e.Path)
		case after[i].Mode != e.Mode || after[i].Sum != e.Sum:
			v.Problem = fmt.Sprintf("%s is different after the next mount", e.Path)
		}
	}
}

// maxOps bounds the operations of Fill. The terminal between host and guest loses what is longer
// than its buffer of 4 KiB.
const maxOps = 50

// Fill mounts the disk and performs operations on it, which find it at Root: at most 50, with short
// arguments.
func (m *Machine) Fill(ctx context.Context, fs string, ops []agent.Op) error {
	if len(ops) > maxOps {
		return fmt.Errorf("%d operations; at most %d are possible", len(ops), maxOps)
	}
	v := &View{}
	_, err := m.visit(ctx, v, fs, ops)
	if err == nil && v.Problem != "" {
		err = errors.New(v.Problem)
	}
	return err
}

// Root is where Fill's operations find the file system.
const Root = mountPoint

// visit mounts the disk, performs operations, reads the tree, and unmounts the disk.
func (m *Machine) visit(ctx context.Context, v *View, fs string, ops []agent.Op) ([]byte, error) {
	all := slices.Concat([]agent.Op{agent.Mount(device, mountPoint, typeOf(fs), 0, "")}, ops,
		[]agent.Op{agent.Tree(mountPoint)})
	ctx, cancel := context.WithTimeout(ctx, 2*requestTime)
	defer cancel()
	done, err := m.client.Do(ctx, agent.Batch{Ops: all, StopAtError: true, Timeout: requestTime})
	if err != nil {
		return nil, m.gone(err)
	}
	v.complain(done.Kernel)
	if done.TimedOut {
		return nil, fmt.Errorf("%w: %v did not end in %v", ErrEnded, all[len(done.Results)], requestTime)
	}
	err = agent.CheckResults(all, done.Results, requestTime)
	if v.Full = errors.Is(err, unix.ENOSPC); err != nil && !v.Full {
		v.Problem = err.Error()
	}
	if len(done.Results) == 1 && v.Problem != "" {
		return nil, nil // nothing was mounted
	}
	end, err := m.client.Do(ctx, agent.Batch{Timeout: requestTime,
		Ops: []agent.Op{agent.Unmount(mountPoint, 0)}})
	if err != nil {
		return nil, m.gone(err)
	}
	v.complain(end.Kernel)
	if err := agent.CheckResults([]agent.Op{agent.Unmount(mountPoint, 0)}, end.Results,
		requestTime); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return done.Results[len(done.Results)-1].Data, nil
}

// gone returns the error of a machine that does not answer, with the end of its console.
func (m *Machine) gone(err error) error { return fmt.Errorf("%w: %w", ErrEnded, m.why(err)) }

// complaint matches lines of the kernel's log that speak of an error.
var complaint = regexp.MustCompile(
	`(?i)\b(errors?|corrupt\w*|inconsisten\w*|BUG|WARNING|invalid|bad|Oops|panic)\b`)

// deprecated is what the kernel says of each ReiserFS.
const deprecated = "deprecated and scheduled to be removed"

// stamp matches the level and the time of a line.
var stamp = regexp.MustCompile(`^(<\d+>)?\[ *\d+\.\d+\] *`)

const maxComplaints = 16

// complain adds the complaints in a part of the kernel's log.
func (v *View) complain(log string) {
	for _, l := range strings.Split(log, "\n") {
		l = strings.TrimSpace(stamp.ReplaceAllString(l, ""))
		if !complaint.MatchString(l) || strings.Contains(l, deprecated) {
			continue
		}
		if !slices.Contains(v.Complaints, l) && len(v.Complaints) < maxComplaints {
			v.Complaints = append(v.Complaints, l)
		}
	}
}
