// Package fsward is empty: it holds the test of the project's import graph. Start reading at hostd.
package fsward
