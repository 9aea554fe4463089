package guestcheck

// EndMark is the text of the mark behind the last record that a check reads.
const EndMark = "check end"

// Read takes records from next in the background, until that fails or end says of one that it is the last, and gives those before to see. The
// error is that of next, or else the first one of see: after it the log is read on, lest it be full.
func Read[R any](next func() (R, error), end func(R) bool, see func(R) error) <-chan error {
	read := make(chan error, 1)
	go func() {
		var seen error
		for {
			rec, err := next()
			if err != nil {
				read <- err
				return
			}
			if end(rec) {
				read <- seen
				return
			}
			if seen == nil {
				seen = see(rec)
			}
		}
	}()
	return read
}
