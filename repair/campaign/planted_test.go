package campaign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The planted checkers below are programs with one known bug each, for a toy file system: a magic
// number, and two numbers that each stand twice, the second time inverted. They are this test's
// executable, started again.

const (
	toyMagic = 0x594f5421
	toyBytes = 1024
)

// toyImage returns a sound image.
func toyImage() []byte {
	b := make([]byte, toyBytes)
	le := binary.LittleEndian
	le.PutUint32(b, toyMagic)
	for i, v := range []uint32{12, 3456} {
		le.PutUint32(b[8+8*i:], v)
		le.PutUint32(b[12+8*i:], ^v)
	}
	return b
}

// planted runs a planted checker on an image, and returns its exit status. Mode save keeps the
// image in an undo file first.
func planted(bug, mode, path, undo string) int {
	switch bug {
	case "loses":
		return losesFile(mode, path)
	case "trusts":
		return trustsFirst(mode, path)
	case "lies":
		return 0
	}
	if mode == "undo" {
		return undoPlanted(path, undo)
	}
	b, err := os.ReadFile(path)
	if err != nil || len(b) < toyBytes || bug == "careless" && binary.LittleEndian.Uint32(b) == 0 {
		return 8
	}
	first, fixed := binary.LittleEndian.Uint32(b[8:]), bytes.Clone(b)
	wrong := repairToy(fixed, bug)
	switch {
	case bug == "crashes" && (first > 1<<30 || binary.LittleEndian.Uint32(b) == 0):
		fmt.Println("SIGSEGV") // as a program says that catches the signal itself
		return 139
	case bug == "varies" && wrong:
		fmt.Println(strings.Map(func(r rune) rune { return r - '0' + 'p' },
			fmt.Sprint(time.Now().UnixNano()))) // as from memory that was not set
		fmt.Println("SIGSEGV")
		return 139
	case bug == "hangs" && first > 1<<30:
		time.Sleep(time.Minute)
	case bug == "prints" && first > 1<<30:
		for {
			fmt.Println(strings.Repeat("error ", 1000))
		}
	case bug == "status" && wrong:
		return 77
	case bug == "disagrees" && mode == "check":
		return 0
	case bug == "sanitizer" && wrong:
		fmt.Println("==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1")
		return 1
	}
	if !wrong {
		return 0
	}
	if status, ok := misbehave(bug, mode, path, b); ok {
		return status
	}
	fmt.Println("a number and its inverse differ")
	if mode == "check" {
		return 4
	}
	if mode == "save" && saveUndo(undo, b, bug != "hasty") != nil {
		return 8
	}
	if write(path, b, fixed, bug == "careless") != nil {
		return 8
	}
	return 1
}

// misbehave does what a bug does with an image that is wrong, and returns the exit status, if the
// bug ends the run.
func misbehave(bug, mode, path string, b []byte) (status int, ok bool) {
	switch {
	case bug == "touches" && mode == "check": // a check that writes
		b[900]++
		return 4, os.WriteFile(path, b, 0o600) == nil
	case bug == "grows" && mode == "repair": // it raises its bound, and writes far beyond the end
		none := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		return 1, unix.Setrlimit(unix.RLIMIT_FSIZE, &none) == nil &&
			os.Truncate(path, toyBytes+spare+512) == nil
	case bug == "pretends" && mode == "repair": // it says that it corrected what it left
		return 1, true
	case bug == "gives up" && mode == "repair": // it corrects, and says that it could not
		return 4, os.WriteFile(path, toyImage(), 0o600) == nil
	}
	return 0, false
}

