package device

import (
	"os"

	"golang.org/x/sys/unix"
)

// Module describes a kernel module of this project.
type Module struct {
	Name  string // of the module and of its control device in /dev; the log device is Name_log
	ABI   uint32 // version of the interface that the caller uses
	Hello uint32 // the command whose answer begins with the module's version of the interface
	Mark  uint32 // the command that puts a text into the log
}

// Open opens the control device of a loaded module. It fails if the module has another version of
// the ABI.
func (m *Module) Open() (*Control, error) { return open("/dev/"+m.Name, m) }

// OpenLog opens the log. Only one process can have it open; for others OpenLog fails with EBUSY. A
// read waits for records, until a deadline of the file or until Close.
func (m *Module) OpenLog() (*os.File, error) {
	return os.OpenFile("/dev/"+m.Name+"_log", os.O_RDONLY|unix.O_NONBLOCK, 0)
}
