package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"fsward/explore"
)

// Dimensions of the picture, in units of its view box.
const (
	width    = 960
	left     = 64 // margin for the names of the lanes
	right    = 8  // margin
	lane     = 84 // height of the lane of a disk
	foot     = 30 // margin below the lanes, for the label of the crash
	least    = 3  // least width and height of a write
	maxTicks = 400
)

// The fates of a write or a flush.
const (
	onDisk     = "on the disk"
	lost       = "lost"
	afterCrash = "after the crash"
)

// fateClasses are the CSS classes of the fates.
var fateClasses = map[string]string{onDisk: "kept", lost: "lost", afterCrash: "later"}

// A drawnTick is a Tick with its fate.
type drawnTick struct {
	explore.Tick
	Fate string
}

// A picture has the writes and flushes of the last step that led to an error, and the crash.
type picture struct {
	Ticks []drawnTick // the last maxTicks
	Left  int         // number of earlier ticks that are left out
	crash int         // index in Ticks of the first tick after the crash
}

// pictureOf returns the picture of an error, or nil: there was no crash, or there are no ticks.
func pictureOf(e explore.Error, ticks []explore.Tick) *picture {
	if e.Crash == nil || len(ticks) == 0 {
		return nil
	}
	p := &picture{Left: max(0, len(ticks)-maxTicks)}
	for _, t := range ticks[p.Left:] {
		fate := onDisk
		switch {
		case t.Record > e.Crash.After:
			fate = afterCrash
		case slices.Contains(e.Crash.Missing, t.Bio) && t.What == "write":
			fate = lost
		}
		if fate != afterCrash {
			p.crash = len(p.Ticks) + 1
		}
		p.Ticks = append(p.Ticks, drawnTick{t, fate})
	}
	return p
}

// Name describes a tick.
func (t drawnTick) Name() string {
	switch t.What {
	case "write":
		return fmt.Sprintf("write of %d sectors at %d, disk %d: %s",
			t.Sectors, t.Sector, t.Disk, t.Fate)
	case "flush":
		return fmt.Sprintf("flush, disk %d", t.Disk)
	}
	return "mark: " + t.What
}

// SVG draws the picture. Time goes to the right. Each disk has a lane, with sector 0 at its top.
func (p *picture) SVG() template.HTML {
	l := p.layout()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" `+
		`aria-label="writes, flushes and the crash">`, width, l.bottom()+foot)
	for _, d := range l.disks {
		l.drawLane(&b, d)
	}
	for i, t := range p.Ticks {
		l.drawTick(&b, i, t)
	}
	l.drawCrash(&b, p.crash)
	return template.HTML(b.String()) //nolint:gosec // consists of numbers and escaped text
}

// A layout has the positions of a picture.
type layout struct {
	disks []uint32          // with a lane each, from the top
	end   map[uint32]uint64 // by disk: the end of its last write, in sectors
	step  float64           // width of a tick
}

// layout returns the layout of the picture.
func (p *picture) layout() layout {
	l := layout{
		end:  make(map[uint32]uint64),
		step: float64(width-left-right) / float64(len(p.Ticks)+1),
	}
	for _, t := range p.Ticks {
		if t.What != "write" && t.What != "flush" {
			continue
		}
		if !slices.Contains(l.disks, t.Disk) {
			l.disks = append(l.disks, t.Disk)
		}
		l.end[t.Disk] = max(l.end[t.Disk], t.Sector+t.Sectors)
	}
	slices.Sort(l.disks)
	return l
}

// bottom returns the height of all lanes.
func (l *layout) bottom() int { return lane * len(l.disks) }

// x returns the middle of tick i.
func (l *layout) x(i int) float64 { return left + l.step*(float64(i)+0.5) }

// top returns the top of a disk's lane.
func (l *layout) top(disk uint32) float64 {
	return float64(lane * slices.Index(l.disks, disk))
}

// y returns the position of a sector in the lane of its disk.
func (l *layout) y(disk uint32, sector uint64) float64 {
	const height = lane - 8 - least
	return l.top(disk) + 4 + float64(height)*float64(sector)/float64(max(l.end[disk], 1))
}

// drawLane draws the background and the labels of a disk's lane.
func (l *layout) drawLane(b *strings.Builder, disk uint32) {
	top := l.top(disk)
	fmt.Fprintf(b, `<rect class="lane" x="%d" y="%.0f" width="%d" height="%d"/>`,
		left, top+2, width-left-right, lane-4)
	fmt.Fprintf(b, `<text x="4" y="%.0f">disk %d</text>`, top+lane/2, disk)
	fmt.Fprintf(b, `<text x="4" y="%.0f">sector 0</text>`, top+12)
	fmt.Fprintf(b, `<text x="4" y="%.0f">%d</text>`, top+lane-6, l.end[disk])
}

// drawTick draws tick i: a write as a rectangle, a flush or a mark as a line.
func (l *layout) drawTick(b *strings.Builder, i int, t drawnTick) {
	title := template.HTMLEscapeString(t.Name())
	switch t.What {
	case "write":
		y := l.y(t.Disk, t.Sector)
		height := max(l.y(t.Disk, t.Sector+t.Sectors)-y, least)
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f">`+
			`<title>%s</title></rect>`,
			fateClasses[t.Fate], l.x(i)-min(l.step*0.4, 10), y,
			min(max(l.step*0.8, least), 20), height, title)
	case "flush":
		top := l.top(t.Disk)
		fmt.Fprintf(b, `<line class="flush" x1="%.1f" x2="%.1[1]f" y1="%.0f" y2="%.0f">`+
			`<title>%s</title></line>`, l.x(i), top+2, top+lane-2, title)
	default:
		fmt.Fprintf(b, `<line class="mark" x1="%.1f" x2="%.1[1]f" y1="0" y2="%d">`+
			`<title>%s</title></line>`, l.x(i), l.bottom(), title)
	}
}

// drawCrash draws the line of the crash before tick i.
func (l *layout) drawCrash(b *strings.Builder, i int) {
	x := l.x(i) - l.step/2
	anchor := "middle"
	if x > width-40 {
		anchor = "end"
	}
	fmt.Fprintf(b, `<line class="crash" x1="%.1f" x2="%.1[1]f" y1="0" y2="%d"/>`, x, l.bottom()+8)
	fmt.Fprintf(b, `<text class="crash" text-anchor="%s" x="%.1f" y="%d">crash</text></svg>`,
		anchor, x, l.bottom()+24)
}
