import {
  createClient,
  exportReadingKey,
  keySigner,
  requestDelegation,
  type RunnelClient,
} from '@runnel/client'
import type { ClientConfig } from '@runnel/client/browser'
import { createIdentity, encodeDelegation, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { launchChromium } from '../../browser/src/chromium.testkit.ts'
import { injectWallet } from '../../browser/src/injected-wallet.testkit.ts'
import { startStorage, type TestStorage } from '../../browser/src/storage.testkit.ts'
import { mined, startTestChain, type TestChain } from '../../client/src/registry/chain.testkit.ts'
import { buildPage } from './explorer.testkit.ts'

let browser: Browser
let built: Awaited<ReturnType<typeof buildPage>>
let chain: TestChain
let tracker: Tracker
let storage: TestStorage
let owner: RunnelClient
const crypto = await loadCrypto()
const pages: Page[] = []
/** All that pages asked for and sent, as text and as hexadecimal digits. */
const sent: string[] = []

const config = (): ClientConfig => ({
  network: { kind: 'chain', rpcUrl: chain.url, chainId: 31337, registries: chain.registries },
  registry: { pollIntervalMs: 20 },
})

beforeAll(async () => {
  ;[browser, built, chain] = await Promise.all([launchChromium(), buildPage(), startTestChain()])
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const explorer = { directory: built.directory, network: config().network }
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  tracker = createTracker({ listen: { port: 0 }, explorer }, modules)
  await tracker.start()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  const [{ privateKey }, ofOwner] = chain.accounts
  storage = await startStorage({ ...config(), privateKey }, { port: await freePort(), register: true })
  owner = await createClient({ ...config(), privateKey: ofOwner.privateKey })
}, 60_000)
afterEach(async () => {
  for (const page of pages.splice(0)) await page.close()
  const key = chain.accounts[2].privateKey.replace(/^0x/, '')
  expect(sent.splice(0).filter((text) => text.includes(key))).toEqual([])
})
afterAll(async () => {
  await browser.close()
  await owner.close()
  await storage.stop()
  await tracker.stop()
  await chain.stop()
  built.remove()
})

/** A stored stream that the third account may read, with one message that is stored. */
async function newStream(path: string, metadata = {}): Promise<string> {
  const { id } = await owner.createStream({ path, metadata })
  await owner.addToStorageNode(id, storage.client.nodeId)
  await owner.grant(id, { user: chain.accounts[2].nodeId, permissions: ['subscribe'] })
  await owner.waitForStorage(await owner.publish(id, 'stored before'))
  return id
}

/** The page of a stream. */
async function open(streamId: string, prepare?: (page: Page) => Promise<void>): Promise<Page> {
  const page = await browser.newPage()
  pages.push(page)
  page.on('request', (request) => sent.push(request.url(), request.postData() ?? ''))
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => sent.push(Buffer.from(payload).toString('hex'))),
  )
  await prepare?.(page)
  await page.goto(`${tracker.httpUrl}/explorer/#/part/${encodeURIComponent(`${streamId}#0`)}?show=live`)
  return page
}

const keyFile = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })

async function joinWith(page: Page, ...texts: string[]): Promise<void> {
  const files = texts.map((text, index) => keyFile(`file-${index}`, text))
  await page.getByLabel('Join with key files').setInputFiles(files)
}

const joined = (page: Page) => page.getByText(/neighbours?, \d+ messages? received/).waitFor()
const kept = (page: Page) =>
  page.evaluate(() => [location.search, { ...localStorage }, { ...sessionStorage }, document.cookie])
const nothingKept = ['', {}, {}, '']

/** Who published a message, when, and its key. */
async function headOf(page: Page, text: string): Promise<string> {
  return page.locator('.messages li', { hasText: text }).locator('.message-head').innerText()
}

