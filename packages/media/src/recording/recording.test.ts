import type { ResendOptions } from '@runnel/client'
import { expect, it } from 'vitest'
import { memberOf, picture } from './members.testkit.ts'
import { objectPartition } from './partitions.ts'
import { MediaRecording, type RecordingModules } from './recording.ts'
import { TimeLine } from './time-line.ts'

const partitions = 5
const large = { ...picture, id: 3, partition: 2, codedWidth: 640, codedHeight: 360 }
const ada = memberOf('ada', [picture, large])
const muted = memberOf('ada', [{ ...picture, state: 'muted' } as const, large])

/** The partitions that a reader of this rendition reads, of a recording with these members in turn. */
async function partitionsRead(rendition: number | undefined, ...states: (readonly (typeof ada)[])[]) {
  const timeLine = new TimeLine()
  for (const [i, members] of states.entries())
    timeLine.add({ change: { atMs: 1_000 * i, members }, clocks: [], keys: [] }, 1_000 * i)
  const asked: ResendOptions[] = []
  const client: RecordingModules['client'] = {
    async *resend(_streamId, _selection, options) {
      if (options !== undefined) asked.push(options)
      yield* []
    },
    getStream: () => Promise.reject(new Error('it is open')),
  }
  const range = { fromMs: 0, toMs: 1_000 * states.length }
  const recording = new MediaRecording('0xa/recording', { timeLine, range, partitions }, { client })
  for await (const found of recording.read(0, { rendition })) expect.fail(String(found))
  return asked.flatMap((one) => one.partitions)
}

it.each([{ rendition: 'x' }, { rendition: -1 }, { onDamage: 5 }, { signal: 5 }])(
  'a recording is not read with %o',
  async (options) => {
    const made = { timeLine: new TimeLine(), range: { fromMs: 0, toMs: 1 }, partitions }
    const recording = new MediaRecording('0xa/recording', made, { client: {} as never })
    await expect(recording.read(0, options as never).next()).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    })
  },
)

const inRecording = (...ofSession: number[]) => ofSession.map((one) => objectPartition(one, partitions))

it.each([
  ['one member', [[ada]]],
  ['two members', [[ada, memberOf('ben', [picture, large])]]],
  ['one that changed', [[ada], [muted], [ada]]],
] as const)('a recording is read up to the rendition that is wanted: of %s', async (_, states) => {
  expect(await partitionsRead(0, ...states)).toEqual(inRecording(0, 1))
  expect(await partitionsRead(1, ...states)).toEqual(inRecording(0, 1, 2))
})

it('all renditions are read wherever they are: no note names a track that ended before the next one', async () => {
  expect(await partitionsRead(undefined, [memberOf('ada', [])])).toEqual(inRecording(0, 1, 2, 3))
})
