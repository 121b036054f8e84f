import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  newDirectory,
  runRunnel,
  startAtTerminal,
  startRunnel,
  stopAll,
  type CommandResult,
} from '../cli.testkit.ts'
import { exitCodeFor } from '../cli/exit-codes.ts'
import type { Found } from './core/ramp.ts'
import type { RunReport } from './report/run-report.ts'

/** A network of processes takes its time on a busy machine. */
const timeoutMs = 120_000
const small = '--nodes 1 --duration 500ms --warmup 100ms --connrate 50'

const bench = (line: string, options = {}) => runRunnel(['bench', ...line.split(' ')], options)

function reportOf({ stdout, stderr, code }: CommandResult): RunReport {
  expect(code, `${stdout}${stderr}`).toBe(0)
  return JSON.parse(stdout) as RunReport
}

afterAll(stopAll, timeoutMs)

describe('runnel bench', () => {
  it(
    'loads a network of its own, measures all, and writes it down',
    async () => {
      const cwd = newDirectory()
      const files = '--csv out.csv --report out.html --prometheus 0'
      const line = `pubsub --clients 6 --streams 2 --rate 10 ${small} ${files} --aim loss=0,p99<60s --json`
      const result = await bench(line, { cwd })
      const report = reportOf(result)
      expect(report).toMatchObject({ title: 'pubsub', lossPercent: 0, duplicates: 0, disordered: 0 })
      expect(report.published).toBe(36)
      expect(report.received).toBe(72)
      expect(report.delays?.count).toBeLessThan(72)
      expect(report.joins?.count).toBe(6)
      expect(report.aims.map(({ met }) => met)).toEqual([true, true])
      expect(report.processes.map(({ name }) => name)).toEqual(['tracker', 'node 1'])
      expect(result.stderr).toMatch(/ends within \d+ s/)
      expect(result.stderr).toMatch(/figures for Prometheus: http:\S+/)
      expect(readFileSync(join(cwd, 'out.csv'), 'utf8')).toMatch(/^at_s,/)
      expect(readFileSync(join(cwd, 'out.html'), 'utf8')).toContain('<svg ')
    },
    timeoutMs,
  )

  it(
    'fails with what aim was missed',
    async () => {
      const { code, stdout, stderr } = await bench(`pubsub --clients 2 ${small} --aim p99<1us`)
      expect(code).toBe(1)
      expect(stdout).toContain('MISSED: p99<1us')
      expect(stderr).toContain('BENCH_AIM_MISSED')
    },
    timeoutMs,
  )

  it(
    'encrypts',
    async () => {
      const report = reportOf(
        await bench(`pubsub --clients 3 ${small} --encrypt --rate 10 --aim loss=0 --json`),
      )
      expect(report.received).toBeGreaterThan(0)
    },
    timeoutMs,
  )

  it(
    'measures joining, and reading history',
    async () => {
      const joined = reportOf(await bench('join --clients 4 --links mixed --nodes 1 --aim join<60s --json'))
      expect(joined.joins?.count).toBe(4)
      const read = reportOf(await bench('resend --clients 3 --messages 50 --nodes 0 --aim loss=0 --json'))
      expect(read).toMatchObject({ expected: 150, received: 150, disordered: 0 })
      expect(read.delays?.count).toBe(3)
    },
    timeoutMs,
  )

  it(
    'has rooms, whose users send what sound and pictures take',
    async () => {
      const line = 'rooms --clients 4 --room 2 --nodes 0 --duration 500ms --warmup 100ms --json'
      const report = reportOf(await bench(line))
      expect(report.plan.parts).toHaveLength(2)
      // 80 messages a second of each of four users.
      expect(report.published).toBe(4 * 48)
      expect(report.received).toBeGreaterThan(0)
      // Readers have heard of all publishers before.
      expect(report.losses.dropped?.unresolved).toBe(0)
    },
    timeoutMs,
  )

  it(
    'says what it measured where the disk is full',
    async () => {
      const { code, stdout, stderr } = await bench(`pubsub --clients 2 ${small} --report /dev/full --json`)
      expect(code).not.toBe(0)
      expect(stderr).toContain('DISK_FULL')
      expect(JSON.parse(stdout)).toMatchObject({ title: 'pubsub' })
    },
    timeoutMs,
  )

  it(
    'finds the largest load, and says what ended it',
    async () => {
      const line = `find --clients 2 --room 2 --most 4 --steps 3 ${small} --aim loss=0 --json`
      const report = reportOf(await bench(line)) as RunReport & { found: Found }
      expect(report.found).toMatchObject({ load: 4, end: 'limit', ramp: 'clients' })
      expect(report.found.tried.map(({ load, met }) => [load, met])).toEqual([
        [2, true],
        [4, true],
      ])
      const failed = await bench(
        `find --clients 2 --ramp rate --rate 1 --most 2 --steps 2 ${small} --aim p50<1us`,
      )
      expect(failed.code).toBe(1)
      expect(failed.stdout).toMatch(
        /found: 0 messages a second of each publisher; the (network|generator) ended it/,
      )
    },
    timeoutMs,
  )

  it(
    'shows a table at a terminal, and ends when it is told to',
    async () => {
      const line = 'bench pubsub --clients 2 --nodes 0 --duration 1h'
      const command = startAtTerminal(line.split(' '), { terminal: { rows: 40, columns: 120 } })
      await command.said(/p99 +█/)
      command.process.stdin?.write('\u0003')
      const { stdout } = await command.ended
      expect(stdout).toContain('INTERRUPTED')
      expect(stdout).toContain('DOUBT: the run ended early')
    },
    timeoutMs,
  )

  it.each([
    ['pubsub --aim p98<5ms', 'USAGE', '"p98<5ms" is no aim'],
    ['pubsub --clients 0', 'USAGE', '--clients takes a whole number'],
    ['pubsub --clients 2 --streams 3', 'USAGE', 'more than there are users'],
    ['pubsub --size 10', 'USAGE', '--size takes a whole number from 24'],
    ['pubsub --rate 0', 'USAGE', '--rate takes a number above 0, up to 100000'],
    ['pubsub --clients 2 --processes 3', 'USAGE', 'more than there are users'],
    ['pubsub --clients 4 --streams 2 --publishers 3', 'USAGE', 'more than an overlay has users'],
    ['pubsub --prometheus 99999', 'USAGE', '--prometheus takes a whole number from 0 to 65535'],
    ['pubsub --listen nonsense.invalid', 'USAGE', '--listen nonsense.invalid: this machine cannot listen'],
    ['pubsub --stream /x', 'USAGE', '--stream is for a network that runs'],
    ['find --clients 0', 'USAGE', '--clients takes a whole number'],
    ['find --duration 12h --steps 50', 'USAGE', 'more than 24 days'],
    ['pubsub --worker 127.0.0.1:99999', 'USAGE', '--worker 127.0.0.1:99999: no host:port'],
    ['find --clients 5 --most 2', 'USAGE', 'less than the 5 it begins with'],
    ['pub --run abc', 'USAGE', '--run takes a whole number from 0'],
    ['sub --run -1 --network gone.json', 'USAGE', '--run takes a whole number from 0'],
    ['pub --run 1.5', 'USAGE', '--run takes a whole number from 0'],
    ['rooms --clients 4 --room 2 --streams 2', 'USAGE', '--streams has no effect beside --room'],
    ['pubsub --network gone.json --nodes 5', 'USAGE', '--nodes is for a network that the bench starts'],
    ['pubsub --clients 1 --worker 127.0.0.1:1 --worker 127.0.0.1:2', 'USAGE', '--worker, 2 times'],
    ['find --most 1e9', 'USAGE', '--most takes a number from 1 to 100000'],
    ['find --room 1', 'USAGE', '--room takes a whole number from 2'],
    [
      'rooms --network gone.json --clients 400 --room 2',
      'USAGE',
      '--room 2 for 400 users (--clients) needs 200 partitions, more than the 100',
    ],
    ['find --network gone.json --room 2', 'NETWORK_FILE_MISSING', 'gone.json'],
    ['worker --port 99999', 'USAGE', '--port takes a whole number from 0 to 65535'],
    ['sub', 'USAGE', 'needs --network'],
    ['pubsub --report no/such/folder/x.html', 'FILE_UNWRITABLE', 'x.html'],
    ['pubsub --network gone.json', 'NETWORK_FILE_MISSING', 'gone.json'],
    ['pubsub --worker 192.0.2.1:7180', 'USAGE', 'cannot reach a network of this machine'],
    ['pubsub --worker 127.0.0.1:1', 'BENCH_WORKER_UNREACHABLE', '127.0.0.1:1'],
    ['pubsub --clients 100000', 'BENCH_TOO_FEW_FILES', 'and needs about'],
    ['worker', 'BENCH_TOKEN_MISSING', 'at least 16 characters'],
    ['pubsub --worker 127.0.0.1:7180', 'BENCH_TOKEN_MISSING', 'set it here, too'],
  ])(
    'refuses %s before anything starts',
    async (line, code, text) => {
      const env = code === 'BENCH_TOKEN_MISSING' ? {} : { RUNNEL_BENCH_TOKEN: 'a token for this test' }
      const { stderr, ...result } = await bench(line, { env })
      expect(result.code).toBe(exitCodeFor(code))
      expect(stderr).toContain(code)
      expect(stderr).toContain(text)
      expect(stderr).not.toContain('starting')
      expect(stderr).not.toContain('ends within')
    },
    timeoutMs,
  )
})

