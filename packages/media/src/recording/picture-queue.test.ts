import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { PictureQueue, type QueuedPicture } from './picture-queue.ts'

/** Object 0 of each group is a key frame; layers 0 2 1 2 of what follows, each on the last of a layer below. */
function picture(group: number, object: number): QueuedPicture {
  const temporalLayer = object % 4 === 0 ? 0 : object % 4 === 2 ? 1 : 2
  const dependency = object === 0 ? 0 : ([4, 1, 2, 1][object % 4] ?? 0)
  return {
    ...{ group, object, isKey: object === 0, temporalLayer, dependency },
    ...{ timestampUs: 1_000_000 * group + 66_000 * object, data: new Uint8Array(1), codec: 'vp8' },
  }
}

function filled(groups: number): PictureQueue {
  const queue = new PictureQueue()
  for (let group = 0; group < groups; group++)
    for (let object = 0; object < 9; object++) queue.push(picture(group, object))
  return queue
}

function takeAll(queue: PictureQueue, timestampUs: number, maxLayer = 3): string[] {
  const taken: string[] = []
  for (;;) {
    const next = queue.take(timestampUs, maxLayer)
    if (next === undefined) return taken
    taken.push(`${next.group}.${next.object}`)
  }
}

describe('pictures that wait for their turn', () => {
  it('are taken one after the other', () => {
    expect(takeAll(filled(1), 0)).toEqual(Array.from({ length: 9 }, (_, i) => `0.${i}`))
  })

  it('begin with the newest key frame up to the moment that is shown', () => {
    expect(takeAll(filled(3), 1_500_000)[0]).toBe('1.0')
    expect(takeAll(filled(3), 9_000_000)[0]).toBe('2.0')
    const queue = filled(2)
    queue.skipTo(1_000_000)
    expect(queue.length).toBe(9)
    expect([queue.hasUpTo(999_999), queue.hasUpTo(1_000_000)]).toEqual([false, true])
  })

  it('are of lower layers only where they follow each other too fast', () => {
    expect(takeAll(filled(1), 0, 1)).toEqual(['0.0', '0.2', '0.4', '0.6', '0.8'])
    expect(takeAll(filled(1), 0, 0)).toEqual(['0.0', '0.4', '0.8'])
  })

  it('never build on what was left out', () => {
    const queue = filled(1)
    for (let i = 0; i < 2; i++) queue.take(0, 0)
    // Object 5 builds on 4, which was taken; 6 on 4; 7 on 6.
    expect(takeAll(queue, 0)).toEqual(['0.5', '0.6', '0.7', '0.8'])
    const other = new PictureQueue()
    for (const object of [0, 1, 3, 4, 5]) other.push(picture(0, object))
    expect(takeAll(other, 0)).toEqual(['0.0', '0.1', '0.4', '0.5'])
  })

  it('are so many at most; what is beyond is left out up to a key frame', () => {
    const queue = new PictureQueue()
    const { maxQueuedPictures } = mediaLimits
    for (let object = 0; object < maxQueuedPictures + 2; object++)
      queue.push({ ...picture(0, 1), object, isKey: object === 0 })
    expect([queue.length, queue.leftOut]).toEqual([maxQueuedPictures, 2])
    queue.take(0, 3)
    queue.push(picture(0, 1))
    expect(queue.leftOut).toBe(3)
    queue.push(picture(1, 0))
    expect(queue.leftOut).toBe(3)
    queue.clear()
    expect(queue.length).toBe(0)
  })
})
