import type { Socket } from 'node:net'

/** Passes all that comes on, both ways, until one of them ends or fails. */
export function passOn(from: Socket, to: Socket): void {
  from.pipe(to).pipe(from)
  from.on('error', () => to.destroy())
  to.on('error', () => from.destroy())
}
