//go:build vmtest

package vm

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// bootSector is a boot loader without a system. It adds one to the first byte of the second sector,
// prints it on the serial port, and resets the machine the first time and powers it off the second
// time.
var bootSector = []byte{
	0x31, 0xc0, // xor ax, ax
	0x8e, 0xd8, // mov ds, ax
	0x8e, 0xd0, // mov ss, ax
	0xbc, 0x00, 0x7c, // mov sp, 0x7c00
	0xbe, 0x45, 0x7c, // mov si, packet
	0xb4, 0x42, // mov ah, 0x42: extended read; the BIOS has put the drive into dl
	0xcd, 0x13, // int 0x13
	0x72, 0x30, // jc halt
	0xfe, 0x06, 0x00, 0x80, // inc byte [0x8000]
	0xbe, 0x45, 0x7c, // mov si, packet
	0xb8, 0x00, 0x43, // mov ax, 0x4300: extended write
	0xcd, 0x13, // int 0x13
	0x72, 0x22, // jc halt
	0xba, 0xf8, 0x03, // mov dx, 0x3f8: the serial port
	0xa0, 0x00, 0x80, // mov al, [0x8000]
	0x04, 0x30, // add al, '0'
	0xee,       // out dx, al
	0xb0, 0x0a, // mov al, '\n'
	0xee,                         // out dx, al
	0x80, 0x3e, 0x00, 0x80, 0x01, // cmp byte [0x8000], 1
	0x75, 0x08, // jne off
	0xba, 0xf9, 0x0c, // mov dx, 0xcf9: the reset register
	0xb0, 0x06, // mov al, 6
	0xee,       // out dx, al
	0xeb, 0x07, // jmp halt
	// off:
	0xba, 0x04, 0x06, // mov dx, 0x604: PM1a_CNT of QEMU's q35
	0xb8, 0x00, 0x20, // mov ax, 0x2000: SLP_EN, S5
	0xef, // out dx, ax
	// halt:
	0xf4,       // hlt
	0xeb, 0xfd, // jmp halt
	// packet: 16 bytes, one sector to 0000:8000 from sector 1
	0x10, 0x00, 0x01, 0x00, 0x00, 0x80, 0x00, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 0,
}

// TestGuestBootsItsDisk boots a disk by its own boot loader, through a reboot to the power-off.
func TestGuestBootsItsDisk(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir := shortDir(t)
	image, disk := serve(t, dir, "boot", 1)
	sector := make([]byte, 512)
	copy(sector, bootSector)
	sector[510], sector[511] = 0x55, 0xaa
	write(t, image, sector)
	d, err := connect(ctx, t, dir).Start(ctx, Config{Name: "boots", Disks: []Disk{disk},
		Network: true, Console: filepath.Join(dir, "console")})
	if err != nil {
		t.Fatal(err)
	}
	end, err := d.Wait(ctx)
	if err != nil || !end.Clean() {
		t.Errorf("it ended: %s, %v", end, err)
	}
	console, err := os.ReadFile(filepath.Join(dir, "console"))
	if said := strings.ReplaceAll(string(console), "\r", ""); err != nil ||
		!strings.Contains(said, "1\n") || !strings.HasSuffix(said, "2\n") {
		t.Errorf("console %q, %v", said, err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	content, err := os.ReadFile(image)
	if err != nil || content[512] != 2 {
		t.Errorf("the disk has counted %d boots, %v", content[512], err)
	}
}

// write writes the beginning of a file, before anybody has read it.
func write(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
