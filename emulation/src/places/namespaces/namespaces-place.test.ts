import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ControlClient } from '../../control/control-client.ts'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'
import type { Fleet, Host } from '../place.ts'
import { NamespacesPlace } from './namespaces-place.ts'

const fleet: Fleet = { nodes: 4, links: 'mixed', degree: 4, overlay: 'random' }
const pings = 20
/** Two processes and the emulator wait for their turn on a busy machine: the best of all pings has to wait no longer. */
const patienceMs = 10

function placeForTest(): NamespacesPlace {
  const place = new NamespacesPlace({ latency: 'cities', seed: 1 })
  onTestFinished(() => place.stop())
  return place
}

const clientOf = ({ control }: Host) => new ControlClient(control)
const targetOf = ({ address }: Host) => `${address}:9`
const namespaceOf = (pid: number) => readlinkSync(`/proc/${pid}/ns/net`)

/** The network namespaces that any process is in. */
function namespacesInUse(): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [namespaceOf(Number(pid))] : []
    } catch {
      return [] // It has ended meanwhile.
    }
  })
}

describe.skipIf(lacksRoot)('the place of namespaces', () => {
  it('lets processes reach each other in the time that was asked for, and leaves nothing behind', async () => {
    const place = placeForTest()
    const { tracker, nodes } = await place.start(fleet, AbortSignal.timeout(110_000))
    const hosts = [tracker, ...nodes]
    expect(hosts.map(({ site }) => site)).toEqual(['Helsinki', 'Frankfurt', 'Dublin', 'London', 'Paris'])
    for (const from of nodes) {
      const others = hosts.filter((host) => host !== from)
      const { results } = await clientOf(from).ping(others.map(targetOf), pings)
      others.forEach((to, index) => {
        const askedMs = place.delayMs(from, to) + place.delayMs(to, from)
        const fastestMs = Math.min(...(results[index]?.rttsMs ?? []))
        expect(fastestMs).toBeGreaterThan(askedMs - 0.1)
        expect(fastestMs).toBeLessThan(askedMs + patienceMs)
      })
    }
    const infos = await Promise.all(hosts.map((host) => clientOf(host).info()))
    expect(infos.map(({ websocketUrl }) => websocketUrl !== '')).toEqual([true, true, false, true, false])
    const namespaces = infos.map(({ pid }) => namespaceOf(pid))
    expect(new Set(namespaces).size).toBe(hosts.length)
    expect(await place.facts()).toMatchObject({
      latency: 'cities',
      'emulator.lost': 0,
      'emulator.poolFull': 0,
    })

    await place.stop()
    expect(namespacesInUse().filter((namespace) => namespaces.includes(namespace))).toEqual([])
    expect(existsSync(dirname(tracker.control.slice('unix:'.length)))).toBe(false)
  })

  it('loses what it is told to, is as slow as it is told to, and starts a process anew', async () => {
    const place = placeForTest()
    const signal = AbortSignal.timeout(110_000)
    const { nodes } = await place.start({ ...fleet, nodes: 2, links: 'webrtc', dilation: 5 }, signal)
    const [first, second] = nodes
    if (!first || !second) throw new Error('two nodes were asked for')
    await place.setLoss(1)
    expect((await clientOf(first).ping([targetOf(second)], 1)).results).toMatchObject([{ failed: 1 }])
    await place.setLoss(0)
    const startMs = performance.now()
    const { results } = await clientOf(first).ping([targetOf(second)], 1)
    const tookMs = performance.now() - startMs
    const askedMs = place.delayMs(first, second) + place.delayMs(second, first)
    expect(tookMs).toBeGreaterThan(5 * askedMs - 0.1)
    expect(results[0]?.rttsMs[0]).toBeGreaterThan(askedMs - 0.1)
    expect(results[0]?.rttsMs[0]).toBeLessThan(tookMs / 5)
    const { pid } = await clientOf(second).info()
    await place.restart(second, signal)
    expect((await clientOf(second).info()).pid).not.toBe(pid)
    expect((await clientOf(second).ping([targetOf(first)], 1)).results).toMatchObject([{ failed: 0 }])
  })

  it('comes down when it is told to stop before it is up', async () => {
    const place = placeForTest()
    const controller = new AbortController()
    const started = place.start(fleet, controller.signal)
    controller.abort(new Error('no more'))
    await expect(started).rejects.toThrow('no more')
    await place.stop()
    await place.stop()
  })

  it('is refused when there are more nodes than addresses', async () => {
    const place = placeForTest()
    await expect(place.start({ ...fleet, nodes: 256 }, AbortSignal.timeout(1_000))).rejects.toMatchObject({
      code: 'PLACE_CANNOT',
    })
  })

  it('is gone soon after the process that made it was killed', async () => {
    const script = fileURLToPath(new URL('abandoned-place.testkit.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=runnel-src', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const pids = JSON.parse(line) as number[]
    const namespaces = pids.map(namespaceOf)
    child.kill('SIGKILL')
    await vi.waitFor(
      () => expect(namespacesInUse().filter((namespace) => namespaces.includes(namespace))).toEqual([]),
      { timeout: 60_000, interval: 100 },
    )
  })
})
