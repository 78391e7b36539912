// Prints the effective user: with the setuid bit, another one than the caller unless privileges are restricted.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Printf("Effective uid: %d\n", os.Geteuid())
}
