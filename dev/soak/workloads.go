package main

import (
	"fmt"
	"slices"
	"time"

	"fsward/dev/load"
)

// A workload is a shell script that changes the file system. It runs in the root of the mounted
// file system. round.environment defines its variables; $LOAD is an fsload command for this
// directory.
type workload struct {
	name     string
	script   string
	small    bool     // needs a file system that it can fill
	spare    bool     // needs blank disks that it may add
	fs       string   // the only file system that it is for; "": any
	journal  bool     // needs a journal
	guest    bool     // needs the guest's kernel: capabilities or drivers that the host's may lack
	start    int64    // size of the file system at first, bytes; 0: the disk's size
	mount    []string // further options
	sessions int      // number of mounts, each with the script; 0 selects 1
	cut      bool     // a power cut ends each session but the last
	// between returns a script that runs on the unmounted devices between two sessions.
	between func(r *round) string
}

// fits reports whether the file system and the kernel of the run can have the workload.
func (l workload) fits(c *config) bool {
	return (l.fs == "" || l.fs == c.fs) && (c.guest || !l.guest)
}

var workloads = []workload{
	{name: "mixed", script: `$LOAD`},
	{name: "fsync", script: `$LOAD -profile fsync`},
	{name: "sync", script: `$LOAD -profile sync`},
	{name: "names", script: `$LOAD -profile names`},
	{name: "inline", script: `$LOAD -profile inline -workers 4`},
	{name: "full", small: true, script: `$LOAD -profile space`},
	{name: "crash", script: `$LOAD -profile fsync`, sessions: 5, cut: true, between: afterCrash},
	{name: "source", script: `
		src=$(go env GOROOT)/src
		mkdir -p tree
		for d in archive bufio bytes compress container encoding errors fmt go io math \
			net os path regexp sort strconv strings text time unicode; do
			cp -r "$src/$d" tree/; sync -f .
		done
		GOCACHE=$PWD/cache GOFLAGS= GOTMPDIR=$PWD go build -p 1 -o built cmd/gofmt
		sync -f .; mv tree moved
		setfacl -R -m u:1000:rwX -m d:g:7:rX moved || [ "$FS" = btrfs ]; sync -f .
		rm -r cache; sync -f .; rm -r moved/encoding moved/net`},
	// Each stressor runs for a second. Stressors that call sync(2) run only in the guest, since sync
	// reaches every file system of the machine.
	{name: "stress-ng", script: `
		mkdir -p stress && cd stress
		not=bind-mount,binderfs,procfs,verity
		[ -n "$GUEST" ] || not=$not,dentry,fanotify,io,iomix,mknod,open,touch
		(until [ -e stop ]; do sleep 0.3; sync -f . || exit; done) & commits=$!
		stress-ng --quiet --class filesystem --exclude $not --sequential 1 --timeout 1s \
			--temp-path . || [ $? -le 3 ]
		: > stop; wait $commits || true
		cd .. && rm -rf stress`},
	{name: "mixtures", script: mixtures},
	{name: "shapes", fs: "btrfs", script: shapeLoad("btrfs")},
	{name: "shapes", fs: "ext3", script: shapeLoad("ext3")},
	{name: "tools", fs: "btrfs", script: `$LOAD -profile fsync`, sessions: 6, between: btrfsTools},
	{name: "tools after crashes", fs: "btrfs", script: `$LOAD -profile fsync`, sessions: 6, cut: true,
		between: btrfsTools},
	{name: "tools", fs: "ext3", script: `$LOAD`, sessions: 6, between: ext3Tools},
	// The file system grows in steps while it is in use. The resize needs CAP_SYS_RESOURCE, which the
	// host's root may lack.
	{name: "grow", fs: "ext3", journal: true, guest: true, start: 40 << 20, script: `
		$LOAD & load=$!
		for size in 60M 100M 101M 180M 300M 400M; do
			sleep $((SECONDS_LEFT / 7)); resize2fs $FIRST $size; sync -f .
		done
		wait $load`},
	{name: "quota", fs: "ext3", guest: true, mount: []string{"usrquota", "grpquota"}, script: quota},
	{name: "journaled quota", fs: "ext3", journal: true, guest: true,
		mount: []string{"usrjquota=aquota.user", "grpjquota=aquota.group", "jqfmt=vfsv1"}, script: quota},
}

