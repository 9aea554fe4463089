package fieldmap

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
)

// eval computes an expression: numbers, names of fields, + - * / % << >> & | ^ == != < <= > >= &&
// || and parentheses, in Go's grammar. All numbers are unsigned with 64 bits; true is 1.
func eval(text string, look func(name string) (uint64, error)) (uint64, error) {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return 0, fmt.Errorf("expression %q: %w", text, err)
	}
	v, err := value(e, look)
	if err != nil {
		return 0, fmt.Errorf("expression %q: %w", text, err)
	}
	return v, nil
}

func value(e ast.Expr, look func(string) (uint64, error)) (uint64, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.INT {
			return 0, fmt.Errorf("%s is not a whole number", e.Value)
		}
		return strconv.ParseUint(e.Value, 0, 64)
	case *ast.ParenExpr:
		return value(e.X, look)
	case *ast.Ident:
		return look(e.Name)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return look(x.Name + "." + e.Sel.Name)
		}
	case *ast.BinaryExpr:
		x, err := value(e.X, look)
		if err != nil {
			return 0, err
		}
		y, err := value(e.Y, look)
		if err != nil {
			return 0, err
		}
		return operate(e.Op, x, y)
	}
	return 0, errors.New("only numbers, names and operators are allowed")
}

func operate(op token.Token, x, y uint64) (uint64, error) {
	truth := func(b bool) (uint64, error) {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	switch op {
	case token.ADD:
		return x + y, nil
	case token.SUB:
		return x - y, nil
	case token.MUL:
		return x * y, nil
	case token.QUO, token.REM:
		if y == 0 {
			return 0, errors.New("division by zero")
		}
		if op == token.QUO {
			return x / y, nil
		}
		return x % y, nil
	case token.SHL:
		return x << min(y, 64), nil
	case token.SHR:
		return x >> min(y, 64), nil
	case token.AND:
		return x & y, nil
	case token.OR:
		return x | y, nil
	case token.XOR:
		return x ^ y, nil
	case token.EQL:
		return truth(x == y)
	case token.NEQ:
		return truth(x != y)
	case token.LSS:
		return truth(x < y)
	case token.LEQ:
		return truth(x <= y)
	case token.GTR:
		return truth(x > y)
	case token.GEQ:
		return truth(x >= y)
	case token.LAND:
		return truth(x != 0 && y != 0)
	case token.LOR:
		return truth(x != 0 || y != 0)
	}
	return 0, fmt.Errorf("operator %s is not known", op)
}
