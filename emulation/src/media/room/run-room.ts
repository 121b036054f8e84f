import { rmSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { RecordRow } from '@runnel/sim/records'
import { openRunDirectory } from '../../places/processes/run-directory.ts'
import type { Underlay } from '../../underlay/underlay.ts'
import { TestPictures } from '../clip/test-picture.ts'
import { encodeVoice } from '../clip/voice.ts'
import { encodeVp8 } from '../clip/vpx.ts'
import { roomFigures } from './room-figures.ts'
import { RoomNetwork } from './room-network.ts'
import { graceMs, warmUpMs, type RoomOptions } from './room-plan.ts'

/** As the lowest rendition of a page. */
const clip = { size: { width: 320, height: 180 }, picturesPerS: 15, kbitPerS: 110, picturesOfGroup: 60 }
const clipSeconds = 8

/** Runs one room and gives what came of it. Rejects with PROCESS_FAILED, NOT_FORMED, and what the link emulator rejects with. */
export async function runRoom(
  options: RoomOptions,
  underlay: Underlay,
  signal: AbortSignal,
): Promise<RecordRow> {
  const directory = openRunDirectory()
  const network = new RoomNetwork(options, { underlay, directory })
  const { dilation, measureMs, sites, arm, floods, members, voices, pictures, lossPercent } = options
  /** By the clock of the members. */
  const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000 / dilation
  try {
    const { picturesPerS } = clip
    await network.start({ ...(await writeClips(directory)), picturesPerS }, signal)
    const either = AbortSignal.any([signal, network.failed])
    await network.setLoss(lossPercent / 100)
    await delay(warmUpMs * dilation, undefined, { signal: either })
    const fromMs = nowMs()
    await delay(measureMs * dilation, undefined, { signal: either })
    const untilMs = nowMs()
    await delay(graceMs * dilation, undefined, { signal: either })
    const { lost, packets } = await network.statistics()
    const records = await network.records()
    const siteOf = (name: string): string => sites[Number(name.replace('member-', '')) % sites.length] ?? ''
    const delayMs = (from: string, to: string): number => underlay.delayMs(from, to)
    const window = { fromMs, untilMs }
    const figures = roomFigures({ records, window, dilation, picturesPerS, siteOf, delayMs })
    return {
      ...{ arm, floods, members, voices, pictures, lossPercent, dilation, seconds: measureMs / 1_000 },
      ...{ machineLoad: Math.round((loadavg()[0] ?? 0) * 10) / 10, packetsLost: lost, packets },
      ...figures,
    }
  } finally {
    await network.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function writeClips(directory: string) {
  const files = { voiceFile: join(directory, 'voice.opus.json'), clipFile: join(directory, 'clip.ivf') }
  const pictures = new TestPictures(clip.size)
  const source = Array.from({ length: clip.picturesPerS * clipSeconds }, (_, n) => pictures.picture(2 * n))
  writeFileSync(files.clipFile, await encodeVp8(source, clip))
  const voice = await encodeVoice(clipSeconds)
  writeFileSync(files.voiceFile, JSON.stringify(voice.map((frame) => Buffer.from(frame).toString('base64'))))
  return files
}
