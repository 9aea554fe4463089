package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
)

// throughLoop runs a stage in the host's own kernel, through loop devices. It returns the time from
// the mount to the unmount.
func (r Run) throughLoop(ctx context.Context, st Stage, devices []*blocktap.Device,
	log *zap.Logger) (took time.Duration, err error) {
	isMember, first, err := r.members(devices)
	if err != nil {
		return 0, err
	}
	var loops []*loopmount.Loop
	var names []string
	options := slices.Clone(r.Mount)
	for i, device := range devices {
		m, failed := loopmount.Attach(ctx, device, log)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		m.Timeout = 5 * time.Minute
		loops, names = append(loops, m), append(names, m.LoopDev)
		if i != first && isMember[i] {
			options = append(options, "device="+m.LoopDev)
		}
	}
	m := loops[first]
	defer func() { err = errors.Join(err, m.Unmount()) }() // before any loop device closes
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	env := fmt.Sprintf("export DISKS='%s' FIRST=%s\n", strings.Join(names, " "), names[first])
	start := time.Now()
	if st.Script != "" {
		if err := m.Mount(r.mountType(), append(options, "noatime")...); err != nil {
			return 0, err
		}
		start = time.Now()
		pull := time.AfterFunc(cmp.Or(st.Cut, 2*r.Timeout), func() {
			for _, l := range loops {
				l.Cut()
			}
			for _, l := range loops {
				_ = l.Abort() // Close reports the error again
			}
		})
		out, err := m.Run(limited, env+st.Script)
		if !pull.Stop() {
			return time.Since(start), nil
		}
		if err != nil {
			return 0, fmt.Errorf("the load: %w: %s", err, out)
		}
		if err := m.Unmount(); err != nil {
			return 0, err
		}
	}
	took = time.Since(start)
	if st.Offline != "" {
		if out, err := m.Shell(limited, env+st.Offline); err != nil {
			return took, fmt.Errorf("unmounted: %w: %s", err, out)
		}
	}
	return took, nil
}