// saveUndo writes an undo file: the image, twice. A checker that is in a hurry does not wait until
// it is durable.
func saveUndo(undo string, b []byte, wait bool) error {
	f, err := os.OpenFile(undo, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(bytes.Repeat(b, 2))
	if wait {
		err = errors.Join(err, f.Sync())
	}
	return errors.Join(err, f.Close())
}

// undoPlanted restores an image from an undo file whose copies agree.
func undoPlanted(path, undo string) int {
	b, err := os.ReadFile(undo)
	if err != nil || len(b) < 2*toyBytes || !bytes.Equal(b[:toyBytes], b[toyBytes:2*toyBytes]) ||
		os.WriteFile(path, b[:toyBytes], 0o600) != nil {
		return 4
	}
	return 0
}

// write writes the repaired image. A careless checker clears the magic number before it begins,
// and refuses to repair an image without one.
func write(path string, b, fixed []byte, careless bool) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if careless {
		_, err = f.WriteAt(make([]byte, 4), 0)
		err = errors.Join(err, f.Sync())
	}
	for at := 0; at < len(fixed); at += 512 {
		if careless || !bytes.Equal(b[at:at+512], fixed[at:at+512]) {
			_, wrote := f.WriteAt(fixed[at:at+512], int64(at))
			err = errors.Join(err, wrote)
		}
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// repairToy repairs an image as far as the bug lets it. It reports whether something was wrong.
func repairToy(b []byte, bug string) (wrong bool) {
	le := binary.LittleEndian
	if le.Uint32(b) != toyMagic {
		le.PutUint32(b, toyMagic)
		wrong = true
	}
	for at := 8; at < 24; at += 8 {
		v, inverse := le.Uint32(b[at:]), le.Uint32(b[at+4:])
		if v == ^inverse {
			continue
		}
		wrong = true
		switch bug {
		case "twice": // one half in each run
			if uint16(v) != uint16(^inverse) {
				le.PutUint16(b[at+4:], ^uint16(v))
			} else {
				le.PutUint32(b[at+4:], ^v)
			}
		case "cycles": // each run undoes the one before
			le.PutUint32(b[at:], ^v)
			le.PutUint32(b[at+4:], ^inverse)
		default:
			le.PutUint32(b[at+4:], ^v)
		}
	}
	return wrong
}

// losesFile repairs Minix by fsck.minix, and then clears a file that has nothing to do with it.
func losesFile(mode, path string) int {
	argv := []string{"-f", "-a", path}
	if mode == "check" {
		argv = []string{"-f", path}
	}
	cmd := exec.Command("/usr/sbin/fsck.minix", argv...)
	cmd.Stdout = os.Stdout
	_ = cmd.Run()
	status := cmd.ProcessState.ExitCode()
	if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil && status == 3 {
		const data = 200 << 10 // within /f
		_, _ = f.WriteAt(make([]byte, 1024), data)
		_ = f.Close()
	}
	return status
}

// plantedAdapter returns the description of a planted checker.
func plantedAdapter(bug, fs string) (string, error) {
	self, err := os.Executable()
	bound := time.Minute // the machine may be busy
	if bug == "hangs" {
		bound = time.Second
	}
	return fmt.Sprintf(`program: planted
file_systems: [%s]
crash: '^SIGSEGV'
bounds: {time: %v, output: 65536, memory: 0}
repairs: [{name: repair, run: [%q, planted, %s, repair, "{image}"]}]
check: {name: check, run: [%q, planted, %s, check, "{image}"]}
undo:
  repair: [%q, planted, %s, save, "{image}", "{undo}"]
  run: [%q, planted, %s, undo, "{image}", "{undo}"]
statuses:
  - {is: [0], outcome: consistent}
  - {is: [1, 3], outcome: corrected}
  - {is: [4], outcome: left}
  - {is: [7], outcome: partly}
  - {is: [8], outcome: operational}
`, fs, bound, self, bug, self, bug, self, bug, self, bug), err
}

// trustsFirst makes the superblocks of XFS like the first one, and calls that a repair.
func trustsFirst(mode, path string) int {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < 512 {
		return 8
	}
	be := binary.BigEndian
	const dblocks = 8
	group := int(be.Uint32(b[84:])) * int(be.Uint32(b[4:]))
	differs := false
	for at := group; at > 0 && at+512 <= len(b); at += group {
		differs = differs || !bytes.Equal(b[dblocks:dblocks+8], b[at+dblocks:at+dblocks+8])
		copy(b[at+dblocks:], b[dblocks:dblocks+8])
	}
	switch {
	case !differs:
		return 0
	case mode == "check":
		return 4
	}
	if os.WriteFile(path, b, 0o600) != nil {
		return 8
	}
	return 1
}
