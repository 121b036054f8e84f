import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { chromiumPath, type Browsers } from '../../pages/browsers.ts'
import type { BundledFile } from '../../pages/bundle-page.ts'
import type { EmulatedHost } from '../../underlay/link-emulator.ts'

const args = [
  '--autoplay-policy=no-user-gesture-required',
  // Names by multicast DNS do not get to another host, and other hosts of the network are asked for without a question to a person.
  '--disable-features=WebRtcHideLocalIpsWithMdns,LocalNetworkAccessChecks,LocalNetworkAccessChecksWebSockets',
]
/** A secure context, and no server has to be there: what is asked for there is answered by this process. */
const origin = 'http://localhost'

/** Launches a Chromium in the network of a host, with one page of these files. The script for it goes to `directory`. */
export async function openHostPage(
  browsers: Browsers,
  host: EmulatedHost,
  { directory, files }: { readonly directory: string; readonly files: ReadonlyMap<string, BundledFile> },
): Promise<Page> {
  const executablePath = join(directory, `chromium-${host.index}`)
  const script = `#!/bin/sh\nexec nsenter --net=${host.namespace} -- ${chromiumPath} "$@"\n`
  writeFileSync(executablePath, script)
  chmodSync(executablePath, 0o755)
  // What it leaves of temporary files goes with the run.
  const env = { ...process.env, TMPDIR: directory }
  const browser = await browsers.launch({ executablePath, args, env })
  // Where no device may be used a page does not tell its addresses.
  const context = await browser.newContext({ permissions: ['camera', 'microphone'] })
  const page = await context.newPage()
  await page.route(`${origin}/**`, async (route) => {
    const file = files.get(new URL(route.request().url()).pathname)
    if (file === undefined) await route.fulfill({ status: 404 })
    else await route.fulfill({ contentType: file.type, body: Buffer.from(file.body) })
  })
  await page.goto(`${origin}/`)
  return page
}
