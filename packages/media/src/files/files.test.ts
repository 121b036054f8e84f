import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRunnelError } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OpusPlayback } from '../opus/opus.ts'
import { BytesReader } from './bytes-reader.ts'
import { readIvf } from './ivf.ts'
import { crcOf, opusPackets } from './ogg.ts'
import { opusDurationMs } from './opus-packet.ts'

const vectors = join(import.meta.dirname, '../../vectors')
/** Made by opusenc 0.2 and vpxenc 1.12: half a second of a tone; 12 pictures of 64 × 48. */
const opus = new Uint8Array(readFileSync(join(vectors, 'tone.opus')))
const ivf = (codec: string) => new Uint8Array(readFileSync(join(vectors, `clip-${codec}.ivf`)))

/** In pieces of such lengths, over and over. */
async function* inPieces(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let [offset, i] = [0, 0]; offset < bytes.length; i++) {
    const length = Math.max(1, lengths[i % lengths.length] ?? 1)
    yield await Promise.resolve(bytes.subarray(offset, offset + length))
    offset += length
  }
}

/** `Array.fromAsync`, which the compiler does not know yet. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const opusPacketsOf = (bytes: Uint8Array, lengths: readonly number[] = [1_000]) =>
  all(opusPackets(new BytesReader(inPieces(bytes, lengths), new AbortController().signal)))

const packetsOf = async (bytes: Uint8Array, lengths?: readonly number[]) =>
  (await opusPacketsOf(bytes, lengths)).map(({ data }) => data)

/** A page of Ogg. */
function page(flags: number, serial: number, lacing: number[], body: Uint8Array): number[] {
  const header = new Uint8Array(27 + lacing.length)
  header.set(new TextEncoder().encode('OggS'))
  header[5] = flags
  const view = new DataView(header.buffer)
  view.setUint32(14, serial, true)
  header[26] = lacing.length
  header.set(lacing, 27)
  view.setUint32(22, crcOf(header, body), true)
  return [...header, ...body]
}

const text = (said: string) => new TextEncoder().encode(said)

/** A file whose stream of Opus has this number, with one packet, beside another stream. */
const shortFile = (serial: number, packet: number) => [
  ...page(2, 99, [5], text('video')),
  ...page(2, serial, [8], text('OpusHead')),
  ...page(0, serial, [8], text('OpusTags')),
  ...page(0, 99, [5], text('noise')),
  ...page(4, serial, [1], Uint8Array.of(packet)),
]

async function picturesOf(bytes: Uint8Array, lengths: readonly number[] = [1_000]) {
  const { frames, ...header } = await readIvf(
    new BytesReader(inPieces(bytes, lengths), new AbortController().signal),
  )
  return { header, frames: await all(frames) }
}

/** Where the first frames of an IVF file end. */
function endOfFrames(file: Uint8Array, frames: number): number {
  let offset = 32
  for (let i = 0; i < frames; i++) offset += 12 + new DataView(file.buffer).getUint32(offset, true)
  return offset
}

/** Reads to the end, or to a refusal; anything else fails. */
async function readsOrRefuses(read: Promise<unknown>): Promise<void> {
  await read.catch((error: unknown) => {
    if (!isRunnelError(error) || error.code !== 'FILE_INVALID') throw error
  })
}

/** With some of its bytes changed, and its end cut off. */
const damaged = (bytes: Uint8Array) =>
  fc
    .record({
      changes: fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 5 }),
      length: fc.nat(bytes.length),
    })
    .map(({ changes, length }) => {
      const copy = bytes.slice(0, length)
      for (const [offset, byte] of changes) if (offset < length) copy[offset] = byte
      return copy
    })

it('bytes that come as text, as of a stream with an encoding, are refused', async () => {
  async function* decoded(): AsyncGenerator<string> {
    yield await Promise.resolve('OggS')
  }
  const reader = new BytesReader(decoded() as never, new AbortController().signal)
  await expect(reader.take(4)).rejects.toMatchObject({
    code: 'FILE_INVALID',
    message: expect.stringContaining('encoding') as string,
  })
})

