import { setFlagsFromString } from 'node:v8'

/**
 * Has V8's young generation stay as large as it is. In a process that has just begun that is a megabyte or a few; by itself it grows to 128 MB with
 * the first burst of work, and stays there. Who keeps little of what comes in, as a tracker, pays no more for collections this way. On the command
 * line V8 takes no factor below 2.
 */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Has it grow again with the work, by V8's own factor: for who needed it small only while the program was loaded. */
export function letYoungGenerationGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * Has V8 collect the old generation when it has grown by a fifth. By itself it lets a heap that fills quickly grow to a multiple, and a process that is
 * never idle, as a tracker whose nodes ping it, keeps that.
 */
export function keepOldGenerationTight(): void {
  setFlagsFromString('--heap-growing-percent=20')
}
