module fsward

go 1.26
