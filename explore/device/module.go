package device

import (
	"os"

	"golang.org/x/sys/unix"
)

// Module is what the kernel modules of this project have in common.
type Module struct {
	Name  string // of the module and of its control device in /dev; the log device has "_log" behind it
	ABI   uint32 // version of the interface that the caller speaks
	Hello uint32 // the command whose answer begins with the version that the module speaks
	Mark  uint32 // the command that puts a text into the log
}

// Open opens the control device of a loaded module. A module that speaks another version of the ABI is an error.
func (m *Module) Open() (*Control, error) { return open("/dev/"+m.Name, m) }

// OpenLog opens the log. One process at a time can have it open, others get EBUSY. A read waits for records; the file's
// deadlines and Close end it.
func (m *Module) OpenLog() (*os.File, error) {
	return os.OpenFile("/dev/"+m.Name+"_log", os.O_RDONLY|unix.O_NONBLOCK, 0)
}
