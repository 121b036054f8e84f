import { expect, it } from 'vitest'
import { publishIvf, publishOgg } from './files/publish-files.ts'
import { publishAudio } from './page/publish-audio.ts'
import { publishVideo } from './page/publish-video.ts'
import { openRecording } from './recording/open-recording.ts'
import { recordSession } from './recording/session-recorder.ts'

/** Fails the test that uses it: options are looked at first. */
const untouched = new Proxy(
  {},
  {
    get: (_, name) => {
      throw new Error(`${String(name)} was used`)
    },
  },
) as never

const noSignal = { signal: 5 } as never

it.each([
  ['publishOgg', () => publishOgg(untouched, untouched, noSignal)],
  ['publishIvf', () => publishIvf(untouched, untouched, noSignal)],
] as const)('%s refuses a signal that is none', async (name, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringContaining(`signal of ${name} must be an AbortSignal`) as string,
  })
})

const misspelt = { sourcee: 'camera' } as never

it.each([
  ['publishOgg', () => publishOgg(untouched, untouched, misspelt)],
  ['publishIvf', () => publishIvf(untouched, untouched, misspelt)],
  ['publishAudio', () => publishAudio(untouched, untouched, misspelt)],
  ['publishVideo', () => publishVideo(untouched, untouched, misspelt)],
  ['openRecording', () => openRecording('s', misspelt, { client: untouched })],
  ['recordSession', () => recordSession('s', 't', misspelt, untouched)],
  ['a rendition', () => publishVideo(untouched, untouched, { source: 'camera', renditions: [misspelt] })],
] as const)('%s refuses an option that it does not have, and names those it has', async (name, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'OPTIONS_INVALID',
    message: expect.stringMatching(`${name} has no option "sourcee"; it has \\w`) as string,
  })
})
