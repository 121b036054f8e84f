import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { joinRoom, roomNetwork, say, sees, tile } from '../../../../examples/room/room.testkit.ts'
import { serveExample } from '../../../../examples/serve.ts'
import {
  chromiumPath,
  fakeDevices,
  launchChromium,
} from '../../../../packages/browser/src/chromium.testkit.ts'
import { startTracker } from '../../../../packages/browser/src/network.testkit.ts'
import { withEmulator } from '../../underlay/emulator.testkit.ts'
import type { EmulatedHost, LinkEmulator } from '../../underlay/link-emulator.ts'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'
import { LoopbackBridge } from './loopback-bridge.testkit.ts'

const lossRate = 0.03
const delayMs = 20
/** The pages share two cores with what emulates the link: with more pictures than these a slow machine is too busy to show any. */
const framesPerS = 5

const patience = { timeout: 120_000 }
const until = <T>(isSo: () => Promise<T>) => expect.poll(isSo, patience)

describe.skipIf(lacksRoot)('the room', () => {
  it(
    'is entered by several tabs, one of them behind a link that loses 3 % each way, and then has no room for pictures',
    { timeout: 480_000 },
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'runnel-room-'))
      onTestFinished(() => rmSync(directory, { recursive: true }))
      const tracker = await startTracker()
      onTestFinished(() => tracker.stop())
      const served = await serveExample('room', roomNetwork(tracker))
      onTestFinished(() => served.stop())
      await withEmulator({ hosts: 2, delayMs }, async (emulator, hosts) => {
        const browsers: Browser[] = []
        const bridges: LoopbackBridge[] = []
        try {
          for (const host of hosts) {
            for (const url of [served.url, tracker.url])
              bridges.push(new LoopbackBridge(host, Number(new URL(url).port), directory))
            browsers.push(await launchIn(host, directory))
          }
          await Promise.all(bridges.map((bridge) => bridge.start()))
          const [good, lossy] = browsers as [Browser, Browser]
          const ada = await joinRoom(good, served.url, 'Ada')
          const link = ada.url()
          await emulator.setLoss(hosts[1] as EmulatedHost, lossRate)
          const ben = await joinRoom(lossy, link, 'Ben')
          await Promise.all([sees(ben, 'Ada'), sees(ada, 'Ben')])
          await ben.locator('.tile.speaking').first().waitFor()
          await ben.getByText('Network', { exact: true }).click()
          const figures = ben.locator('#figures tr', { hasText: 'Ada' })
          await until(async () => /(180|360)p, [1-9]\d*\/s/.test((await figures.textContent()) ?? '')).toBe(
            true,
          )
          const before = (await emulator.statistics()).lost
          await Promise.all([sees(ben, 'Ada'), sees(ada, 'Ben')])
          await until(async () => (await emulator.statistics()).lost).toBeGreaterThan(before)
          await emulator.setLoss(hosts[1] as EmulatedHost, 0)
          await soundOnly(emulator, hosts[1] as EmulatedHost, { ada, ben })
          // Comes last: a third page with pictures is too much for two slow cores.
          const carla = await joinRoom(good, link, 'Carla', { permissions: [] })
          for (const name of ['Ada', 'Ben']) await tile(carla, name).waitFor(patience)
          await tile(ben, 'Carla').waitFor(patience)
          await say(ben, 'do you hear me')
          for (const other of [ada, carla])
            await other.locator('li').getByText('do you hear me').waitFor(patience)
          await say(carla, 'yes')
          await ben.locator('li').getByText('yes').waitFor(patience)
          await ben.getByRole('button', { name: 'Leave' }).click()
          for (const other of [ada, carla])
            await tile(other, 'Ben').waitFor({ ...patience, state: 'detached' })
          await sees(carla, 'Ada')
        } finally {
          await Promise.all(browsers.map((browser) => browser.close()))
          for (const bridge of bridges) bridge.stop()
        }
      })
    },
  )
})

/** Behind a link that carries a voice and no pictures both say so, sound goes on, and pictures come back with the link. */
async function soundOnly(
  emulator: LinkEmulator,
  host: EmulatedHost,
  { ada, ben }: { readonly ada: Page; readonly ben: Page },
): Promise<void> {
  await emulator.setBandwidth(host, 200_000, 20_000)
  await ben.getByText('You, sound only: your network is too slow for video now').waitFor(patience)
  await tile(ada, 'Ben').getByText('Sound only: their network is too slow').waitFor(patience)
  // How much its way varies is told anew with each sound that comes, and by nothing else.
  const jitters = new Set<string | null>()
  const jitter = ben.locator('#figures tr', { hasText: 'Ada' }).locator('td').nth(3)
  await until(async () => jitters.add(await jitter.textContent()).size).toBeGreaterThan(4)
  await emulator.setBandwidth(host, 0, 0)
  await Promise.all([sees(ben, 'Ada'), sees(ada, 'Ben')])
}

/** A Chromium in the host's namespace. Its pages tell their addresses: names by mDNS do not get to another host. */
async function launchIn(host: EmulatedHost, directory: string): Promise<Browser> {
  const program = join(directory, `chromium-${host.index}`)
  writeFileSync(program, `#!/bin/sh\nexec nsenter --net=${host.namespace} -- ${chromiumPath} "$@"\n`)
  chmodSync(program, 0o755)
  return launchChromium(
    [...fakeDevices(directory, framesPerS), '--disable-features=WebRtcHideLocalIpsWithMdns'],
    program,
  )
}
