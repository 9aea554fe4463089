package guard

import (
	"fmt"

	"go.uber.org/zap"

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
		g.device.Record(d.recording.Recorder(i))
	}
	d.recording.Start(d.recordingFailed)
	return nil
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
