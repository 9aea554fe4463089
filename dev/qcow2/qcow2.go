// Command qcow2 measures what a guard costs a qcow2 image. It runs the same requests of fio through
// qemu-nbd and through a guard on the same image, alternately, and prints the ratio of their
// throughputs. The disk stays blank for the guard: the cost of checks is the subject of
// dev/overhead.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// size is the size of the disk. fio writes zeros, so that the disk stays blank.
const size = "512M"

// loads are what fio does, as its arguments.
var loads = []struct {
	name string
	args []string
}{
	{"4 KiB random writes, a flush after 32", []string{"--rw=randwrite", "--bs=4k", "--fsync=32"}},
	{"128 KiB sequential writes", []string{"--rw=write", "--bs=128k"}},
	{"4 KiB random reads", []string{"--rw=randread", "--bs=4k"}},
	{"128 KiB sequential reads", []string{"--rw=read", "--bs=128k"}},
}

func main() {
	rounds := flag.Int("rounds", 5, "`number` of pairs of runs for each load")
	seconds := flag.Int("seconds", 4, "`seconds` of a run")
	flag.Parse()
	if err := run(*rounds, *seconds); err != nil {
		fmt.Fprintln(os.Stderr, "qcow2:", err)
		os.Exit(1)
	}
}

func run(rounds, seconds int) error {
	dir, err := os.MkdirTemp("", "fsward-qcow2-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{image: filepath.Join(dir, "disk.qcow2"), socket: filepath.Join(dir, "nbd")}
	if err := command("qemu-img", "create", "-q", "-f", "qcow2", b.image, size); err != nil {
		return err
	}
	// Allocate all of it first: the runs are to do the same work.
	if err := b.through(qemuNBD, func() error {
		_, err := b.fio("--rw=write", "--bs=1M", "--size=100%")
		return err
	}); err != nil {
		return err
	}
	fmt.Printf("%-40s %12s %12s %8s\n", "fio through NBD, 16 requests at a time", "qemu-nbd", "guard",
		"ratio")
	for _, l := range loads {
		var speeds [2][]float64
		var ratios []float64
		for i := range rounds {
			var pair [2]float64
			for k := range 2 {
				which := server((i + k) % 2)
				err := b.through(which, func() (err error) {
					pair[which], err = b.fio(append(l.args, "--time_based",
						fmt.Sprintf("--runtime=%d", seconds))...)
					return err
				})
				if err != nil {
					return err
				}
				speeds[which] = append(speeds[which], pair[which])
			}
			ratios = append(ratios, pair[qemuNBD]/pair[guarded])
		}
		fmt.Printf("%-40s %8.1f MB/s %7.1f MB/s %8.2f\n", l.name, median(speeds[qemuNBD]),
			median(speeds[guarded]), median(ratios))
	}
	fmt.Println("ratio: time through the guard / time through qemu-nbd, median of the pairs")
	return nil
}

// A server is what stands between fio and the image.
type server int

const (
	qemuNBD server = iota
	guarded
)

type bench struct{ image, socket string }

// through serves the image while it calls load.
func (b *bench) through(which server, load func() error) error {
	if which == guarded {
		return b.guard(load)
	}
	cmd := exec.Command("qemu-nbd", "-t", "-f", "qcow2", "-x", "disk", "-k", b.socket,
		"--cache=writeback", "--discard=unmap", b.image)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	err := errors.Join(b.await(), load())
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // a signal ends it
	return err
}

func (b *bench) guard(load func() error) error {
	d, err := daemon.Open(daemon.Config{Config: guard.Config{
		Disks:    []guard.DiskSpec{{Name: "disk", Path: b.image}},
		FS:       detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Sinks:    []guard.Sink{guard.NewTextReport(io.Discard)},
	}}, zap.NewNop())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.Serve(ctx, daemon.TransportNBD, b.socket) }()
	err = errors.Join(b.await(), load())
	stop()
	return errors.Join(err, <-served, d.Close())
}

// await waits for the socket.
func (b *bench) await() error {
	for range 1000 {
		if _, err := os.Stat(b.socket); err == nil {
			time.Sleep(50 * time.Millisecond) // from the name to listen(2)
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("no server at " + b.socket)
}

// fio runs a load and returns its throughput in MB/s.
func (b *bench) fio(args ...string) (float64, error) {
	all := append([]string{"--name=load", "--ioengine=nbd", "--output-format=json", "--iodepth=16",
		"--uri=nbd+unix:///disk?socket=" + b.socket, "--offset=1M", "--randseed=1",
		"--zero_buffers"}, args...)
	cmd := exec.Command("fio", all...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("fio: %w: %s%s", err, stderr.String(), stdout.String())
	}
	var result struct {
		Jobs []struct {
			Read, Write struct {
				Bytes float64 `json:"bw_bytes"` // a second
			}
		}
	}
	_, text, _ := bytes.Cut(stdout.Bytes(), []byte("{")) // after a message without end of line
	if err := json.Unmarshal(append([]byte("{"), text...), &result); err != nil {
		return 0, fmt.Errorf("fio: %w: %s", err, stdout.String())
	}
	if len(result.Jobs) != 1 {
		return 0, fmt.Errorf("fio: %d jobs", len(result.Jobs))
	}
	return (result.Jobs[0].Read.Bytes + result.Jobs[0].Write.Bytes) / 1e6, nil
}

func command(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
