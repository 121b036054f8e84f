package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

// A question of the process that started this one, as bench/src/child-calls.ts asks it.
type question struct {
	ID   int               `json:"id"`
	Name string            `json:"name"`
	Args []json.RawMessage `json:"args"`
}

type answer struct {
	ID     int    `json:"id"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Answers questions one after the other until the asker is gone. They come over the channel that Node opens to its
// children: a line of JSON each, over the file that NODE_CHANNEL_FD numbers.
func answerCalls(call func(name string, args []json.RawMessage) (any, error)) error {
	fd, err := strconv.Atoi(os.Getenv("NODE_CHANNEL_FD"))
	if err != nil {
		return fmt.Errorf("started by Node only: %w", err)
	}
	channel := os.NewFile(uintptr(fd), "channel")
	lines := bufio.NewScanner(channel)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		result, err := call(asked.Name, asked.Args)
		said := answer{ID: asked.ID, Result: result}
		if err != nil {
			said = answer{ID: asked.ID, Error: err.Error()}
		}
		text, err := json.Marshal(said)
		if err != nil {
			return err
		}
		if _, err := channel.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}
