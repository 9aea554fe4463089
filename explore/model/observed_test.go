package model_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

const (
	dirMode  = unix.S_IFDIR | 0o755
	fileMode = unix.S_IFREG | 0o644
)

// TestObserve: Observe leaves out the file system's own files, checks link counts, and returns an
// error for entries that form no tree.
func TestObserve(t *testing.T) {
	top := agent.Entry{Path: ".", Mode: dirMode, Inode: 1, Links: 3}
	s, err := model.Observe([]agent.Entry{
		top,
		{Path: "lost+found", Mode: dirMode, Inode: 2},
		{Path: "lost+found/#12", Mode: fileMode, Inode: 12, Links: 1},
		{Path: ".nilfs", Mode: fileMode, Inode: 3, Links: 1},
		{Path: "FSCK0001.REC", Mode: fileMode, Inode: 4, Links: 1},
	}, ".nilfs", "FSCK*.REC")
	if err != nil {
		t.Fatal(err)
	}
	if err := model.New(posix).Equal(s); err != nil {
		t.Errorf("an empty file system: %v", err)
	}
	var m *model.Mismatch
	s, err = model.Observe([]agent.Entry{top, {Path: "f", Mode: fileMode, Inode: 3, Links: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := after(t, posix, "creat /f").Equal(s); !errors.As(err, &m) || m.Kind != "links" {
		t.Errorf("a file with one name and a link count of two: %v", err)
	}
	for _, wrong := range [][]agent.Entry{
		{},
		{{Path: "f", Mode: fileMode}},
		{top, {Path: "d/f", Mode: fileMode}},
		{top, {Path: "f", Mode: fileMode}, {Path: "f", Mode: fileMode}},
		{{Path: ".", Mode: dirMode, Inode: 1, Links: 3, Errno: unix.EIO}},
	} {
		if _, err := model.Observe(wrong); err == nil {
			t.Errorf("%v gives no error", wrong)
		}
	}
}

// TestUnreadable: for Allowed, an unreadable file counts as missing: it is lost if it was durable,
// and the rest of the tree is compared. Equal does not accept unreadable files.
func TestUnreadable(t *testing.T) {
	s, err := model.Observe([]agent.Entry{
		{Path: ".", Mode: dirMode, Inode: 1, Links: 3},
		{Path: "d", Mode: dirMode, Inode: 2, Links: 2},
		{Path: "f", Errno: unix.ESTALE},
		{Path: "u", Mode: dirMode, Inode: 3, Links: 2, Errno: unix.EIO},
		{Path: "u/x", Mode: fileMode, Inode: 4, Links: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := s.Unreadable(); text != "/f cannot be read: stale file handle" {
		t.Errorf("unreadable: %q", text)
	}
	if err := after(t, posix, "mkdir /d; sync; creat /f; mkdir /u").Allowed(s); err != nil {
		t.Errorf("the unreadable files were not durable: %v", err)
	}
	var m *model.Mismatch
	err = after(t, posix, "mkdir /d; creat /f; sync; mkdir /u").Allowed(s)
	if !errors.As(err, &m) || m.Kind != "lost" ||
		!strings.Contains(m.Text, "/f cannot be read: stale") {
		t.Errorf("an unreadable file was durable: %v", err)
	}
	err = after(t, posix, "mkdir /d; creat /f; mkdir /u").Equal(s)
	if !errors.As(err, &m) || m.Kind != "unreadable" {
		t.Errorf("Equal with unreadable files: %v", err)
	}
}

// TestXattrsOfLinks: the extended attributes of a file are read once, whatever the number of its
// names, and count for each name. Files that only have the same inode number are read each.
func TestXattrsOfLinks(t *testing.T) {
	const names = 2000
	entries := []agent.Entry{{Path: ".", Mode: dirMode, Inode: 1, Links: 2}}
	for i := range names {
		entries = append(entries, agent.Entry{Path: fmt.Sprintf("l%d", i), Mode: fileMode, Inode: 2,
			Links: names, Sum: sha256.Sum256(nil)})
	}
	entries = append(entries, agent.Entry{Path: "m", Mode: fileMode, Inode: 2, Links: 1,
		Sum: sha256.Sum256(nil)})
	reads := 0
	do := func(ops ...agent.Op) (out []agent.Result, err error) {
		for _, o := range ops {
			r := agent.Result{Data: []byte("user.a\x00")}
			switch o.Code {
			case agent.Tree("").Code:
				r.Data = agent.EncodeTree(entries)
			case agent.Getxattr("", "").Code:
				r.Data = []byte("1")
			default:
				reads++
			}
			out = append(out, r)
		}
		return out, nil
	}
	s, err := model.Look(do, "/m", model.New(posix))
	if err != nil {
		t.Fatal(err)
	}
	if reads != 3 {
		t.Errorf("the attributes of the root and of two files take %d reads", reads)
	}
	for _, p := range []string{"/", "/l0", "/l1999", "/m"} {
		if s.Xattrs(p)["user.a"] != "1" {
			t.Errorf("%s has the attributes %q", p, s.Xattrs(p))
		}
	}
}

// TestXattrsInBatches: one batch reads the attributes of a bounded number of files.
func TestXattrsInBatches(t *testing.T) {
	entries := []agent.Entry{{Path: ".", Mode: dirMode, Inode: 1, Links: 2}}
	for i := range 2000 {
		entries = append(entries, agent.Entry{Path: fmt.Sprintf("f%d", i), Mode: fileMode,
			Inode: uint64(i) + 2, Links: 1, Sum: sha256.Sum256(nil)})
	}
	do := func(ops ...agent.Op) (out []agent.Result, err error) {
		if len(ops) > 512 {
			t.Errorf("a batch has %d operations", len(ops))
		}
		for _, o := range ops {
			r := agent.Result{Data: []byte("user.a\x00")}
			if o.Code == agent.Tree("").Code {
				r.Data = agent.EncodeTree(entries)
			}
			out = append(out, r)
		}
		return out, nil
	}
	s, err := model.Look(do, "/m", model.New(posix))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"/f0", "/f1999"} {
		if s.Xattrs(p) == nil {
			t.Errorf("%s has no attributes", p)
		}
	}
}