describe('Opus in Ogg', () => {
  it('is read packet by packet, however it comes', async () => {
    const packets = await packetsOf(opus)
    expect(packets.length).toBeGreaterThanOrEqual(25)
    expect(packets.every((packet) => opusDurationMs(packet) === 20)).toBe(true)
    expect(await packetsOf(opus, [1, 7, 300, 2])).toEqual(packets)
    using playback = await OpusPlayback.create()
    for (const data of packets) playback.play({ type: 'frame', frame: { timestampUs: 0, level: 0, data } })
    expect(playback.malformed).toBe(0)
  })

  it('may have packets of several pages, and other streams beside it', async () => {
    const file = Uint8Array.from([
      ...page(2, 9, [5], text('video')),
      ...page(2, 7, [8], text('OpusHead')),
      ...page(0, 7, [8], text('OpusTags')),
      ...page(0, 7, [255], new Uint8Array(255).fill(1)),
      ...page(0, 9, [5], text('noise')),
      ...page(1, 7, [45, 2], new Uint8Array(47).fill(2)),
    ])
    expect((await packetsOf(file)).map(({ length }) => length)).toEqual([300, 2])
  })

  it.each([
    ['of its own', 8],
    ['of the one before', 7],
  ])('may be followed by another file, whose stream has a number %s', async (_, serial) => {
    const files = Uint8Array.from([...shortFile(7, 1), ...shortFile(serial, 2), ...opus])
    const packets = await opusPacketsOf(files)
    expect(packets.slice(0, 2)).toEqual([
      { data: Uint8Array.of(1), isFirst: true },
      { data: Uint8Array.of(2), isFirst: true },
    ])
    expect(packets.slice(2).map(({ data }) => data)).toEqual(await packetsOf(opus))
    expect(
      packets
        .slice(2)
        .map(({ isFirst }) => isFirst)
        .lastIndexOf(true),
    ).toBe(0)
  })

  it('is refused with another file that has none, or that is no Ogg', async () => {
    const other = [...page(2, 8, [6], text('vorbis')), ...page(0, 8, [5], text('noise'))]
    for (const end of [other, page(2, 8, [6], text('vorbis'))])
      await expect(packetsOf(Uint8Array.from([...opus, ...end]))).rejects.toThrow(
        'a file without Opus is joined to it',
      )
    await expect(packetsOf(Uint8Array.from([...opus, ...ivf('vp8')]))).rejects.toThrow('it is not Ogg')
  })

  it.each([
    ['5.1 in family 1', 6, 1, 4, 2],
    ['two channels of their own in family 255', 2, 255, 2, 0],
  ])(
    'is refused with %s, which no packet of Opus alone is',
    async (_, channels, family, streams, coupled) => {
      const head = [...text('OpusHead'), 1, channels, 0, 0, 0, 0, 0, 0, 0, 0, family, streams, coupled]
      const lacing = [head.length + channels]
      const file = page(2, 7, lacing, Uint8Array.from([...head, ...Array<number>(channels).fill(0)]))
      await expect(packetsOf(Uint8Array.from([...file, ...opus]))).rejects.toThrow(
        `Opus with ${channels} channels in ${streams} streams`,
      )
    },
  )

  it('is read in family 1 with two channels, which are one stream', async () => {
    const head = [...text('OpusHead'), 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1]
    const file = [
      ...page(2, 7, [head.length], Uint8Array.from(head)),
      ...page(0, 7, [8], text('OpusTags')),
      ...page(4, 7, [1], Uint8Array.of(1)),
    ]
    expect(await packetsOf(Uint8Array.from(file))).toEqual([Uint8Array.of(1)])
  })

  it('is refused when it is damaged or something else', async () => {
    const flipped = opus.slice()
    flipped[1_000] = (flipped[1_000] ?? 0) ^ 1
    for (const [bytes, text] of [
      [flipped, 'checksum'],
      [ivf('vp8'), 'not Ogg'],
      [new Uint8Array(0), 'no Opus in it'],
      [opus.slice(0, -10), 'cut off within a page'],
    ] as const)
      await expect(packetsOf(bytes)).rejects.toThrow(text)
  })

  it('is refused without a packet, and said to have been sent only where something was', async () => {
    const heads = [...page(2, 7, [8], text('OpusHead')), ...page(0, 7, [8], text('OpusTags'))]
    await expect(packetsOf(Uint8Array.from(heads))).rejects.toThrow('Opus without a packet')
    const cut = page(0, 7, [2], Uint8Array.of(1, 2)).slice(0, -1)
    await expect(packetsOf(Uint8Array.from([...heads, ...cut]))).rejects.not.toThrow('has been sent')
    await expect(packetsOf(Uint8Array.from([...shortFile(7, 1), ...cut]))).rejects.toThrow(
      'what was before has been sent',
    )
  })

  it('never does anything but read or refuse', async () => {
    await fc.assert(
      fc.asyncProperty(damaged(opus), (bytes) => readsOrRefuses(packetsOf(bytes, [500]))),
      { numRuns: 200 },
    )
  })
})

