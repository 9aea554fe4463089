//go:build cgo

package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"libvirt.org/go/libvirt"
)

// States of a guest's memory and devices are internal snapshots of a qcow2 image that no device
// uses: decision 29. QEMU writes them with snapshot-save and loads them into the same process with
// snapshot-load. The disks belong to their servers and are not part of a state.

const (
	stateNode    = "fsward-state"   // node-name of the image
	stateDisk    = 1 << 20          // its virtual size, bytes; the states lie beyond
	stateCluster = 2 << 20          // bytes: the largest possible, since states are large
	jobPoll      = time.Millisecond // time between two queries of a job
	jobName      = "fsward-state-job"
)

func (d *Domain) stateFile() string { return d.host.path(d.cfg.Name + ".state") }

// SaveState keeps the guest's memory and devices under a name that has no state yet. The guest must
// be suspended.
func (d *Domain) SaveState(ctx context.Context, name string) error {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	if !d.stateReady {
		if err := d.makeStates(ctx); err != nil {
			return fmt.Errorf("cannot make the image for states of %s: %w", d.cfg.Name, err)
		}
		d.stateReady = true
	}
	return d.stateJob(ctx, "snapshot-save", name, map[string]any{"vmstate": stateNode})
}

// LoadState puts the guest back to a saved state. The guest must be suspended, and stays so.
func (d *Domain) LoadState(ctx context.Context, name string) error {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	return d.stateJob(ctx, "snapshot-load", name, map[string]any{"vmstate": stateNode})
}

// DropState deletes a state.
func (d *Domain) DropState(ctx context.Context, name string) error {
	d.stateMu.Lock()
	defer d.stateMu.Unlock()
	return d.stateJob(ctx, "snapshot-delete", name, nil)
}

func (d *Domain) stateJob(ctx context.Context, command, name string, more map[string]any) error {
	args := map[string]any{"job-id": jobName, "tag": name, "devices": []string{stateNode}}
	for k, v := range more {
		args[k] = v
	}
	if err := d.job(ctx, command, args); err != nil {
		return fmt.Errorf("%s of state %s of the guest %s: %w", command, name, d.cfg.Name, err)
	}
	return nil
}

// makeStates makes the image. Its contents are gone with the guest, so they are never flushed.
func (d *Domain) makeStates(ctx context.Context) error {
	if err := os.Remove(d.stateFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	noFlush := map[string]any{"no-flush": true}
	file := map[string]any{"driver": "file", "filename": d.stateFile(),
		"node-name": stateNode + "-file", "cache": noFlush}
	create := func(options map[string]any) error {
		return d.job(ctx, "blockdev-create", map[string]any{"job-id": jobName, "options": options})
	}
	if err := create(map[string]any{"driver": "file", "filename": d.stateFile(),
		"size": 0}); err != nil {
		return err
	}
	// QEMU loads a state by thousands of reads in sequence. The contents are in the page cache, where
	// io_uring answers at once; without it each read takes a trip to a thread and back. Not every host
	// has io_uring, or lets QEMU use it.
	file["aio"] = "io_uring"
	if err := d.monitor("blockdev-add", file, nil); err != nil {
		delete(file, "aio")
		if err := d.monitor("blockdev-add", file, nil); err != nil {
			return err
		}
	}
	if err := create(map[string]any{"driver": "qcow2", "file": stateNode + "-file", "size": stateDisk,
		"cluster-size": stateCluster}); err != nil {
		return err
	}
	return d.monitor("blockdev-add", map[string]any{"driver": "qcow2", "node-name": stateNode,
		"file": stateNode + "-file", "cache": noFlush}, nil)
}

// job starts a job of QEMU and waits for its end.
func (d *Domain) job(ctx context.Context, command string, args map[string]any) error {
	if err := d.monitor(command, args, nil); err != nil {
		return err
	}
	tick := time.NewTicker(jobPoll)
	defer tick.Stop()
	for {
		var jobs []struct{ ID, Status, Error string }
		if err := d.monitor("query-jobs", nil, &jobs); err != nil {
			return err
		}
		for _, j := range jobs {
			if j.ID != jobName || j.Status != "concluded" {
				continue
			}
			err := d.monitor("job-dismiss", map[string]any{"id": jobName}, nil)
			if j.Error != "" {
				err = errors.Join(errors.New(j.Error), err)
			}
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// monitor sends QEMU a command of QMP and decodes its answer. libvirt has no calls for these
// commands.
func (d *Domain) monitor(command string, args map[string]any, answer any) error {
	request := map[string]any{"execute": command}
	if args != nil {
		request["arguments"] = args
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply, err := d.dom.QemuMonitorCommand(string(text), libvirt.DOMAIN_QEMU_MONITOR_COMMAND_DEFAULT)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	var r struct {
		Return json.RawMessage `json:"return"`
		Error  *struct {
			Desc string `json:"desc"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil {
		return fmt.Errorf("%s: QEMU answers %.200q: %w", command, reply, err)
	}
	if r.Error != nil {
		return fmt.Errorf("%s: %s", command, r.Error.Desc)
	}
	if answer != nil {
		return json.Unmarshal(r.Return, answer)
	}
	return nil
}
