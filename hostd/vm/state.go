//go:build cgo

package vm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

const (
	stateNode    = "fsward-state" // node-name of the image
	stateDisk    = 1 << 20        // its virtual size, bytes; the states lie beyond
	stateCluster = 2 << 20        // bytes: the largest possible, since states are large
)

// SaveState keeps the guest's memory and devices under a name that has no state yet. The guest must
// be suspended.
func (d *Domain) SaveState(ctx context.Context, name string) error {
	return d.states.save(ctx, name)
}

// LoadState puts the guest back to a saved state. The guest must be suspended, and stays so.
func (d *Domain) LoadState(ctx context.Context, name string) error {
	return d.states.load(ctx, name)
}

// DropState deletes a state.
func (d *Domain) DropState(ctx context.Context, name string) error {
	return d.states.drop(ctx, name)
}

// stateStore keeps states of a guest's memory and devices. They are internal snapshots of a qcow2
// image that no device uses: decision 29. QEMU writes them with snapshot-save and loads them into
// the same process with snapshot-load. The disks belong to their servers and are not part of a
// state.
type stateStore struct {
	monitor monitor
	guest   string // name of the guest
	path    string // file of the image

	mu    sync.Mutex // held during each job, because all jobs have the same name
	ready bool       // the image exists
}

func (s *stateStore) save(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ready {
		if err := s.makeImage(ctx); err != nil {
			return fmt.Errorf("cannot make the image for states of %s: %w", s.guest, err)
		}
		s.ready = true
	}
	return s.job(ctx, "snapshot-save", name, map[string]any{"vmstate": stateNode})
}

func (s *stateStore) load(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.job(ctx, "snapshot-load", name, map[string]any{"vmstate": stateNode})
}

func (s *stateStore) drop(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.job(ctx, "snapshot-delete", name, nil)
}

// job runs a job of QEMU on the state with a name. The caller holds s.mu.
func (s *stateStore) job(ctx context.Context, command, name string, more map[string]any) error {
	args := map[string]any{"job-id": jobName, "tag": name, "devices": []string{stateNode}}
	for k, v := range more {
		args[k] = v
	}
	if err := s.monitor.job(ctx, command, args); err != nil {
		return fmt.Errorf("%s of state %s of the guest %s: %w", command, name, s.guest, err)
	}
	return nil
}

// makeImage makes the image. Its contents are gone with the guest, so they are never flushed.
func (s *stateStore) makeImage(ctx context.Context) error {
	if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	noFlush := map[string]any{"no-flush": true}
	file := map[string]any{"driver": "file", "filename": s.path,
		"node-name": stateNode + "-file", "cache": noFlush}
	create := func(options map[string]any) error {
		return s.monitor.job(ctx, "blockdev-create",
			map[string]any{"job-id": jobName, "options": options})
	}
	if err := create(map[string]any{"driver": "file", "filename": s.path, "size": 0}); err != nil {
		return err
	}
	// QEMU loads a state by thousands of reads in sequence. The contents are in the page cache, where
	// io_uring answers at once; without it each read takes a trip to a thread and back. Not every host
	// has io_uring, or lets QEMU use it.
	file["aio"] = "io_uring"
	if err := s.monitor.command("blockdev-add", file, nil); err != nil {
		delete(file, "aio")
		if err := s.monitor.command("blockdev-add", file, nil); err != nil {
			return err
		}
	}
	if err := create(map[string]any{"driver": "qcow2", "file": stateNode + "-file", "size": stateDisk,
		"cluster-size": stateCluster}); err != nil {
		return err
	}
	return s.monitor.command("blockdev-add", map[string]any{"driver": "qcow2", "node-name": stateNode,
		"file": stateNode + "-file", "cache": noFlush}, nil)
}
