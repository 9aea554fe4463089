package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// stopPatience is how long failStarted waits for a shell that is to stop itself.
const stopPatience = 10 * time.Second

// failingArgs returns the command line that runs a command with its Faults, if it has them. It is a
// shell that stops itself, so that its process can become a member of fsw_ekm before it does
// anything else. A shell line is run by that same shell.
func failingArgs(args []string) []string {
	const stop = "kill -STOP $$\n"
	if len(args) >= 3 && args[0] == "sh" && args[1] == "-c" {
		return slices.Concat([]string{"sh", "-c", stop + args[2]}, args[3:])
	}
	return append([]string{"sh", "-c", stop + `exec "$@"`, "sh"}, args...)
}

// failStarted waits until the process of failingArgs has stopped, makes it and its descendants
// members of fsw_ekm, and lets it go on.
func (f *failing) failStarted(pid int) error {
	if err := awaitStop(pid); err != nil {
		return err
	}
	f.member = uint32(pid)
	return errors.Join(f.ctl.AddTree(f.member), unix.Kill(pid, unix.SIGCONT))
}

// awaitStop waits until a child has stopped itself.
func awaitStop(pid int) error {
	for end := time.Now().Add(stopPatience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
		if err != nil {
			return fmt.Errorf("waiting for the command to stop: %w", err)
		}
		if info.Signo != 0 {
			return nil
		}
	}
	return errors.New("the command did not stop before its first step")
}
