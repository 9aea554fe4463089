package guard

import (
	"fmt"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/recording"
)

// RecordPath returns the path of the log of a disk.
func RecordPath(cfg Config, disk string) string { return pathOf(cfg, cfg.Record, disk) }

// pathOf returns the path of a file of a disk: the name of the disk is appended if there are
// several.
func pathOf(cfg Config, path, disk string) string {
	if len(cfg.Disks) == 1 || path == "" {
		return path
	}
	return path + "." + disk
}

// record begins the recording of all disks, if there is to be one.
func (d *Disks) record() (err error) {
	if d.cfg.Record == "" {
		return nil
	}
	cfg := recording.Config{Limits: d.cfg.Recording}
	for _, g := range d.disks {
		cfg.Disks = append(cfg.Disks, recording.Disk{Log: RecordPath(d.cfg, g.name),
			Base: pathOf(d.cfg, d.cfg.RecordBase, g.name), Size: g.file.Size()})
	}
	if d.recording, err = recording.Create(cfg); err != nil {
		return fmt.Errorf("the recording: %w", err)
	}
	for i, g := range d.disks {
		var rec blocktap.Recorder = d.recording.Recorder(i)
		if g.sim != nil {
			rec = &simulatedRecorder{d.recording.Recorder(i), g.guard}
		}
		g.device.Record(rec)
	}
	d.recording.Start(d.recordingFailed)
	return nil
}

// A simulatedRecorder lets the Simulator of a disk change a write before it is recorded, so that
// the recording holds what the guard judges.
type simulatedRecorder struct {
	blocktap.UndoRecorder
	guard *Guard
}

// Log records a request as the guard will see it.
func (s *simulatedRecorder) Log(r *blocktap.Request) error {
	if r.Op != blocktap.OpFlush { // flushes come at any time, changes one at a time
		s.guard.simulate(r)
	}
	return s.UndoRecorder.Log(r)
}

// recordingFailed reports that the recording has stopped. The guest goes on.
func (d *Disks) recordingFailed(err error) {
	d.log.Error("the recording has failed and has stopped; the guest goes on", zap.Error(err))
	for _, g := range d.disks {
		g.guard.report(nil, &Event{Disk: g.name, Kind: KindRecording,
			Outcome: change.Holds, Err: err.Error(),
			Note: fmt.Sprintf("the recording has failed and has stopped; the guest goes on: %v", err)})
	}
}

// recordingOutcome returns Undecided if the recording has failed: the exit status says so.
func (d *Disks) recordingOutcome() change.Outcome {
	if d.recording.Err() != nil {
		return change.Undecided
	}
	return change.Holds
}

// Recording returns the state of the recording; nil if nothing is recorded.
func (d *Disks) Recording() *recording.Status { return d.recording.Status() }
