package output

import "runtime/debug"

// linked is the version that the Makefile gives the linker: what git describe says.
var linked string

// Version returns the version of this program: the one that the linker was given, or else the
// module's version or the revision in the build information, or else "devel".
func Version() string {
	if linked != "" {
		return linked
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "-dirty"
		}
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision + modified
}
