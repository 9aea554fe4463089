package model

import (
	"bytes"
	"crypto/sha256"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A mapping of the last page of a file can write behind the end of the file. "The system shall
// never write out any modified portions of the last page of an object which are beyond its end"
// (POSIX, mmap), and a file that grows "reads as null bytes" there (truncate(2)). But "the effect
// of changing the size of the underlying file of a mapping on the pages that correspond to added or
// removed regions of the file is unspecified" (mmap(2)). Linux 6.1 shows these bytes in ext4, and
// in XFS after fallocate(2). So the content of the model does not change, and the bytes are a
// surprise.

// mmaptail performs Mmaptail, as agent.Mmaptail does.
func (n *inode) mmaptail(s *file, o Op, now int) unix.Errno {
	if n.kind != File {
		return unix.ENODEV
	}
	size := n.data.now().size
	within := size % Block
	switch {
	case o.Len == 0 || o.Len > agent.MaxData:
		return unix.EINVAL
	case within == 0 || within+o.Len > Block:
		return unix.EFAULT
	case !s.readable() || !s.writable():
		return unix.EACCES
	}
	n.touch(now, anyTime)
	n.tails = append(n.tails, part{size, size + o.Len, o.Seed, size})
	return 0
}

// withoutTails returns an observed file with zeros in place of what mappings have written behind
// its end, or nil if there is nothing of it.
func (n *inode) withoutTails(here *node) *node {
	if !here.complete {
		return nil
	}
	var masked *node
	for _, p := range n.tails {
		end := min(p.end, here.Size)
		if p.off >= end {
			continue
		}
		want := make([]byte, end-p.off)
		agent.Pattern(want, p.at, p.seed)
		if !bytes.Equal(here.data[p.off:end], want) {
			continue
		}
		if masked == nil {
			one := *here
			masked = &one
			masked.data = bytes.Clone(here.data)
		}
		clear(masked.data[p.off:end])
	}
	if masked != nil {
		masked.Sum = sha256.Sum256(masked.data)
	}
	return masked
}
