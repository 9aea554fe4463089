package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"fsward/explore"
)

// Bounds of the picture, in its own units.
const (
	width    = 960
	left     = 64 // of the lanes: room for their names
	right    = 8
	lane     = 84 // of one disk
	foot     = 30 // below the lanes, for what stands at marks and at the crash
	least    = 3  // width and height of a write
	maxTicks = 400
)

// A pictured is a Tick as it is drawn and listed.
type pictured struct {
	explore.Tick
	Fate string // of a write or a flush: "on the disk", "lost" or "after the crash"
}

// picture is the last step that led to an error: its writes, its flushes, and the crash.
type picture struct {
	Ticks []pictured // the last ones
	Left  int        // how many more there were
	crash int        // index in Ticks of the first one after the crash
}

func pictureOf(e explore.Error, ticks []explore.Tick) *picture {
	if e.Crash == nil || len(ticks) == 0 {
		return nil
	}
	p := &picture{Left: max(0, len(ticks)-maxTicks)}
	for _, t := range ticks[p.Left:] {
		fate := "on the disk"
		switch {
		case t.Record > e.Crash.After:
			fate = "after the crash"
		case slices.Contains(e.Crash.Missing, t.Bio) && t.What == "write":
			fate = "lost"
		}
		if fate != "after the crash" {
			p.crash = len(p.Ticks) + 1
		}
		p.Ticks = append(p.Ticks, pictured{t, fate})
	}
	return p
}

// What names a tick.
func (t pictured) Name() string {
	switch t.What {
	case "write":
		return fmt.Sprintf("write of %d sectors at %d, disk %d: %s", t.Sectors, t.Sector, t.Disk, t.Fate)
	case "flush":
		return fmt.Sprintf("flush, disk %d", t.Disk)
	}
	return "mark: " + t.What
}

var classes = map[string]string{"on the disk": "kept", "lost": "lost", "after the crash": "later"}

// SVG draws it: to the right what came later, a lane for each disk, in it the sectors downwards.
func (p *picture) SVG() template.HTML {
	var disks []uint32
	end := make(map[uint32]uint64)
	for _, t := range p.Ticks {
		if t.What != "write" && t.What != "flush" {
			continue
		}
		if !slices.Contains(disks, t.Disk) {
			disks = append(disks, t.Disk)
		}
		end[t.Disk] = max(end[t.Disk], t.Sector+t.Sectors)
	}
	slices.Sort(disks)
	step := float64(width-left-right) / float64(len(p.Ticks)+1)
	x := func(i int) float64 { return left + step*(float64(i)+0.5) }
	top := func(disk uint32) float64 { return float64(lane * slices.Index(disks, disk)) }
	bottom := lane * len(disks)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="writes, flushes and the crash">`, width, bottom+foot)
	for _, d := range disks {
		fmt.Fprintf(&b, `<rect class="lane" x="%d" y="%.0f" width="%d" height="%d"/><text x="4" y="%.0f">disk %d</text><text x="4" y="%.0f">sector 0</text><text x="4" y="%.0f">%d</text>`,
			left, top(d)+2, width-left-right, lane-4, top(d)+lane/2, d, top(d)+12, top(d)+lane-6, end[d])
	}
	for i, t := range p.Ticks {
		y := func(sector uint64) float64 {
			return top(t.Disk) + 4 + float64(lane-8-least)*float64(sector)/float64(max(end[t.Disk], 1))
		}
		title := template.HTMLEscapeString(t.Name())
		switch t.What {
		case "write":
			fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s</title></rect>`, classes[t.Fate], x(i)-min(step*0.4, 10), y(t.Sector),
				min(max(step*0.8, least), 20), max(y(t.Sector+t.Sectors)-y(t.Sector), least), title)
		case "flush":
			fmt.Fprintf(&b, `<line class="flush" x1="%.1f" x2="%.1[1]f" y1="%.0f" y2="%.0f"><title>%s</title></line>`, x(i), top(t.Disk)+2, top(t.Disk)+lane-2, title)
		default:
			fmt.Fprintf(&b, `<line class="mark" x1="%.1f" x2="%.1[1]f" y1="0" y2="%d"><title>%s</title></line>`, x(i), bottom, title)
		}
	}
	at := x(p.crash) - step/2
	anchor := "middle"
	if at > width-40 {
		anchor = "end"
	}
	fmt.Fprintf(&b, `<line class="crash" x1="%.1f" x2="%.1[1]f" y1="0" y2="%d"/><text class="crash" text-anchor="%s" x="%.1[1]f" y="%d">crash</text></svg>`, at, bottom+8, anchor, bottom+24)
	return template.HTML(b.String()) //nolint:gosec // made here of numbers and of escaped text
}
