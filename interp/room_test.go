package interp_test

import (
	"testing"

	"fsward/interp"
)

// A room takes from the reserve what its own bytes do not hold, and gives it back.
func TestRoom(t *testing.T) {
	const piece = 16 << 20
	reserve := interp.NewReserve(3*piece, nil)
	room := interp.Limits{Memory: 2 << 20, Reserve: reserve}.NewRoom()
	if !room.Holds(1 << 20) {
		t.Error("its own half is not there")
	}
	other := interp.NewRoom(1, reserve)
	if !other.Holds(2 * piece) {
		t.Error("two pieces of three are not there")
	}
	if !room.Holds(piece) {
		t.Error("the third piece is not there")
	}
	if room.Holds(2 * piece) {
		t.Error("a fourth piece was given")
	}
	other.Release()
	if !room.Holds(2*piece) || !room.Holds(3*piece) || room.Holds(4*piece) {
		t.Error("what was given back is not there, or more")
	}
	room.Release()
	room.Release()
	if !other.Holds(3*piece) || other.Holds(3*piece+2) {
		t.Error("the reserve is not what it was at first")
	}
}

// Where a commit needs what others hold, they are asked to give way; who is not in a hurry asks nobody.
func TestRoomUnderPressure(t *testing.T) {
	const piece = 16 << 20
	var check *interp.Room
	asked := 0
	reserve := interp.NewReserve(2*piece, func() {
		asked++
		go check.Release()
	})
	check = interp.NewRoom(1, reserve)
	if !check.Holds(2*piece) || check.Holds(3*piece) || asked != 0 {
		t.Fatalf("the check has not all of the reserve, or asked %d times", asked)
	}
	commit := interp.Limits{Memory: 2, Reserve: reserve}.NewRoom()
	if !commit.Holds(2*piece) || asked != 1 {
		t.Errorf("the commit did not get it, others were asked %d times", asked)
	}
	if commit.Holds(4*piece) || asked != 1 {
		t.Errorf("more than there ever was: others were asked %d times", asked)
	}
}

// Without limits everything has room.
func TestRoomWithoutLimits(t *testing.T) {
	var none *interp.Room
	for _, room := range []*interp.Room{none, interp.Limits{}.NewRoom()} {
		if !room.Holds(1 << 60) {
			t.Error("there is a bound")
		}
		room.Release()
	}
}
