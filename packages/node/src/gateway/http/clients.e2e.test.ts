import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../../browser/src/chromium.testkit.ts'
import { stopAll } from '../../cli.testkit.ts'
import { GatewayNetwork, streamPath, type TestGateway } from '../gateway.testkit.ts'
import { readKeysFile, writeKeysFile } from '../access/keys-file.ts'
import { ServerEvents } from './server-events.testkit.ts'

const timeoutMs = 30_000
const run = promisify(execFile)

describe('the HTTP gateway and clients of others', { timeout: timeoutMs }, () => {
  const network = new GatewayNetwork()
  let gateway: TestGateway
  let browser: Browser

  beforeAll(async () => {
    await network.start()
    const all = { publish: ['/#'], subscribe: ['/#'] }
    gateway = await network.gateway({ all, other: all }, { httpGateway: { corsOrigins: ['*'] } })
    browser = await launchChromium()
  }, timeoutMs)

  afterAll(async () => {
    await browser.close()
    await stopAll()
    await network.stop()
  }, timeoutMs)

  const urlOf = (stream: string, rest: string) => `${gateway.url}${streamPath(stream, rest)}`

  it('are curl, which publishes and reads', async () => {
    const stream = await network.newStream('curl')
    const header = ['--header', `authorization: Bearer ${gateway.keys['all']}`]
    const reading = spawn('curl', ['--silent', '--no-buffer', ...header, urlOf(stream, 'events')])
    let text = ''
    let wake = () => {}
    reading.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      wake()
    })
    const isSaid = async (wanted: string) => {
      while (!text.includes(wanted)) await new Promise<void>((resolve) => (wake = resolve))
    }
    await isSaid('id: ')
    const { stdout } = await run('curl', [
      ...['--silent', '--fail', ...header, '--header', 'content-type: application/json'],
      ...['--data', '{"t": 21.5}', urlOf(stream, 'messages?wait=stored')],
    ])
    expect(JSON.parse(stdout)).toMatchObject({ streamId: stream, stored: true })
    await isSaid('"content":{"t":21.5}}\n\n')
    reading.kill()
    const history = await run('curl', ['--silent', '--fail', ...header, urlOf(stream, 'messages?last=1')])
    expect(JSON.parse(history.stdout)).toMatchObject({ content: { t: 21.5 } })
  })

  it('are EventSource in Chromium, which resumes by itself', async () => {
    const stream = await network.newStream('page')
    const page = await browser.newPage()
    // Another origin than that of the event stream.
    await page.goto(`${gateway.url.replace('127.0.0.1', 'localhost')}/openapi.json`)
    const opened = page.evaluate(
      (url) =>
        new Promise<void>((resolve, reject) => {
          const source = new EventSource(url)
          const got: unknown[] = []
          Object.assign(globalThis, { got, source })
          source.onmessage = ({ data }: { data: string }) =>
            got.push((JSON.parse(data) as { content: unknown }).content)
          source.onopen = () => resolve()
          source.onerror = () => source.readyState === EventSource.CLOSED && reject(new Error('closed'))
        }),
      `${urlOf(stream, 'events')}?key=${gateway.keys['other']}`,
    )
    await opened
    const have = (count: number) =>
      page.waitForFunction((n) => (globalThis as unknown as { got: unknown[] }).got.length >= n, count)
    await network.owner.publish(stream, 0)
    await have(1)
    // A key that is changed ends its connections; the same key is good again.
    const entries = readKeysFile(gateway.keysFile)
    writeKeysFile(
      gateway.keysFile,
      entries.map((entry) => (entry.name === 'other' ? { ...entry, maxConnections: 7 } : entry)),
    )
    const sent = [0]
    for (let i = 1; i <= 20; i++) sent.push(i)
    for (const i of sent.slice(1)) await network.owner.publish(stream, i)
    await have(sent.length)
    expect(await page.evaluate(() => (globalThis as unknown as { got: unknown[] }).got)).toEqual(sent)
    await page.close()
  })

  it('may be slow: who does not read is ended, and misses nothing with its last cursor', async () => {
    const stream = await network.newStream('slow')
    const headers = { authorization: `Bearer ${gateway.keys['all']}` }
    const request = get(urlOf(stream, 'events'), { headers, agent: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    // It takes nothing from now on.
    response.pause()
    const count = 150
    const filler = 'x'.repeat(100_000)
    const sent = []
    for (let i = 0; i < count; i++) sent.push(await network.owner.publish(stream, { i, filler }))
    await network.owner.waitForStorage(sent)
    let text = ''
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk
    const events = text.split('\n\n').filter((block) => block.includes('data: '))
    const dataOf = (block: string) => JSON.parse(block.slice(block.indexOf('data: ') + 6)) as { content: { i: number }; code: string } // prettier-ignore
    const last = events.pop() ?? ''
    expect(last).toMatch(/^event: ended\n/)
    expect(dataOf(last).code).toBe('GATEWAY_READER_SLOW')
    const seen = events.map((block) => dataOf(block).content.i)
    expect(seen.length).toBeLessThan(count)
    const again = new ServerEvents(urlOf(stream, 'events'), headers)
    again.lastId = /^id: (.*)$/m.exec(events.at(-1) ?? '')?.[1]
    await again.connect()
    while (seen.length < count) seen.push(((await again.next()).message?.content as { i: number }).i)
    expect(seen).toEqual(Array.from({ length: count }, (_, i) => i))
    again.drop()
    const { plugins } = gateway.broker.snapshot()
    expect(plugins).toMatchObject({ httpGateway: { slowReaders: 1 } })
  })
})
