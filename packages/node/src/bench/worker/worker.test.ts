import { once } from 'node:events'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { createServer } from 'node:http'
import { connect as dial, type AddressInfo } from 'node:net'
import { preciseNow } from '../load/metronome.ts'
import { closeBoundMs } from '../core/budget.ts'
import type { LoadPlan } from '../core/plan.ts'
import { DelayHistogram } from '../load/histogram.ts'
import { startOwnNetwork } from '../network/own-network.ts'
import { WorkerConnection, type CallRequest } from './calls.ts'
import { RemoteGenerator } from './remote-generator.ts'
import { startWorker, type BenchWorker } from './worker-server.ts'
import { workerVersion } from './worker-version.ts'

const token = 'a token for this test'
const timeoutMs = 60_000
const { signal } = new AbortController()
const stops: (() => Promise<unknown>)[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const stop of stops.splice(0).toReversed()) await stop()
}, timeoutMs)

async function worker(maxDrivers = 1): Promise<BenchWorker> {
  const started = await startWorker({ host: '127.0.0.1', port: 0, token, name: 'here', maxDrivers })
  stops.push(() => started.stop())
  return started
}

async function connect(place: string): Promise<RemoteGenerator> {
  const generator = await RemoteGenerator.connect(place, token)
  stops.push(() => generator.stop())
  return generator
}

/** Two users, in a network of their own. */
async function openTwo(generator: RemoteGenerator, connectPerS: number): Promise<void> {
  const options = { nodes: 0, parts: 1, degree: 4, encrypted: false, storage: false, gateways: false }
  const network = await startOwnNetwork({ ...options, signal, onProgress: () => {} })
  stops.push(() => network.stop())
  const plan: LoadPlan = {
    ...{ runId: 1, sender: 0, kind: 'light', links: 'websocket', floods: 'thin', clients: 2, degree: 4 },
    ...{ publishersPerPart: 1, subscribes: true, history: 0, connectPerS, parts: network.parts },
    flows: [{ name: 'messages', ratePerS: 100, sizeBytes: 100, urgent: false }],
  }
  const users = { network: network.source, user: undefined, host: '127.0.0.1', gateway: undefined }
  await generator.open(plan, users, { index: 0, of: 1 }, signal)
}

describe('a worker', () => {
  it(
    'obeys a driver: opens users, sends, and gives what it measured',
    async () => {
      const generator = await connect((await worker()).place)
      await openTwo(generator, 100)
      await expect.poll(() => generator.missing(), { timeout: timeoutMs }).toEqual([])
      const startMs = Date.now()
      await generator.run({ startMs, measureFromMs: startMs, endMs: startMs + 200 }, signal)
      await expect.poll(async () => (await generator.result()).received, { timeout: timeoutMs }).toBe(20)
      const result = await generator.result()
      expect(result).toMatchObject({ published: [20], duplicates: 0, missing: 0 })
      expect(result.clockErrorMs).toBeGreaterThan(0)
      expect((await generator.sample()).received).toBe(20)
    },
    timeoutMs,
  )

  it(
    'is lost at once to a driver when it is told to end while users join',
    async () => {
      const started = await worker()
      const generator = await connect(started.place)
      // The second user is due long after this test.
      const opening = openTwo(generator, 0.001)
      const ended = expect(opening).rejects.toMatchObject({ code: 'BENCH_WORKER_LOST' })
      const joined = () => generator.result().then(({ joins }) => new DelayHistogram(joins).count)
      await expect.poll(() => joined().catch(() => 0), { timeout: timeoutMs }).toBe(1)
      await started.stop()
      await ended
    },
    timeoutMs,
  )

  it('lets nobody in without the token, and one driver at a time', async () => {
    const { place } = await worker()
    await expect(RemoteGenerator.connect(place, 'another token')).rejects.toMatchObject({
      code: 'BENCH_WORKER_REFUSED',
      message: expect.stringContaining('wrong token'),
    })
    const first = await connect(place)
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'BENCH_WORKER_REFUSED',
      message: expect.stringContaining('as many drivers as it takes'),
    })
    await first.stop()
    await expect
      .poll(() =>
        connect(place).then(
          () => 'in',
          () => 'out',
        ),
      )
      .toBe('in')
  })

  it('outlasts somebody who resets the connection before it is refused', async () => {
    const { place } = await worker()
    for (let i = 0; i < 5; i++) {
      const socket = dial(Number(place.split(':')[1]), '127.0.0.1')
      const lines = ['GET / HTTP/1.1', 'host: here', 'connection: upgrade', 'upgrade: websocket', '', '']
      socket.write(lines.join('\r\n'), () => socket.resetAndDestroy())
      await once(socket, 'close')
      // It is answered after the one before it, whose error Vitest would have caught by then.
      await expect(RemoteGenerator.connect(place, 'another token')).rejects.toThrow('wrong token')
    }
  })

  it('ends beside those without the token who keep their connections open', async () => {
    const started = await worker()
    const options = { port: Number(started.place.split(':')[1]), host: '127.0.0.1', allowHalfOpen: true }
    const refused = dial(options)
    const lines = ['GET / HTTP/1.1', 'host: here', 'connection: upgrade', 'upgrade: websocket', '', '']
    refused.write(lines.join('\r\n'))
    await once(refused.resume(), 'end')
    const unfinished = dial(options)
    unfinished.write('GET / HTTP/1.1\r\n')
    await once(unfinished, 'connect')
    await started.stop()
    for (const socket of [refused, unfinished]) socket.destroy()
  })

  it('takes as many drivers as it is told to', async () => {
    const { place } = await worker(2)
    await connect(place)
    await connect(place)
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'BENCH_WORKER_REFUSED',
    })
  })

  it('tells why a call failed, and answers the next', async () => {
    const generator = await connect((await worker()).place)
    await expect(generator.sample()).rejects.toMatchObject({ code: 'BENCH_WORKER_FAILED' })
    expect(await generator.missing()).toEqual([])
  })

  it('closes the users of a driver that is gone, and takes another', async () => {
    const { place } = await worker()
    const connection = await WorkerConnection.open(place, token)
    await connection.call('hello', { version: '' })
    connection.close()
    await expect
      .poll(
        () =>
          connect(place).then(
            () => 'in',
            () => 'out',
          ),
        { timeout: timeoutMs },
      )
      .toBe('in')
  })

  it('is lost when it ends', async () => {
    const started = await worker()
    const generator = await connect(started.place)
    await started.stop()
    await expect(generator.missing()).rejects.toMatchObject({ code: 'BENCH_WORKER_LOST' })
  })

  it('cannot listen where another does', async () => {
    const { place } = await worker()
    const port = Number(place.split(':')[1])
    await expect(
      startWorker({ host: '127.0.0.1', port, token, name: 'there', maxDrivers: 1 }),
    ).rejects.toMatchObject({
      code: 'BENCH_WORKER_PORT',
    })
  })
})

