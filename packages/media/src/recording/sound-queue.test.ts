import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { SoundQueue } from './sound-queue.ts'

const frame = (number: number) => ({ timestampUs: 20_000 * number, level: 30, data: Uint8Array.of(number) })

function queueOf(...numbers: readonly number[]): SoundQueue {
  const queue = new SoundQueue({ frameMs: 20 })
  for (const number of numbers) queue.push(frame(number))
  return queue
}

const types = (queue: SoundQueue, numbers: readonly number[]) =>
  numbers.map((number) => queue.step(number).type)

describe('sound that waits for its turn', () => {
  it('is played in the order of its times, in whatever order it came', () => {
    const queue = queueOf(3, 1, 2)
    expect([1, 2, 3].map((number) => queue.step(number))).toEqual(
      [1, 2, 3].map((number) => ({ type: 'frame', frame: frame(number) })),
    )
    expect(queue.numberAt(61_000)).toBe(3)
  })

  it('recovers what is lost from the next frame, and makes it up where that is lost, too', () => {
    const queue = queueOf(1, 4)
    expect(types(queue, [1, 2, 3, 4])).toEqual(['frame', 'conceal', 'recover', 'frame'])
  })

  it('is silent before there is any, after too much is lost, and after it was cleared', () => {
    const queue = queueOf(2)
    expect(types(queue, [0])).toEqual(['silence'])
    const lost = Array.from({ length: mediaLimits.maxConcealedFrames + 1 }, (_, i) => 3 + i)
    expect(types(queue, [2, ...lost]).at(-1)).toBe('silence')
    queue.push(frame(20))
    queue.step(20)
    queue.clear()
    expect(types(queue, [21])).toEqual(['silence'])
  })

  it('drops what is before its turn, and holds so many frames', () => {
    const queue = queueOf(1, 2, 3)
    queue.step(3)
    expect(types(queue, [2])).toEqual(['conceal'])
    for (let number = 10; number <= 10 + mediaLimits.maxQueuedSounds; number++) queue.push(frame(number))
    expect(queue.leftOut).toBe(1)
  })
})
