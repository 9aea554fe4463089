package main

import (
	"fmt"
	"strings"

	"fsward/dev/shape"
)

// shapeLoad returns a script that makes the shapes of fs one after the other, at their smallest
// sizes divided by $SCALE, from a place that the seed determines. Names of the last two shapes
// stay, so that a shape is made beside others. A shape that the variant cannot have (a conversion
// of mixed block groups) may fail, but not all of them.
func shapeLoad(fs string) string {
	var list strings.Builder
	var count int
	for _, s := range shape.All {
		if s.FS == fs && fitsRound(s) {
			fmt.Fprintf(&list, "%d) N=$((%d / SCALE + 1)) sh -e <<'END' || "+
				"failed=$((failed + 1))\n%s\nsync -f .\n%s\nEND\n;;\n",
				count, s.Smallest, s.Prepare, s.Script)
			count++
		}
	}
	return fmt.Sprintf(`
		export LOAD="$FSLOAD -dir ."
		end=$(($(date +%%s) + SECONDS_LEFT)); i=0 failed=0
		while [ $i -lt 3 ] || [ $(date +%%s) -lt $end ]; do
			i=$((i + 1))
			case $(((SEED + i) %% %d)) in
`, count) + list.String() + `
			esac
			sync -f .; mkdir old$i
			find . -mindepth 1 -maxdepth 1 ! -name 'old*' ! -name lost+found -exec mv -t old$i {} +
			rm -rf old$((i - 2))
		done
		[ $failed -lt $i ]
		[ $FS != btrfs ] || btrfs quota disable . || true`
}

// fitsRound reports whether a shape needs no other disk, file system or kernel than the variants of
// a soak have.
func fitsRound(s shape.Shape) bool {
	return s.Disks <= 1 && s.Start == 0 && !s.BigFile && !s.Guest && !s.Converted && s.Each < gib
}
