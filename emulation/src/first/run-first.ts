import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TestPictures } from '../media/clip/test-picture.ts'
import { encodeVp8 } from '../media/clip/vpx.ts'
import { within } from '../media/within.ts'
import type { PlaceFacts } from '../places/place.ts'
import { openRunDirectory } from '../places/processes/run-directory.ts'
import { FirstHosts } from './first-hosts.ts'
import {
  clip,
  type FirstArm,
  type FirstOptions,
  type FirstTask,
  type JoinReport,
  type PublishReport,
} from './first-plan.ts'
import { rowsOf, type FirstRow } from './first-rows.ts'

const publisherProgram = fileURLToPath(new URL('./publisher.ts', import.meta.url))
const joinerProgram = fileURLToPath(new URL('./joiner.ts', import.meta.url))
/** A process that has not joined both streams after so long has failed. */
export const joinLimitMs = 60_000
const publisherPort = 31_000

export interface FirstReport {
  readonly rows: readonly FirstRow[]
  readonly facts: PlaceFacts
}

/**
 * Starts processes that join live streams over emulated links, one after the other, the arms in turns. Needs root. Rejects with PROCESS_FAILED,
 * TOO_SLOW, and with whatever the signal aborts with; nothing is left behind in any case.
 */
export async function runFirst(
  options: FirstOptions,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<FirstReport> {
  const directory = openRunDirectory()
  const hosts = new FirstHosts(options, directory)
  const either = AbortSignal.any([signal, hosts.failed])
  try {
    const clipFile = options.goal === 'frame' ? await writeClip(directory) : undefined
    await hosts.start(either)
    const tasks = options.arms.map((arm) => ({
      ...taskOf(arm, hosts, directory),
      ...{ goal: options.goal, clipFile },
    }))
    for (const task of tasks) await startPublisher(hosts, task, either)
    const rows: FirstRow[] = []
    for (let repeat = 0; repeat < options.repeats; repeat++)
      for (const task of tasks) {
        onProgress(`${task.arm}, ${repeat + 1} of ${options.repeats}`)
        const report = await within(joinLimitMs, either, (some) => joinOnce(hosts, task, some))
        rows.push(...rowsOf({ ...options, arm: task.arm, repeat }, report))
      }
    const facts = { ...(await hosts.facts()), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
    await hosts.stop()
    return { rows, facts: Object.assign(facts, ...tasks.map(publishingCosts)) as PlaceFacts }
  } catch (error) {
    // Whatever was under way when it was ended says so in its own words.
    either.throwIfAborted()
    throw error
  } finally {
    await hosts.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function writeClip(directory: string): Promise<string> {
  const file = join(directory, 'clip.ivf')
  const pictures = new TestPictures(clip.size)
  const source = Array.from({ length: clip.pictures }, (_, n) => pictures.picture(2 * n))
  writeFileSync(file, await encodeVp8(source, clip))
  return file
}

function taskOf(arm: FirstArm, hosts: FirstHosts, directory: string): Omit<FirstTask, 'goal' | 'clipFile'> {
  return {
    ...{ arm, networkFile: hosts.networkFile, recordFile: join(directory, `publisher-${arm}.json`) },
    streamIds: { cold: hosts.streamId(arm, 'cold'), warm: hosts.streamId(arm, 'warm') },
    publisher: { address: hosts.addressOf(arm), port: publisherPort },
  }
}

async function startPublisher(hosts: FirstHosts, task: FirstTask, signal: AbortSignal): Promise<void> {
  const program = publisherProgram
  await hosts.run(`publisher-${task.arm}`, task.arm, [JSON.stringify(task)], { program, signal })
}

/** One process from its start to its end. */
async function joinOnce(hosts: FirstHosts, task: FirstTask, signal: AbortSignal): Promise<JoinReport> {
  const reported = Promise.withResolvers<JoinReport>()
  const joiner = await hosts.run('joiner', 'joiner', [JSON.stringify(task)], {
    ...{ program: joinerProgram, signal },
    onMessage: (message) => reported.resolve(message as JoinReport),
  })
  // It says nothing but its report, with which its start is complete.
  const report = await reported.promise
  await joiner.stop()
  return report
}

function publishingCosts({ arm, recordFile }: FirstTask): PlaceFacts {
  const { cpuMs, elapsedMs, rssBytes } = JSON.parse(readFileSync(recordFile, 'utf8')) as PublishReport
  return {
    [`publisher.${arm}.cpuPercent`]: Math.round((1_000 * cpuMs) / elapsedMs) / 10,
    [`publisher.${arm}.rssMiB`]: Math.round(rssBytes / 2 ** 20),
  }
}
