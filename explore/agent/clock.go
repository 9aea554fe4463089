package agent

import "golang.org/x/sys/unix"

// Clock reads the clock that the kernel takes the times of files from. Value is the time in ns
// since 1970.
func Clock() Op { return Op{Code: opClock} }

// clock performs Clock. File systems give a file the time of the last tick (current_time).
func clock() (uint64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &t); err != nil {
		return 0, err
	}
	return uint64(t.Nano()), nil
}
