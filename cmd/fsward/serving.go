package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/sys/unix"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/output"
)

// serving is how a command that serves a guest's disks speaks: through queues, so that nobody who
// reads its reports or its log can stop or slow the guest.
type serving struct {
	reports *output.Queue
	logged  *output.Queue
	log     *zap.Logger
	sink    guard.Sink
}

// reportOptions say how a command speaks.
type reportOptions struct {
	json, verbose bool
	limit         string // bound of the reports that wait, BYTES
	guest         string // name of the guest; "" if it is not known
}

func (o *reportOptions) addLimit(c *cobra.Command) {
	c.Flags().StringVar(&o.limit, "report-queue", "4M",
		"keep at most `BYTES` of reports that the reader of stdout has not taken, and drop others")
}

// serve opens the queues. Signals that the readers of stdout and stderr cause no longer end or stop
// the process.
func (o *reportOptions) serve() (*serving, error) {
	limit, err := parseBytes(o.limit)
	if err == nil && (limit < output.MinBytes || limit > 1<<30) {
		err = fmt.Errorf("%s is not between %d KiB and 1 GiB", o.limit, output.MinBytes>>10)
	}
	if err != nil {
		return nil, fmt.Errorf("--report-queue: %w", err)
	}
	outliveReaders()
	s := &serving{}
	if o.json {
		report := guard.NewJSONReport(os.Stdout, o.guest)
		s.reports = output.NewQueue("reports", os.Stdout, int(limit), report.Dropped)
		s.sink = guard.NewJSONReport(s.reports, o.guest)
	} else {
		s.reports = output.NewQueue("reports", os.Stdout, int(limit), output.TextNotice("reports"))
		s.sink = guard.NewTextReport(s.reports)
	}
	s.logged = output.NewQueue("log", os.Stderr, 0, output.TextNotice("lines of the log"))
	s.log = newLogOn(s.logged, o.verbose)
	return s, nil
}

// queues lists the queues, for the status.
func (s *serving) queues() []*output.Queue { return []*output.Queue{s.reports, s.logged} }

// end waits for the readers for a bounded time, and returns err. If err is nil and something was
// dropped, it returns the outcome undecided.
func (s *serving) end(err error) error {
	told := s.reports.Close(output.Patience)
	if told.Dropped > 0 {
		s.log.Warn("the reader of stdout did not take all reports", zap.Uint64("reports", told.Messages),
			zap.Uint64("dropped", told.Dropped))
	}
	logged := s.logged.Close(output.Patience)
	if err == nil && told.Dropped+logged.Dropped > 0 {
		return outcome(change.Undecided)
	}
	return err
}

// outliveReaders lets the process outlive the readers of stdout and stderr. Writing to a pipe
// without a reader fails with EPIPE instead of ending the process. Writing to a terminal from the
// background does not stop it, whatever `stty tostop` says. SIGPIPE is caught and not ignored, so
// that programs that fsward starts have its default.
func outliveReaders() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	signal.Ignore(unix.SIGTTOU)
}

// complain prints an error on stderr, and waits a second at most for its reader.
func complain(format string, args ...any) {
	q := output.NewQueue("error", os.Stderr, 0, output.TextNotice("errors"))
	fmt.Fprintf(q, format, args...)
	q.Close(time.Second)
}

// newLogOn returns a logger that writes for people.
func newLogOn(w io.Writer, verbose bool) *zap.Logger {
	enc := zap.NewDevelopmentEncoderConfig()
	enc.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
	enc.EncodeCaller, enc.CallerKey = nil, zapcore.OmitKey
	level := zapcore.InfoLevel
	if verbose {
		level = zapcore.DebugLevel
	}
	sink := zapcore.Lock(zapcore.AddSync(w))
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(enc), sink, level))
}
