import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIdentity, loadCrypto, parsePrivateKey, toStreamId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../logger.ts'
import { files } from '../../node/files.ts'
import type { Registries, RegistryChange, RegistryHealth } from '../ports.ts'
import { parseStaticNetwork } from '../static-network.ts'
import { openDocumentRegistries, type DocumentOptions } from './document-registries.ts'
import { editDocument, newDocument, type DocumentChange } from './edit-document.ts'
import { maxDocumentBytes, signNetworkDocument, type NetworkDocument } from './network-document.ts'

const crypto = await loadCrypto()
const tools = { crypto, parseNetwork: parseStaticNetwork }
const owner = createIdentity(parsePrivateKey('1'.repeat(64)), crypto)
const other = createIdentity(parsePrivateKey('2'.repeat(64)), crypto)
const streamId = toStreamId(`${owner.nodeId}/a`)
const user = other.nodeId
const directory = mkdtempSync(join(tmpdir(), 'runnel-document-'))
const file = join(directory, 'network.json')

/** What the server gives; undefined: an error. */
let served: string | undefined
/** Whether answers break off, and how many have. */
let [isCutOff, cutOff] = [false, 0]
let unchanged: number
/** Whether it takes no requests by a tag, as servers of another origin may take none from a page; and how many there were. */
let [takesNoTags, tagged] = [false, 0]
let server: Server
let url: string
let document: NetworkDocument
let opened: Registries[]
let news: {
  change?: RegistryChange
  health?: RegistryHealth
  endpoint?: { state: string; reason?: string }
}[]
let onNews: () => void

