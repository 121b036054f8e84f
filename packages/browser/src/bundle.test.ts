import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as client from '@runnel/client'
import type { Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForPages, type PageBundles } from './bundle.ts'

/**
 * What a page may cost that uses no chain and no encryption; 0.7 kB of it is for telling trackers of the page and its links, 0.6 kB for
 * one inbox for many streams, whose subscriptions are loaded when they are used, and 3.3 kB for keys of messages and for what nodes keep and
 * tell of the newest; asking for it is loaded when it is used.
 * 3.8 kB are for light clients: their settings, limits, counters and errors, and where they differ from members. What chooses and watches
 * hosts is loaded when it is used.
 * 3.3 kB are for presence and requests, which are loaded when they are used: their methods and errors, and more files that pack less well.
 * 0.7 kB are for the methods of durable readers, and 0.5 kB for passing on batches that others signed; what does it is loaded when it is used.
 * 1.1 kB are for counts of nodes: what asks trackers, two packets and three errors.
 * 5.0 kB are for thin floods: two packets, and for each chain and neighbour who brings what.
 * 6.4 kB are for urgent messages: their flood, two packets, fourteen counters, and at each link a queue, windows and pieces.
 * 4.7 kB are for the rate of links: which frames arrived when, what that says, layers, and numbers for headers. What tells a publisher of it, and
 * what records, is loaded when it is used.
 * 1.6 kB are for links that lose: a lane that may lose, and batches with an alias for their header.
 * 0.8 kB are for liars of thin floods: announcements count by their check, and what a neighbour withholds.
 * 3.0 kB are for fewer copies of urgent messages: two packets, digests, what is kept for neighbours, and what is asked of them; 0.2 kB for
 * rates that do not take a busy machine for a queue, and 0.1 kB for light clients that only publish.
 * 2.2 kB are for verification on other cores: what waits for it, in its order. The workers are loaded when they are used.
 * 0.6 kB are for the first data channel, on which both ends agree, and for pings that become fewer.
 * 0.7 kB are for sending again what links lost of urgent messages, 0.3 kB for tables and handlers that are made when they are needed, and 0.1 kB
 * for storage nodes that are dialled once more.
 * 0.2 kB are for saying how long signals take, and 0.2 kB for not taking a busy process for a slow link.
 * 0.2 kB are for maps, sets and caches that hold memory only while something is in them.
 * 0.2 kB are for hellos in offers and answers, which take a round trip off the first message, and 0.2 kB for messages that are made
 * ready before they are sent, and for sockets that are called off; 0.4 kB are for batches that whoever built them does not decode again.
 * 0.7 kB less since what creates and changes streams is loaded when it is used, and 1.8 kB less without the help texts of counters.
 * 0.1 kB is for waiting until keys are stored as well, 0.1 kB for looking how deep JSON is, and 0.8 kB for repair that passes over neighbours that are busy, and waiting places that rest from
 * carriers that are none. 0.1 kB is for remedies that name what else can be the reason, or the command.
 * 0.3 kB are for connections that are closed only when nothing is under way on them, and for transports that throw.
 * 1.1 kB are for pages that forbid WebAssembly, workers that do not answer, recordings that nobody could open, and options of a wrong kind.
 * 0.2 kB are for links that keep several connections while something is under way on them, and for workers that are replaced.
 * 0.1 kB is for telling what a slow link explains of useless data from what it does not, 0.4 for urgent messages that wait for their publisher,
 * paths of links that are not looked up each time, and random numbers that are drawn ahead.
 * 1 kB is for clocks that are set right, storage nodes that are replaced, urgent signatures that workers check, and attaches that pass a full queue.
 * 0.3 kB are for subscriptions that end with a reason where their user may not read any more, and for an error of tables that are too large.
 * 0.1 kB is for timers that browsers hold back, and sessions for which there is no room.
 * 0.3 kB are for dialling anew where signals were lost with a connection to a tracker, or the other side has given up.
 * 0.6 kB are for partitions that a stream gets later, and for rights that may come back.
 */
const budgetBytes = 219_300
/**
 * What is loaded in addition for encryption; 1.4 kB of it is for going on where storage nodes do not answer for a while: keys that are soon
 * replaced, the last epoch that is looked for again, records that are stored later, and lists of keys that are not whole. 0.2 kB is for
 * leaving storage nodes alone that refuse a user whose permission ended, 0.9 kB for messages dated ahead, and clocks that are set right.
 */
