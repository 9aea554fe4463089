package vm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// daemon is a private libvirtd.
//
// The paths of root's libvirtd are compiled in (/etc/libvirt, /var/lib/libvirt, …). So it runs in a
// mount namespace of its own, in which they are folders of the run directory: the host's
// configuration is neither read nor changed. For other users libvirt takes the paths from XDG_*.
type daemon struct {
	uri       string
	logFile   string
	guestLogs string // folder
	cmd       *exec.Cmd
	exited    chan struct{} // closed when the process is gone
	made      string        // file that lists the folders made on the host as mount points
}

// hostFolders are the compiled-in paths of root's libvirtd, and their places in the run directory.
var hostFolders = []struct{ own, host string }{
	{"etc", "/etc/libvirt"},
	{"run", "/run/libvirt"},
	{"lib", "/var/lib/libvirt"},
	{"cache", "/var/cache/libvirt"},
	{"log", "/var/log/libvirt"},
}

// qemuUser is a system user that Debian's libvirtd looks up before it reads its configuration.
const qemuUser = "libvirt-qemu"

// quitAfter is the number of seconds without clients and domains after which libvirtd ends by
// itself. If we are killed, libvirtd destroys our domains when our connection closes, and then
// ends.
const quitAfter = "10"

// startScript covers the compiled-in paths and becomes libvirtd. Its arguments are the folder and
// then the command. Mounts of the host are copied into the new namespace, and stay in use there
// after the host has unmounted them, unless they are shared (then --propagation slave removes
// them). The libvirtd needs none of fsward's own mounts, so they are unmounted at once.
const startScript = `dir=$1; shift
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || exit 9 ;; esac
done < /proc/self/mounts
while [ "$1" != -- ]; do mount --bind "$dir/$1" "$2" || exit 9; shift 2; done
shift
exec "$@"`

const qemuConf = `stdio_handler = "file"
remember_owner = 0
`

// qemuConfRoot makes the guest run as root, who owns the sockets, with nothing that needs systemd,
// cgroups or a security module.
const qemuConfRoot = `user = "root"
group = "root"
security_driver = "none"
namespaces = []
cgroup_controllers = []
` + qemuConf

func daemonConf(logFile string) string {
	return fmt.Sprintf(`listen_tls = 0
listen_tcp = 0
auth_unix_ro = "none"
auth_unix_rw = "none"
unix_sock_ro_perms = "0700"
unix_sock_rw_perms = "0700"
log_outputs = "3:file:%s"
`, logFile)
}

// guestLog returns the file where libvirt keeps QEMU's output for a guest.
func (d *daemon) guestLog(name string) string {
	return filepath.Join(d.guestLogs, name+".log")
}

func pidFile(dir string) string    { return filepath.Join(dir, "libvirt", "pid") }
func configFile(dir string) string { return filepath.Join(dir, "libvirt", "libvirtd.conf") }

// connectTimeout bounds how long a libvirtd may take to answer the first time.
const connectTimeout = 30 * time.Second

// startDaemon starts a libvirtd and waits until its socket answers.
func startDaemon(ctx context.Context, runDir string, log *zap.Logger) (*daemon, error) {
	program, err := findProgram("libvirtd", "libvirt-daemon-system")
	if err != nil {
		return nil, fmt.Errorf("no libvirtd is running and none can be started: %w", err)
	}
	if _, err := findProgram("qemu-system-x86_64", "qemu-system-x86"); err != nil {
		return nil, err
	}
	dir := filepath.Join(runDir, "libvirt")
	root := os.Geteuid() == 0
	// libvirt makes sockets of its own below. The one of QEMU's monitor has the longest path.
	socket := filepath.Join(dir, "run", "libvirt-sock")
	if !root {
		socket = filepath.Join(dir, "run", "libvirt", "libvirt-sock")
		if err := checkSocketPath(filepath.Join(dir, "qemu", "lib", "domain-99-"+strings.Repeat("n", 20),
			"monitor.sock")); err != nil {
			return nil, err
		}
	}
	if err := checkSocketPath(socket); err != nil {
		return nil, err
	}
	d := &daemon{
		logFile:   filepath.Join(dir, "libvirtd.log"),
		guestLogs: filepath.Join(dir, "log", "qemu"),
		made:      filepath.Join(dir, "made"),
		exited:    make(chan struct{}),
	}
	if !root {
		d.guestLogs = filepath.Join(dir, "cache", "libvirt", "qemu", "log")
	}
	if err := writeConfig(runDir, root, d.logFile); err != nil {
		return nil, err
	}
	args := []string{program, "--config", configFile(runDir), "--pid-file", pidFile(runDir),
		"--timeout", quitAfter}
	if root {
		err = d.prepareRoot(dir, args)
		d.uri = "qemu+unix:///system?socket=" + socket
	} else {
		d.prepareUser(dir, args)
		d.uri = "qemu+unix:///session?socket=" + socket
	}
	if err != nil {
		d.removeMade()
		return nil, err
	}
	log.Info("no libvirtd is running: starting a private one", zap.String("folder", dir),
		zap.String("uri", d.uri))
	if err := d.start(ctx, dir, socket); err != nil {
		return nil, err
	}
	return d, nil
}