describe('the duration of an Opus packet', () => {
  it.each([
    [[0x00], 10],
    [[0x18], 60],
    [[0x60], 10],
    [[0x78], 20],
    [[0x80], 2.5],
    [[0xf8], 20],
    [[0xf9], 40],
    [[0xfb, 3], 60],
    [[0xfb, 7], undefined],
    [[0xfb], undefined],
    [[], undefined],
  ])('of %o is %s ms', (bytes, durationMs) => {
    expect(opusDurationMs(Uint8Array.from(bytes))).toBe(durationMs)
  })
})

describe('IVF', () => {
  it.each([
    ['vp8', 'vp8'],
    ['vp9', 'vp09.00.10.08'],
  ])('of %s is read with its key frames and times', async (name, codec) => {
    const { header, frames } = await picturesOf(ivf(name))
    expect(header).toEqual({ codec, width: 64, height: 48 })
    expect(frames.map(({ timestampUs }) => timestampUs)).toEqual(
      Array.from({ length: 12 }, (_, i) => 1_000 * Math.floor((i * 1_000) / 30)),
    )
    expect(frames.flatMap(({ isKey }, i) => (isKey ? [i] : []))).toEqual([0, 6])
    expect((await picturesOf(ivf(name), [1, 3, 100])).frames).toEqual(frames)
  })

  it('of AV1 has its key frames where a sequence begins', async () => {
    const header = ivf('vp8').slice(0, 32)
    header.set(new TextEncoder().encode('AV01'), 8)
    header[24] = 2
    // Temporal delimiters, then a sequence header or a frame.
    const units = [
      [0x12, 0, 0x0a, 1, 0],
      [0x12, 0, 0x32, 1, 0],
    ]
    const file = units.flatMap((unit, i) => [unit.length, 0, 0, 0, i, 0, 0, 0, 0, 0, 0, 0, ...unit])
    const { frames } = await picturesOf(Uint8Array.from([...header, ...file]))
    expect(frames.map(({ isKey }) => isKey)).toEqual([true, false])
  })

  it('is refused where it is something else, or has a frame that cannot be sent', async () => {
    const large = ivf('vp8')
    new DataView(large.buffer).setUint32(32, 1_000_000, true)
    await expect(picturesOf(large)).rejects.toThrow('a frame of 1000000 bytes')
    await expect(picturesOf(ivf('vp8').slice(0, -10))).rejects.toThrow('cut off within a frame')
    await expect(picturesOf(Uint8Array.from([...ivf('vp8'), ...ivf('vp9')]))).rejects.toThrow(
      'another IVF file is joined to it',
    )
    await expect(picturesOf(opus)).rejects.toThrow('not IVF')
    await expect(picturesOf(new Uint8Array(0))).rejects.toThrow('not IVF')
  })

  it('is refused without a frame, and said to have been sent only where something was', async () => {
    const file = ivf('vp8')
    await expect(picturesOf(file.slice(0, 32))).rejects.toThrow('IVF without a frame')
    await expect(picturesOf(file.slice(0, 50))).rejects.not.toThrow('has been sent')
    await expect(picturesOf(file.slice(0, -1))).rejects.toThrow('what was before has been sent')
  })

  it.each([
    ['the number of frames', 12, true],
    ['nothing, as in a pipe', 0, false],
    ['nothing, as ffmpeg in a pipe', 0xffff_ffff, false],
    ['the ticks to its end, as ffmpeg', 400, false],
  ])('whose header states %s is refused where it was cut between frames', async (_, stated, isRefused) => {
    const file = ivf('vp8')
    new DataView(file.buffer).setUint32(24, stated, true)
    expect((await picturesOf(file)).frames).toHaveLength(12)
    const cut = picturesOf(file.slice(0, endOfFrames(file, 6)))
    if (isRefused) await expect(cut).rejects.toThrow(`6 frames came, and have been sent; its header has`)
    else expect((await cut).frames).toHaveLength(6)
  })

  it('never does anything but read or refuse', async () => {
    for (const name of ['vp8', 'vp9'])
      await fc.assert(
        fc.asyncProperty(damaged(ivf(name)), (bytes) => readsOrRefuses(picturesOf(bytes, [100]))),
      )
  })
})