describe('the explorer of an encrypted stream', { timeout: 60_000 }, () => {
  it('says what to do where its user may not read, and shows all to one with the key', async () => {
    const streamId = await newStream('secret')
    const page = await open(streamId)
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/This stream is encrypted, and the user of this page may not read it/).waitFor()
    await joinWith(page, 'no key at all')
    await page.getByText(/These are not key files/).waitFor()
    await joinWith(page, `${chain.accounts[2].privateKey}\n`)
    await joined(page)
    await owner.publish(streamId, { live: true })
    await page.getByText('{"live":true}', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show stored messages' }).click()
    await page.getByText('stored before', { exact: true }).waitFor()
    const [epoch] = (await owner.keysOf(streamId)).openers
    for (const text of ['{"live":true}', 'stored before']) {
      const head = await headOf(page, text)
      expect(head).toContain(`key ${epoch?.epochId}`)
      expect(head).toContain(owner.userId.slice(0, 6))
    }
    expect(await kept(page)).toEqual(nothingKept)
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await page.getByText(/This stream is encrypted, and the user of this page may not read it/).waitFor()
  })

  it('shows that there are messages to whoever may take part', async () => {
    const streamId = await newStream('always', { encryption: { content: 'always' } })
    await owner.grant(streamId, { user: 'public', permissions: ['subscribe'] })
    const page = await open(streamId)
    await page.getByRole('button', { name: 'Join and listen' }).click()
    await joined(page)
    const sealed = new Promise<string>((resolve) => {
      owner.network.on('message', ({ message }) => {
        if (message.streamId === streamId && message.partition === 0) resolve(message.groupKeyId)
      })
    })
    await owner.publish(streamId, 'for members')
    // What was stored may have come as well, with the key from before the grant.
    const row = page.locator('.messages li', { hasText: `key ${await sealed}` })
    await row.getByText('Encrypted. Looking for its key').waitFor()
    expect(await page.locator('main').innerText()).not.toContain('for members')
  })

  it('asks a wallet, and keeps nothing of what it signs', async () => {
    const streamId = await newStream('with-wallet')
    const { wallet } = chain.accounts[2]
    const page = await open(streamId, injectWallet({ rpcUrl: chain.url, address: wallet.address }))
    await page.getByRole('button', { name: 'Join with a wallet' }).click()
    await joined(page)
    await page.getByRole('button', { name: 'Show stored messages' }).click()
    await page.getByText('stored before', { exact: true }).waitFor()
    expect(await kept(page)).toEqual(nothingKept)
  })

  it('takes a delegation with its reading key, and says so where that is missing', async () => {
    const streamId = await newStream('delegated')
    const signer = keySigner(chain.accounts[2].privateKey)
    const delegateKey = generatePrivateKey(systemRandom)
    const wish = { lastsMs: 3_600_000, streams: [], publishes: false, reads: true, requester: 'a test' }
    const delegation = await requestDelegation(signer, createIdentity(delegateKey, crypto).nodeId, {
      ...wish,
      chainId: 31337,
    })
    const delegationFile = JSON.stringify({
      ...{ version: 1, privateKey: toHex(delegateKey) },
      delegation: toHex(encodeDelegation(delegation)),
    })
    const readingKey = await exportReadingKey(signer, { chainId: 31337 })
    const page = await open(streamId)
    await joinWith(page, delegationFile)
    await joined(page)
    await owner.publish(streamId, 'live')
    await page
      .getByText(/^Encrypted. The delegation cannot open encrypted content without a reading key/)
      .waitFor()
    await page.getByRole('button', { name: 'Leave' }).click()
    await joinWith(page, delegationFile, JSON.stringify({ version: 1, ...readingKey }))
    await joined(page)
    await page.getByRole('button', { name: 'Show stored messages' }).click()
    await page.getByText('stored before', { exact: true }).waitFor()
    expect(await kept(page)).toEqual(nothingKept)
  })

  it('says so when there is no wallet', async () => {
    const page = await open(await newStream('no-wallet'))
    await page.getByRole('button', { name: 'Join with a wallet' }).click()
    await page.getByText(/This browser has no Ethereum wallet/).waitFor()
  })
})