const encryptionBudgetBytes = 35_200

// In the package: names and order of chunks depend on the paths between outputs and sources, and with them the size.
const dist = join(import.meta.dirname, '../dist')
mkdirSync(dist, { recursive: true })
const outdir = mkdtempSync(join(dist, 'page-test-'))
afterAll(() => rmSync(outdir, { recursive: true }))

let bundles: PageBundles
beforeAll(async () => {
  bundles = await bundleForPages(outdir)
})

const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(outdir, file))).length, 0)

/** A file and all that it names, without what is loaded when it is used. */
function closureOf({ outputs }: Metafile, entry: string): Set<string> {
  const files = new Set<string>()
  const visit = (file: string): void => {
    const output = outputs[file]
    if (output === undefined || files.has(file)) return
    files.add(file)
    for (const { path, kind } of output.imports) if (kind === 'import-statement') visit(path)
  }
  visit(entry)
  return files
}

const holds = ({ outputs }: Metafile, file: string, input: string): boolean =>
  Object.keys(outputs[file]?.inputs ?? {}).some((name) => name.includes(input))

describe('the bundle', () => {
  it('costs a page no more than its budget before it uses a chain or encryption', () => {
    const first = closureOf(bundles.modules, 'runnel.js')
    expect(gzipBytes(first)).toBeLessThanOrEqual(budgetBytes)
    for (const file of first)
      for (const later of [
        ...['node_modules/ethers/', '@noble/post-quantum/', 'encryption/opener.ts'],
        ...['prefix/prefix-subscription.ts', 'follow/stream-follower.ts', 'latest/last.ts'],
        ...['streams/streams.ts', 'streams/stream-changes.ts', 'resend/wait-for-storage.ts'],
        ...['verification/page-workers.ts', 'verification/worker-verification.ts'],
        ...['hosts/host-choice.ts', 'hosts/host-watch.ts', 'guests/guests.ts', 'reader/durable-reader.ts'],
      ])
        expect(holds(bundles.modules, file, later), `${file} has ${later}`).toBe(false)
  })

  it('costs a page no more than its budget when it reads or publishes something encrypted', () => {
    const { modules } = bundles
    const first = closureOf(modules, 'runnel.js')
    const needed = ['encryption/opener.ts', 'encryption/card-directory.ts', 'encryption/x-wing-kem.ts']
    const later = needed.map((input) => {
      const file = Object.keys(modules.outputs).find((name) => holds(modules, name, input))
      return [...closureOf(modules, file ?? '')].filter((name) => !first.has(name))
    })
    expect(later.every((files) => files.length > 0)).toBe(true)
    expect(gzipBytes(new Set(later.flat()))).toBeLessThanOrEqual(encryptionBudgetBytes)
  })

  it('has one copy only of what encrypts and signs', () => {
    for (const { outputs } of [bundles.modules, bundles.single]) {
      const inputs = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))
      const copies = inputs.flatMap(
        (input) => /.*node_modules\/@(noble|stablelib)\/[\w-]+/.exec(input)?.[0] ?? [],
      )
      // That which reads a chain has older ones.
      const ours = new Set(copies.filter((copy) => !copy.includes('/ethers/')))
      const packages = [...ours].map((copy) => copy.replace(/.*@/, ''))
      expect(packages).toEqual([...new Set(packages)])
      expect(packages).toEqual(
        expect.arrayContaining(['noble/curves', 'noble/post-quantum', 'stablelib/chacha20poly1305']),
      )
      expect(packages).not.toContain('noble/ciphers')
    }
  })

  it('exports what the client exports in Node', () => {
    for (const [metafile, file] of [
      [bundles.modules, 'runnel.js'],
      [bundles.single, 'runnel.single.js'],
    ] as const)
      expect(metafile.outputs[file]?.exports.toSorted()).toEqual(Object.keys(client).toSorted())
  })

  it('is one file where that is wanted', () => {
    expect(Object.keys(bundles.single.outputs)).toEqual(['runnel.single.js'])
  })

  it('has nothing of Node in it', () => {
    for (const { outputs } of [bundles.modules, bundles.single]) {
      for (const { imports, inputs } of Object.values(outputs)) {
        expect(
          Object.keys(inputs).filter((input) => /node_modules\/(ws|node-datachannel)\//.test(input)),
        ).toEqual([])
        expect(imports.filter(({ external }) => external)).toEqual([])
      }
    }
  })
})
