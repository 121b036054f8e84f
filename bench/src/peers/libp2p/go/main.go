// Drives go-libp2p-pubsub for `npm run -s bench -- peers`: it answers the calls of bench/src/peers/driver.ts.
package main

import (
	"encoding/json"
	"fmt"
	"log"
)

func main() {
	var running *driver
	if err := answerCalls(func(name string, args []json.RawMessage) (any, error) {
		if name == "start" {
			var given options
			if err := json.Unmarshal(args[0], &given); err != nil {
				return nil, err
			}
			started, err := startDriver(given)
			running = started
			return nil, err
		}
		if running == nil {
			return nil, fmt.Errorf("not started")
		}
		numbers, err := numbersOf(args)
		if err != nil {
			return nil, err
		}
		switch {
		case name == "saturate" && len(numbers) == 1:
			return running.saturate(numbers[0])
		case name == "paced" && len(numbers) == 2:
			return running.paced(numbers[0], numbers[1])
		case name == "join":
			return running.join()
		case name == "stop":
			running.network.stop()
			return nil, nil
		}
		return nil, fmt.Errorf("no call %s of %d arguments", name, len(args))
	}); err != nil {
		log.Fatal(err)
	}
}

func numbersOf(args []json.RawMessage) ([]float64, error) {
	numbers := make([]float64, len(args))
	for i, arg := range args {
		if err := json.Unmarshal(arg, &numbers[i]); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}