/** A server that answers whatever it is asked. */
async function answering(answer: (request: CallRequest) => string): Promise<string> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  stops.push(() => new Promise((resolve) => server.close(resolve)))
  server.on('connection', (socket) =>
    socket.on('message', (data: Buffer) =>
      socket.send(answer(JSON.parse(data.toString('utf8')) as CallRequest)),
    ),
  )
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a driver', () => {
  it('refuses a worker of another version', async () => {
    const place = await answering(({ id }) =>
      JSON.stringify({ id, answer: { name: 'old', version: '0.0.1' } }),
    )
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'BENCH_WORKER_VERSION',
      message: expect.stringContaining('is 0.0.1'),
    })
  })

  it.each([
    [600_000, 'is 600 s ahead of this one'],
    [-600_000, 'is 600 s behind this one'],
  ])('refuses a worker whose clock is %i ms ahead', async (aheadMs, text) => {
    const place = await answering(({ id, call }) => {
      const hello = { name: 'far', version: workerVersion() }
      return JSON.stringify({ id, answer: call === 'hello' ? hello : { nowMs: preciseNow() + aheadMs } })
    })
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'BENCH_CLOCKS_APART',
      message: expect.stringContaining(text),
    })
  })

  it.each([
    ['text', () => 'hello'],
    ['what it was asked', (asked: unknown) => JSON.stringify(asked)],
  ])('refuses what is no worker, and answers with %s', async (_, answer) => {
    const place = await answering(answer)
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'BENCH_WORKER_FAILED',
      message: expect.stringContaining('is no bench worker'),
    })
  })

  it('refuses another kind of HTTP server, and says how that answered', async () => {
    const server = createServer((_, response) => response.writeHead(200).end('hello')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    stops.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    await expect(RemoteGenerator.connect(`127.0.0.1:${port}`, token)).rejects.toMatchObject({
      code: 'BENCH_WORKER_UNREACHABLE',
      message: expect.stringContaining('is no bench worker: it answered 200'),
    })
  })

  it.each(['127.0.0.1:99999', 'a b:1', ''])('refuses %j, which is no place', async (place) => {
    await expect(RemoteGenerator.connect(place, token)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(`--worker ${place}: no host:port`),
    })
  })

  it('leaves a worker that does not answer when it should stop', async () => {
    const hello = { name: 'frozen', version: workerVersion() }
    const place = await answering(({ id, call }) =>
      JSON.stringify(
        call === 'stop'
          ? { id: -1, answer: {} }
          : { id, answer: call === 'hello' ? hello : { nowMs: preciseNow() } },
      ),
    )
    const generator = await connect(place)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const stopping = generator.stop()
    await vi.advanceTimersByTimeAsync(closeBoundMs)
    expect(await stopping).toEqual(['its users, as far as it says'])
    await expect(generator.missing()).rejects.toMatchObject({ code: 'BENCH_WORKER_LOST' })
  })

  it('knows where a worker cannot listen', async () => {
    const generator = await connect((await worker()).place)
    await generator.check('127.0.0.1', 'light')
    await expect(generator.check('nonsense.invalid', 'light')).rejects.toMatchObject({
      code: 'BENCH_WORKER_FAILED',
      message: expect.stringContaining('cannot listen there'),
    })
  })
})
