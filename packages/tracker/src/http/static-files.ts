import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { trackerError } from '../errors.ts'

/** A file to serve, held in memory: a request is looked up here, and never reads from disk by name. */
interface StaticFile {
  readonly type: string
  readonly body: Buffer
  readonly gzipped: Buffer
  readonly etag: string
  /** Its name changes with its content. */
  readonly immutable: boolean
}

/** The files by path, such as `assets/page.js`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>

/** Bytes of all static files together. */
const maxStaticBytes = 8 * 1024 * 1024

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * What a page may do: scripts, workers, styles and fonts only from here, no frames and no forms. It may connect anywhere, since
 * nodes, trackers and chains may be anywhere.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' http: https: ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  vary: 'accept-encoding',
}

/**
 * Reads all files of known types in a directory. Throws INVALID_TRACKER_OPTIONS when that fails, or when they are too large.
 */
export function loadStaticFiles(directory: string): StaticFiles {
  const files = new Map<string, StaticFile>()
  let bytes = 0
  for (const name of namesIn(directory)) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const body = readFileSync(join(directory, name))
    bytes += body.length
    if (bytes > maxStaticBytes)
      throw trackerError(
        'INVALID_TRACKER_OPTIONS',
        `explorer: more than ${maxStaticBytes} bytes in ${directory}`,
      )
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
    const path = name.split(sep).join('/')
    const immutable = path.startsWith('assets/')
    files.set(path, { type, body, gzipped: gzipSync(body), etag, immutable })
  }
  if (!files.has('index.html'))
    throw trackerError('INVALID_TRACKER_OPTIONS', `explorer: no index.html in ${directory}`)
  return files
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, encoding: 'utf8' })
  } catch (cause) {
    throw trackerError('INVALID_TRACKER_OPTIONS', `explorer: ${directory} cannot be read`, { cause })
  }
}

/** Serves the files below `prefix`, which begins and ends with a slash; the root redirects there. */
export function serveStatic(app: FastifyInstance, prefix: string, files: StaticFiles): void {
  for (const from of ['/', prefix.slice(0, -1)]) app.get(from, (_request, reply) => reply.redirect(prefix))
  app.get<{ Params: { '*': string } }>(`${prefix}*`, (request, reply) => {
    const file = files.get(request.params['*'] || 'index.html')
    if (file === undefined) return reply.callNotFound()
    const { type, etag, immutable } = file
    reply.headers({
      ...headers,
      etag,
      'cache-control': immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    const takesGzip = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '')
    if (takesGzip) reply.header('content-encoding', 'gzip')
    return reply.type(type).send(takesGzip ? file.gzipped : file.body)
  })
}
