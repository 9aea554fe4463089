//go:build vmtest

package vmrun

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
)

// attachedDomain is a persistent domain that prints what it does on its serial port.
const attachedDomain = `<domain type='qemu'><name>attached</name><memory unit='MiB'>512</memory>
<vcpu>1</vcpu><os><type arch='x86_64' machine='q35'>hvm</type><kernel>%[1]s/vmlinuz</kernel>
<initrd>%[1]s/initramfs.cpio.zst</initrd><cmdline>console=ttyS0 panic=-1 no_timer_check
fsward.btrfs=none fsward.ext3=root fsward.rounds=4</cmdline></os>
<features><acpi/><apic/></features><cpu mode='maximum' check='none'/>
<on_poweroff>destroy</on_poweroff><devices>
<controller type='usb' model='none'/><memballoon model='none'/>
<serial type='file'><source path='%[2]s/console'/><target port='0'/></serial>
<disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='%[2]s/root.img'/>
<target dev='vda' bus='virtio'/><serial>root</serial></disk></devices></domain>`

// attachedGuest is a domain that fsward attach has put behind a guard.
type attachedGuest struct {
	*testing.T
	ctx         context.Context
	dir, fsward string
	uri         string // of libvirt
}

// TestGuestAttached attaches a domain, starts it with the commands that fsward attach prints, kills
// the guard twice while the guest works, and detaches the domain.
func TestGuestAttached(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	g := &attachedGuest{T: t, ctx: ctx, dir: t.TempDir(), fsward: buildFsward(t)}
	host, err := vm.Connect(ctx, filepath.Join(g.dir, "run"),
		zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}()
	g.uri = host.URI()
	before := g.define(guardtest.BuildGuest(t))
	commands := g.attach()
	running := []*exec.Cmd{}
	for _, command := range commands {
		running = append(running, g.start(command))
	}
	g.virsh("start", "attached")
	for _, round := range []string{"synced ext3 1", "synced ext3 2"} {
		g.console(round)
		_ = running[0].Process.Kill()
		_ = running[0].Wait()
		running[0] = g.start(commands[0])
	}
	g.console("FSWARD: end 0")
	for g.virsh("domstate", "attached") != "shut off" {
		time.Sleep(100 * time.Millisecond)
	}
	text := g.console("")
	if strings.Contains(text, "I/O error") || strings.Contains(text, "readonly") {
		t.Errorf("the guest has seen an error:\n%s", text)
	}
	for _, cmd := range slices.Backward(running) { // the proxy before the guard
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended: %v", cmd, err)
		}
	}
	g.run(g.fsward, "detach", "attached", "--connect", g.uri)
	if after := g.virsh("dumpxml", "--inactive", "attached"); after != before {
		t.Errorf("the definition was\n%s\nand is\n%s", before, after)
	}
	g.virsh("undefine", "attached")
	guardtest.MustBeClean(t, "ext3", filepath.Join(g.dir, "root.img"))
}

// define defines the domain and returns its definition.
func (g *attachedGuest) define(guestDir string) string {
	g.Helper()
	guardtest.Run(g.T, "truncate", "-s", "256M", filepath.Join(g.dir, "root.img"))
	file := filepath.Join(g.dir, "domain.xml")
	text := fmt.Sprintf(attachedDomain, guestDir, g.dir)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		g.Fatal(err)
	}
	g.virsh("define", file)
	return g.virsh("dumpxml", "--inactive", "attached")
}

// attach attaches the domain, and returns the commands to start.
func (g *attachedGuest) attach() (commands []string) {
	g.Helper()
	out := g.run(g.fsward, "attach", "attached", "--connect", g.uri, "--socket",
		"unix:"+filepath.Join(g.dir, "vm.sock"))
	g.Log(out)
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "fsward "); ok {
			commands = append(commands, "exec "+g.fsward+" "+strings.TrimSpace(rest))
		}
	}
	if len(commands) == 0 {
		g.Fatal("attach prints no command")
	}
	return commands
}

// start starts a command that attach has printed, and waits for its socket.
func (g *attachedGuest) start(command string) *exec.Cmd {
	g.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	_, after, _ := strings.Cut(command, "--listen unix:")
	socket, _, _ := strings.Cut(after, " ")
	for range 500 {
		// The socket of a killed guard is still there.
		if nc, err := net.Dial("unix", socket); err == nil {
			_ = nc.Close()
			return cmd
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.Fatalf("%s does not listen at %q", command, socket)
	return nil
}

// console waits until the guest has printed a text, and returns all that it has printed.
func (g *attachedGuest) console(want string) string {
	g.Helper()
	for g.ctx.Err() == nil {
		text, err := os.ReadFile(filepath.Join(g.dir, "console"))
		if err == nil && strings.Contains(string(text), want) {
			return string(text)
		}
		time.Sleep(20 * time.Millisecond)
	}
	g.Fatalf("the guest does not print %q", want)
	return ""
}

func (g *attachedGuest) virsh(args ...string) string {
	g.Helper()
	return strings.TrimSpace(g.run("virsh", append([]string{"--connect", g.uri}, args...)...))
}

// run runs a program that has to succeed, and returns what it prints.
func (g *attachedGuest) run(name string, args ...string) string {
	g.Helper()
	out, err := exec.CommandContext(g.ctx, name, args...).CombinedOutput()
	if err != nil {
		g.Fatalf("%s %s: %v %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