func writeConfig(runDir string, root bool, logFile string) error {
	dir := filepath.Join(runDir, "libvirt")
	for _, f := range hostFolders {
		if err := os.MkdirAll(filepath.Join(dir, f.own), 0o711); err != nil {
			return err
		}
	}
	conf, at := qemuConfRoot, filepath.Join(dir, "etc")
	if !root {
		conf, at = qemuConf, dir
	}
	return errors.Join(
		os.WriteFile(filepath.Join(at, "qemu.conf"), []byte(conf), 0o600),
		os.WriteFile(configFile(runDir), []byte(daemonConf(logFile)), 0o600))
}

func (d *daemon) prepareRoot(dir string, args []string) error {
	if _, err := user.Lookup(qemuUser); err != nil {
		return fmt.Errorf("libvirtd asks for the system user %s, which does not exist: "+
			"apt-get install libvirt-daemon-system, "+
			"or adduser --system --group --no-create-home %s", qemuUser, qemuUser)
	}
	unshare, err := findProgram("unshare", "util-linux")
	if err != nil {
		return err
	}
	line := []string{"--mount", "--propagation", "slave", "sh", "-c", startScript, "sh", dir}
	for _, f := range hostFolders {
		if err := d.mountPoint(f.host); err != nil {
			return fmt.Errorf("cannot make %s, which a private libvirtd needs as a mount point: %w", f.host,
				err)
		}
		line = append(line, f.own, f.host)
	}
	d.cmd = exec.Command(unshare, append(append(line, "--"), args...)...)
	return nil
}

// mountPoint makes a folder on the host if it does not exist. It notes that first, so that the next
// run removes the folder if we are killed.
func (d *daemon) mountPoint(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(d.made, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, path)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

// removeMade removes what mountPoint made here, in this run or in a killed one. A folder that
// somebody uses by now is not empty and stays.
func (d *daemon) removeMade() {
	list, err := os.ReadFile(d.made)
	if err != nil {
		return // nothing was made
	}
	for _, f := range hostFolders {
		if bytes.Contains(list, []byte(f.host+"\n")) {
			_ = os.Remove(f.host)
		}
	}
	_ = os.Remove(d.made)
}

func (d *daemon) prepareUser(dir string, args []string) {
	d.cmd = exec.Command(args[0], args[1:]...)
	d.cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+filepath.Join(dir, "run"),
		"XDG_CONFIG_HOME="+filepath.Dir(dir), // libvirt adds its own name
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "XDG_DATA_HOME="+filepath.Join(dir, "lib"))
}

// start runs the process and waits for the socket.
func (d *daemon) start(ctx context.Context, dir, socket string) error {
	out, err := os.Create(filepath.Join(dir, "libvirtd.out"))
	if err != nil {
		return err
	}
	defer out.Close()
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	d.cmd.Stdout, d.cmd.Stderr = out, out
	// Its own process group: Ctrl-C on the terminal reaches us, and we end it in order.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := d.cmd.Start(); err != nil {
		d.removeMade()
		return fmt.Errorf("cannot start libvirtd: %w", err)
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.exited)
	}()
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	for {
		if conn, err := net.Dial("unix", socket); err == nil {
			return conn.Close()
		}
		select {
		case <-d.exited:
			said, _ := os.ReadFile(out.Name())
			return errors.Join(fmt.Errorf("libvirtd ended at once (%s): %s; see %s", d.cmd.ProcessState,
				strings.TrimSpace(string(said)), d.logFile), d.stop())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("libvirtd does not answer at %s: %w; see %s and %s",
				socket, ctx.Err(), d.logFile, out.Name()), d.stop())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the process and removes what was made on the host.
func (d *daemon) stop() error {
	var err error
	select {
	case <-d.exited:
	default:
		err = d.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-d.exited:
		case <-time.After(15 * time.Second):
			err = errors.Join(fmt.Errorf("libvirtd (pid %d) did not end and was killed; see %s",
				d.cmd.Process.Pid, d.logFile),
				d.cmd.Process.Kill())
			<-d.exited
		}
	}
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	d.removeMade()
	return err
}

// endLeftover ends a libvirtd of this run directory whose fsward was killed. It ends the process in
// the pid file only if that is a libvirtd with our configuration.
func endLeftover(ctx context.Context, runDir string) error {
	text, err := os.ReadFile(pidFile(runDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return nil // half written: libvirtd was killed while it started
	}
	ours := func() bool {
		cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return err == nil && bytes.Contains(cmdline, []byte("libvirtd\x00")) &&
			bytes.Contains(cmdline, []byte("\x00"+configFile(runDir)+"\x00"))
	}
	if !ours() {
		return nil
	}
	if err := unix.Kill(pid, unix.SIGTERM); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("cannot end the libvirtd (pid %d) that an earlier run left in %s: %w", pid,
			runDir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for ours() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the libvirtd (pid %d) that an earlier run left in %s does not end: "+
				"end it, or choose another run directory", pid, runDir)
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}
