package hostd

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/interp/detect"
)

// Try performs requests on a disk through the flow of a guard that refuses, and returns the first event
// that does not hold; nil if all do. Requests after that one are not performed.
func Try(ctx context.Context, disk blocktap.Disk, fs string, rules *Rules, requests []blocktap.Request) (*Event, error) {
	interpreter, err := detect.Follow(disk, fs)
	if err != nil {
		return nil, err
	}
	var found firstFault
	guard := &Guard{interp: interpreter, rules: rules, policy: refusePolicy{}, sinks: []Sink{&found}, log: zap.NewNop()}
	device := blocktap.NewDevice(disk, guard)
	for i := range requests {
		err := device.Do(ctx, &requests[i])
		if found.event != nil {
			return found.event, nil
		}
		if err != nil && !errors.Is(err, blocktap.ErrRefused) {
			return nil, err
		}
	}
	return nil, nil
}

// firstFault is a Sink that keeps the first event that does not hold.
type firstFault struct{ event *Event }

func (f *firstFault) Event(ev *Event) {
	if f.event == nil && ev.Outcome != change.Holds {
		f.event = ev
	}
}
