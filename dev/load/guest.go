package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse"
	"fsward/explore/uml"
)

// guestInit is the script of the guest's first process. It writes the output of the stage to the
// file "output" on the host; the last line is "ended STATUS".
const guestInit = `#!/bin/sh
export PATH='%[1]s' HOME=/root DISKS='%[2]s' FIRST=%[3]s
cd %[4]s
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev dev; mount --bind dev /dev
mkdir lib; ln -s %[5]s lib/modules; modprobe -d . quota_v2
mkdir -p /dev/shm; mount -t tmpfs shm /dev/shm; ln -s /proc/self/fd /dev/fd
(
set -e
%[6]s) > output 2>&1
status=$?
[ $status = 0 ] || dmesg | tail -n 30 >> output
echo "ended $status" >> output
echo o > /proc/sysrq-trigger
sleep 100
`

// inGuest runs a stage in user-mode Linux. It returns the time from the start of the guest to its
// end.
func (r Run) inGuest(ctx context.Context, st Stage, devices []*blocktap.Device,
	log *zap.Logger) (took time.Duration, err error) {
	isMember, first, err := r.members(devices)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "fsward-guest-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var files, names []string
	for i, device := range devices {
		shown := filepath.Join(dir, fmt.Sprintf("shown%d", i))
		if err := os.Mkdir(shown, 0o700); err != nil {
			return 0, err
		}
		server, failed := fuse.Mount(shown, device, log)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, server.Unmount()) }()
		files, names = append(files, server.Path()), append(names, fmt.Sprintf("/dev/ubd%c", 'a'+i))
	}
	for _, sub := range []string{"dev", "mnt"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return 0, err
		}
	}
	init, output := filepath.Join(dir, "init"), filepath.Join(dir, "output")
	text := fmt.Sprintf(guestInit, os.Getenv("PATH"), strings.Join(names, " "), names[first], dir,
		uml.Modules, r.guestScript(st, names, isMember))
	if err := os.WriteFile(init, []byte(text), 0o700); err != nil {
		return 0, err
	}
	cmd := r.Guest.Command(512, files, init)
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err = r.await(ctx, cmd, output, st.Cut)
	out, readErr := os.ReadFile(output)
	if err = errors.Join(err, readErr); err != nil {
		return 0, fmt.Errorf("user-mode Linux: %w: %s", err, out)
	}
	succeeded := strings.HasSuffix(string(out), "ended 0\n")
	// After a power cut there is no last line.
	if !succeeded && (st.Cut == 0 || strings.Contains(string(out), "\nended ")) {
		return 0, fmt.Errorf("in user-mode Linux: %s", out)
	}
	return time.Since(start), nil
}

// await waits until a guest has ended. It kills the guest for a power cut, when Run.Timeout has
// passed, or when ctx is done. The last two are errors.
func (r Run) await(ctx context.Context, cmd *exec.Cmd, output string, cut time.Duration) error {
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // the output has the status of the stage
	kill := func() {
		uml.Kill(cmd)
		<-ended
	}
	select {
	case <-ended:
	case <-powerCut(output, cut, ended):
		kill()
	case <-time.After(r.Timeout):
		kill()
		return fmt.Errorf("still running after %v", r.Timeout)
	case <-ctx.Done():
		kill()
		return ctx.Err()
	}
	return nil
}

// powerCut returns a channel that it closes the given time after the guest has mounted its file
// system. The channel is nil if after is 0.
func powerCut(output string, after time.Duration, ended <-chan struct{}) <-chan struct{} {
	if after == 0 {
		return nil
	}
	cut := make(chan struct{})
	go func() {
		for ; ; time.Sleep(50 * time.Millisecond) {
			// the first output is "mounted"
			if info, err := os.Stat(output); err == nil && info.Size() > 0 {
				time.Sleep(after)
				close(cut)
				return
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	return cut
}

// guestScript returns the script of a stage. It runs in the folder with the mount point mnt.
func (r Run) guestScript(st Stage, names []string, isMember []bool) string {
	var b strings.Builder
	if st.Script != "" {
		options := append([]string{"noatime"}, r.Mount...)
		if r.FS == "btrfs" {
			for i, name := range names {
				if isMember[i] {
					options = append(options, "device="+name)
				}
			}
		}
		fmt.Fprintf(&b, "mount -t %s -o %s $FIRST mnt; cd mnt; echo mounted\n%s\ncd ..; umount mnt\n",
			r.mountType(), strings.Join(options, ","), st.Script)
	}
	if st.Offline != "" {
		fmt.Fprintln(&b, st.Offline)
	}
	return b.String()
}
