import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { BundledFile } from '../../pages/bundle-page.ts'
import { emulationError } from '../../errors.ts'
import type { EmulatedHost } from '../../underlay/link-emulator.ts'

/** Where Debian's package puts it. */
const chromiumPath = process.env['RUNNEL_CHROMIUM'] ?? '/usr/bin/chromium'
const args = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  '--autoplay-policy=no-user-gesture-required',
  // Names by multicast DNS do not get to another host, and other hosts of the network are asked for without a question to a person.
  '--disable-features=WebRtcHideLocalIpsWithMdns,LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets',
]
/** A secure context, and no server has to be there: what is asked for there is answered by this process. */
const origin = 'http://localhost'

/** Starts a Chromium in the network of a host, with one page of these files. The script for it goes to `directory`. */
export async function openHostPage(
  host: EmulatedHost,
  directory: string,
  files: ReadonlyMap<string, BundledFile>,
): Promise<{ readonly browser: Browser; readonly page: Page }> {
  const executablePath = join(directory, `chromium-${host.index}`)
  const script = `#!/bin/sh\nexec nsenter --net=${host.namespace} -- ${chromiumPath} "$@"\n`
  writeFileSync(executablePath, script)
  chmodSync(executablePath, 0o755)
  const browser = await chromium
    .launch({
      ...{ executablePath, args },
      // What it leaves of temporary files goes with the run.
      env: { ...process.env, TMPDIR: directory },
      // Who runs this ends the whole experiment, and not only the browser.
      ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
    })
    .catch((cause: unknown) => {
      throw emulationError('PROCESS_FAILED', `${chromiumPath} did not start`, { cause })
    })
  // Where no device may be used a page does not tell its addresses.
  const context = await browser.newContext({ permissions: ['camera', 'microphone'] })
  const page = await context.newPage()
  await page.route(`${origin}/**`, async (route) => {
    const file = files.get(new URL(route.request().url()).pathname)
    if (file === undefined) await route.fulfill({ status: 404 })
    else await route.fulfill({ contentType: file.type, body: Buffer.from(file.body) })
  })
  await page.goto(`${origin}/`)
  return { browser, page }
}