describe('runnel bench on a network that runs', () => {
  it(
    'publishes in one command and subscribes in another, here with two workers',
    async () => {
      const cwd = newDirectory()
      const up = startRunnel('up --nodes 2 --trackers 1 --websocket-share 1 --dir up'.split(' '), { cwd })
      await up.said(/stream list/)
      const owner = '--network up/network.json --key up/keys/owner.key'
      const network = `${owner} --aim loss=0 --json`
      // Made first, so that neither has to.
      const created = await runRunnel(`stream create /bench ${owner}`.split(' '), { cwd })
      expect(created.code, created.stderr).toBe(0)
      const rooms = await bench(`rooms --clients 4 --room 2 ${network}`, { cwd })
      expect(rooms.stderr).toContain('needs 2 partitions, more than the 1 of')
      const sub = `bench sub --clients 2 --duration 15s --warmup 100ms --processes 2 ${network}`
      const read = startRunnel(sub.split(' '), { cwd })
      // By then its users have joined, and what is sent comes to them.
      await read.said('sending')
      const sent = await bench(`pub --clients 1 --rate 20 --duration 4s --warmup 100ms ${network}`, { cwd })
      const [publishing, reading] = [reportOf(sent), reportOf(await read.ended)]
      expect(publishing.published).toBe(82)
      expect(reading.generators).toHaveLength(2)
      expect(reading).toMatchObject({ duplicates: 0, disordered: 0, lossPercent: 0 })
      expect(reading.received).toBeGreaterThan(0)
      up.process.kill('SIGTERM')
      await up.ended
    },
    timeoutMs,
  )

  it(
    'says that no tracker answers',
    async () => {
      const cwd = newDirectory()
      const trackers = [{ nodeId: `0x${'1'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
      const streams = [
        { id: `0x${'2'.repeat(40)}/s`, permissions: [{ user: 'public', publish: true, subscribe: true }] },
      ]
      writeFileSync(join(cwd, 'net.json'), JSON.stringify({ version: 1, trackers, streams }))
      const { code, stderr } = await bench(`pubsub --network net.json --stream ${streams[0]?.id}`, { cwd })
      expect(stderr).toContain('TRACKER_UNREACHABLE')
      expect(code).toBe(69)
    },
    timeoutMs,
  )
})