// mixtures runs random mixtures of operations (dev/mix) one after the other, each in one commit or
// few, in a directory or subvolume of its own. It disables quota at the end, since Linux sometimes
// miscounts (administrator.run in fsload).
const mixtures = `
	end=$(($(date +%s) + SECONDS_LEFT)); i=0
	while [ $i = 0 ] || [ $(date +%s) -lt $end ]; do
		i=$((i + 1))
		if [ $FS = btrfs ]; then btrfs -q subvolume create m$i; else mkdir m$i; fi
		$LOAD -random $FS -seed $((SEED + i)) -n 500 -dir m$i; sync -f .
		rm -rf m$((i - 1)) || true
	done
	[ $FS != btrfs ] || btrfs quota disable . || true`

// quota changes the quota files of users and groups while fsload changes the usage.
const quota = `
	mkdir -p work && chmod 777 work
	quotacheck -ugmc -F vfsv1 $PWD; quotaon -ug $PWD
	$LOAD & load=$!
	n=0
	while kill -0 $load 2> /dev/null; do
		n=$((n + 1)); id=$((n * 37 % 2000))
		setquota -u $id $((id * 3)) $((id * 4)) 20 $((id / 5 + 30)) $PWD
		setquota -g $id 0 $((id * 9)) 0 0 $PWD; setquota -u -t 1 1 $PWD
		repquota -ug $PWD > /dev/null
		[ $((n % 9)) != 0 ] || {
			quotaoff -ug $PWD; quotacheck -ugmc -F vfsv1 $PWD; quotaon -ug $PWD
		}
		sync -f .; sleep 0.2
	done
	wait $load; repquota -u $PWD | grep -q '^#'; quotaoff -ug $PWD`

// btrfsTools returns a command that an administrator runs on an unmounted file system. Some change
// its UUIDs: in the superblocks, or in every block, in place. The commands may fail: btrfstune
// finds no space in RAID0, and two others take a metadata UUID for a seed device (btrfs-progs 6.2).
// After a refusal they would too, but the guard reports that.
func btrfsTools(r *round) string {
	uuid := fmt.Sprintf("%08x-1111-4222-8333-444455556666", r.random.Uint32())
	tools := []string{
		"btrfstune -f -m $FIRST",
		"btrfstune -f -M " + uuid + " $FIRST",
		"btrfstune -f -m $FIRST && btrfstune -f -M " + uuid + " $FIRST",
		"btrfstune -f -u $FIRST || btrfstune -f -m $FIRST", // -u: not after -m
		"btrfs filesystem label $FIRST soak" + uuid[:4],
		"btrfs -q check --repair $FIRST",
		"btrfs -q rescue fix-device-size $FIRST",
	}
	tool := "{ " + tools[r.random.IntN(len(tools))] + "; } || true\n"
	if !r.load.cut {
		return tool
	}
	return replayLog + tool
}

// replayLog mounts the Btrfs after a power cut, since the tools refuse a log. Linux (6.1, 6.18)
// writes logs of mixed block groups that it cannot replay itself (docs/results/soak.md); such a log
// is dropped.
const replayLog = `for disk in $DISKS; do btrfs device scan -q $disk || true; done
	dir=$(mktemp -d)
	if mount -t btrfs $FIRST $dir; then umount $dir; else btrfs rescue zero-log $FIRST; fi
	rmdir $dir
	`

