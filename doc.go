// Package fsward contains only the test of the project's import graph. Start reading at
// hostd/guard.
package fsward