beforeAll(async () => {
  server = createServer((request, response) => {
    const tag = `"${served?.length}"`
    if (served === undefined) response.writeHead(503).end()
    else if (isCutOff) {
      cutOff++
      response
        .writeHead(200, { etag: tag, 'content-length': served.length })
        .write('{', () => response.destroy())
    } else if (takesNoTags && request.headers['if-none-match'] !== undefined) {
      tagged++
      response.destroy()
    } else if (request.headers['if-none-match'] === tag) {
      unchanged++
      response.writeHead(304).end()
    } else response.writeHead(200, { etag: tag }).end(served)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/network.json?token=secret`
})
afterAll(() => {
  server.close()
  rmSync(directory, { recursive: true })
})
beforeEach(() => {
  ;[document, opened, news, unchanged, onNews] = [newDocument(owner.nodeId, []), [], [], 0, () => {}]
  served = write()
})
afterEach(() => Promise.all(opened.map((registries) => registries.stop())))

/** Into the file. */
function write(change?: DocumentChange): string {
  if (change !== undefined)
    document = editDocument(
      { ...document, history: new Map(Object.entries(document.history)) },
      change,
      1_000,
    )
  const text = signNetworkDocument(document, owner, tools)
  writeFileSync(file, text)
  return text
}

async function open(options: Partial<DocumentOptions> = {}): Promise<Registries> {
  const registries = await openDocumentRegistries(
    { owner: owner.nodeId, sources: [file], pollIntervalMs: 20, ...options },
    { clock: systemClock, logger: silentLogger, files, ...tools },
  )
  opened.push(registries)
  const hear = (one: (typeof news)[number]) => {
    news.push(one)
    onNews()
  }
  await registries.start({
    onChange: (change) => hear({ change }),
    onHealth: (health) => hear({ health }),
    onEndpoint: (endpoint) => hear({ endpoint }),
  })
  return registries
}

/** Resolves with the first news that is so. */
function heard(isSo: (one: (typeof news)[number]) => boolean): Promise<(typeof news)[number]> {
  return new Promise((resolve) => {
    onNews = () => {
      const found = news.find(isSo)
      if (found) resolve(found)
    }
    onNews()
  })
}

const add = { kind: 'add-stream', streamId, partitions: 2, metadata: '{}' } as const
const grant = {
  kind: 'grant',
  streamId,
  grant: { user, permissions: ['subscribe'], untilMs: Infinity },
} as const
const revoke = { kind: 'revoke', streamId, grant: { user, permissions: ['subscribe'] } } as const
const isChange = (kind: RegistryChange['kind']) => (one: (typeof news)[number]) => one.change?.kind === kind

describe('the registries of a signed document', () => {
  it('follow it, and date what it says by its revisions', async () => {
    const registries = await open()
    expect(await registries.streams.getStream(streamId)).toBeUndefined()
    write(add)
    await heard(isChange('stream'))
    expect(await registries.streams.getStream(streamId)).toMatchObject({ partitions: 2, createdMs: 1_000 })
    write(grant)
    await heard(({ change }) => change?.kind === 'permissions' && change.user === user)
    expect(await registries.streams.permissionsOf(streamId, user)).toMatchObject({
      subscribeUntilMs: Infinity,
    })
    expect(await registries.streams.permissionTable(streamId)).toMatchObject({ block: 3, lossBlock: 0 })
    write(revoke)
    await heard(({ change }) => change?.kind === 'permissions' && change.block === 4)
    expect(await registries.streams.permissionTable(streamId)).toMatchObject({ block: 4, lossBlock: 4 })
    expect(registries.document?.()).toBe(readFileSync(file, 'utf8'))
  })

  it('follow a server that lets a page read the document, and not ask by its tag', async () => {
    ;[takesNoTags, tagged] = [true, 0]
    try {
      const registries = await open({ sources: [url] })
      served = write(add)
      await heard(isChange('stream'))
      expect(await registries.streams.getStream(streamId)).toBeDefined()
      served = write(grant)
      await heard(isChange('permissions'))
      expect([tagged, news.filter(({ health }) => health)]).toEqual([1, []])
    } finally {
      takesNoTags = false
    }
  })

  it('take the newest of several sources, and ask a server for changes only', async () => {
    served = write()
    write(add)
    const registries = await open({ sources: [url, file] })
    expect(await registries.streams.getStream(streamId)).toBeDefined()
    expect(registries.endpoints?.()).toMatchObject([
      { endpoint: url.replace('?token=secret', ''), state: 'lagging', block: 1 },
      { endpoint: file, state: 'ok', block: 2 },
    ])
    served = write(grant)
    await heard(({ endpoint }) => endpoint?.state === 'ok')
    await vi.waitUntil(() => unchanged > 0, 30_000)
    expect(JSON.stringify(news)).not.toContain('secret')
  })

  it('refuse an older revision and another’s document, and say so', async () => {
    const first = write()
    write(add)
    const registries = await open()
    writeFileSync(file, first)
    const { endpoint } = await heard((one) => one.endpoint !== undefined)
    expect(endpoint).toMatchObject({ state: 'lagging' })
    expect(endpoint?.reason).toMatch(/revision 1, known is 2/)
    const { health } = await heard((one) => one.health !== undefined)
    expect(health).toMatchObject({ state: 'unreachable', error: { code: 'NETWORK_DOCUMENT_OLDER' } })
    writeFileSync(file, signNetworkDocument({ ...newDocument(user, []), revision: 9 }, other, tools))
    await heard((one) => one.endpoint?.state === 'differs')
    expect(await registries.streams.getStream(streamId)).toBeDefined()
    write(grant)
    await heard((one) => one.health?.state === 'reachable')
  })

  it('refuse after a restart what is older than their copy, and start from it', async () => {
    const copy = join(directory, 'copy.json')
    served = write()
    const first = served
    served = write(add)
    const registries = await open({ sources: [url], copy })
    await registries.stop()
    served = first
    const again = await open({ sources: [url], copy })
    expect(await again.streams.getStream(streamId)).toBeDefined()
    expect(await heard((one) => one.health !== undefined)).toMatchObject({
      health: { error: { code: 'NETWORK_DOCUMENT_OLDER' } },
    })
    served = undefined
    expect(await (await open({ sources: [url], copy })).streams.getStream(streamId)).toBeDefined()
  })

  it('take an answer for known only when all of it has come', async () => {
    isCutOff = true
    await expect(open({ sources: [url] })).rejects.toMatchObject({ code: 'NETWORK_DOCUMENT_UNREACHABLE' })
    isCutOff = false
    const registries = await open({ sources: [url] })
    ;[served, isCutOff, cutOff] = [write(add), true, 0]
    await vi.waitUntil(() => cutOff > 0, 30_000)
    isCutOff = false
    await heard(isChange('stream'))
    expect(await registries.streams.getStream(streamId)).toBeDefined()
  })

  it('take no copy that is too old, and do not start past one that cannot be used', async () => {
    const copy = join(directory, 'kept.json')
    const sources = [url]
    served = write()
    await (await open({ sources, copy })).stop()
    served = write(add)
    expect(await (await open({ sources, copy, revision: 2 })).streams.getStream(streamId)).toBeDefined()
    writeFileSync(copy, '')
    await expect(open({ sources, copy })).rejects.toMatchObject({
      code: 'NETWORK_DOCUMENT_COPY_UNUSABLE',
      message: expect.stringContaining(copy) as string,
    })
  })

  it.each([
    ['no source', () => (served = undefined), {}, 'NETWORK_DOCUMENT_UNREACHABLE'],
    ['another owner', () => {}, { owner: user }, 'NETWORK_DOCUMENT_NOT_OWNERS'],
    ['too low a revision', () => {}, { revision: 2 }, 'NETWORK_DOCUMENT_OLDER'],
    [
      'more than may be read',
      () => (served = ' '.repeat(maxDocumentBytes + 1)),
      {},
      'NETWORK_DOCUMENT_INVALID',
    ],
  ])('do not open with %s', async (_, prepare, options, code) => {
    prepare()
    await expect(open({ sources: [url], ...options })).rejects.toMatchObject({ code })
  })
})