// afterCrash returns the script of a system that boots after a crash. ext2 needs a check; ext3 gets
// one in a third of the cases.
func afterCrash(r *round) string {
	if r.fs == "btrfs" && slices.Contains(r.variant.mkfs, "--mixed") {
		return replayLog
	}
	if r.variant.noJournal || r.fs == "ext3" && r.random.IntN(3) == 0 {
		return "e2fsck -fy $FIRST || [ $? -le 2 ]"
	}
	return ""
}

// ext3Tools are commands that an administrator runs on an unmounted file system.
func ext3Tools(r *round) string {
	tools := []string{
		"e2fsck -fp $FIRST",
		"e2fsck -fyD $FIRST || [ $? = 1 ]", // 1: directories were packed
		"tune2fs -L soak -c 30 -i 7 -m 3 -e remount-ro -U random $FIRST",
		"tune2fs -O ^dir_index $FIRST; e2fsck -fy $FIRST || [ $? = 1 ]; " +
			"tune2fs -O dir_index $FIRST; e2fsck -fyD $FIRST || [ $? = 1 ]",
		"e2fsck -fp $FIRST; resize2fs -M $FIRST; e2fsck -fn $FIRST; resize2fs $FIRST",
		"e2fsck -fp $FIRST; resize2fs $FIRST 290M || [ $? = 1 ]; e2fsck -fn $FIRST",
	}
	if !r.variant.noJournal {
		tools = append(tools,
			"tune2fs -O ^has_journal $FIRST; tune2fs -j -J size=4 $FIRST; e2fsck -fn $FIRST",
			"mke2fs -q -F -t ext3 -b 1024 $FIRST",
			"mke2fs -q -F -t ext3 -b 4096 -I 128 $FIRST; e2fsck -fn $FIRST",
		)
	}
	return tools[r.random.IntN(len(tools))]
}

// stages returns the stages of the round: its sessions, which share the time of the round, and the
// check by the file system's own checker.
func (r *round) stages(devices int) []load.Stage {
	sessions := max(1, r.load.sessions)
	seconds := max(1, int(r.config.round.Seconds())/sessions)
	var stages []load.Stage
	for i := range sessions {
		last := i == sessions-1
		st := load.Stage{Script: r.environment(seconds, devices) + r.load.script}
		if r.load.cut && !last {
			st.Cut = time.Duration(1+r.random.IntN(seconds*1000)) * time.Millisecond
		}
		if r.load.between != nil && !last {
			if st.Offline = r.load.between(r); st.Cut > 0 && st.Offline != "" {
				stages = append(stages, st)
				st = load.Stage{Offline: st.Offline}
			}
		}
		stages = append(stages, st)
	}
	return append(stages, load.Stage{Offline: load.Check(r.fs)})
}

// environment returns the definitions of $FS, $GUEST, $SECONDS_LEFT, $SEED, $SCALE, $FSLOAD and
// $LOAD for the beginning of a script.
func (r *round) environment(seconds, devices int) string {
	limit, scale := fmt.Sprintf("-seconds %d", seconds), 1
	if r.ops > 0 {
		limit, scale = fmt.Sprintf("-seconds 600 -ops %d", r.ops), 50
	}
	admin := ""
	if r.fs == "btrfs" && r.load.name != "names" {
		admin = " -btrfs"
		// Linux 6.18 sometimes aborts a transaction (btrfs_chunk_alloc: ENOENT) when devices change on a
		// full file system. The guard does not cause this.
		if devices > 1 && !r.load.small {
			admin += " -devices $(echo $DISKS | tr ' ' ,)"
		}
	}
	guest := ""
	if r.guest {
		guest = "1"
	}
	seed := r.random.Uint64() >> 2
	return fmt.Sprintf("FS=%s GUEST=%s SECONDS_LEFT=%d SEED=%d SCALE=%d FSLOAD=%s\n"+
		"LOAD=\"$FSLOAD -dir . -seed %d %s%s\"\n",
		r.fs, guest, seconds, seed, scale, r.fsload, seed, limit, admin)
}
