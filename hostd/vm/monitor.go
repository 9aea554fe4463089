//go:build cgo

package vm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"libvirt.org/go/libvirt"
)

const (
	jobPoll = time.Millisecond // time between two queries of a job
	jobName = "fsward-state-job"
)

// monitor sends commands of QMP to the QEMU of a domain, for which libvirt has no calls.
type monitor struct{ dom *libvirt.Domain }

// job starts a job of QEMU and waits for its end.
func (m monitor) job(ctx context.Context, command string, args map[string]any) error {
	if err := m.command(command, args, nil); err != nil {
		return err
	}
	tick := time.NewTicker(jobPoll)
	defer tick.Stop()
	for {
		var jobs []struct{ ID, Status, Error string }
		if err := m.command("query-jobs", nil, &jobs); err != nil {
			return err
		}
		for _, j := range jobs {
			if j.ID != jobName || j.Status != "concluded" {
				continue
			}
			err := m.command("job-dismiss", map[string]any{"id": jobName}, nil)
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

// command sends QEMU a command and decodes the answer, unless answer is nil.
func (m monitor) command(name string, args map[string]any, answer any) error {
	request := map[string]any{"execute": name}
	if args != nil {
		request["arguments"] = args
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	reply, err := m.dom.QemuMonitorCommand(string(text), libvirt.DOMAIN_QEMU_MONITOR_COMMAND_DEFAULT)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var r struct {
		Return json.RawMessage `json:"return"`
		Error  *struct {
			Desc string `json:"desc"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(reply), &r); err != nil {
		return fmt.Errorf("%s: QEMU answers %.200q: %w", name, reply, err)
	}
	if r.Error != nil {
		return fmt.Errorf("%s: %s", name, r.Error.Desc)
	}
	if answer != nil {
		return json.Unmarshal(r.Return, answer)
	}
	return nil
}
