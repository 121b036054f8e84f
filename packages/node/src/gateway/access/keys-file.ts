import { createHash, randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { readPrivateFile, replacePrivateFile } from '@runnel/client/secret-files'
import { isStreamPattern } from '@runnel/client/follow'
import { limits } from '@runnel/protocol'
import { z } from 'zod'
import { nodeError } from '../../errors.ts'
import { gatewayLimits } from '../limits.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits, in lower case')
const patterns = z
  .array(z.string().refine(isStreamPattern, 'must be 0xowner/path, /path or 0xowner/prefix/#'))
  .max(gatewayLimits.maxPatterns)
  .default([])
const count = z.int().min(1)

const entrySchema = z
  .strictObject({
    name: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'must be up to 64 letters, digits, or . _ -'),
    /** SHA-256 of the key. */
    keyHash: hash.optional(),
    /** SHA-256 of a client certificate in DER. */
    certificate: hash.optional(),
    as: z.string().min(1).optional(),
    readingKey: z.string().min(1).optional(),
    publish: patterns,
    subscribe: patterns,
    maxMessagesPerS: count.default(1_000),
    maxBytesPerS: count.default(8 * 1024 * 1024),
    maxMessageBytes: count.max(limits.maxContentBytes).default(limits.maxContentBytes),
    maxConnections: count.default(100),
    expires: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(({ keyHash, certificate }) => keyHash ?? certificate, 'needs keyHash or certificate')

const fileSchema = z.strictObject({
  version: z.literal(1),
  keys: z.array(entrySchema).max(gatewayLimits.maxAccounts),
})

/** How often a process that waits for another to change the file looks: a change takes a few milliseconds. */
const lockAgainMs = 20
/** Looks before it gives up, as the other was killed. */
const maxLockLooks = 100

/** Who may use a gateway, as the file of keys has it. */
export type KeyEntry = z.output<typeof entrySchema>
export type KeyEntryInput = z.input<typeof entrySchema>

/** A new API key: 32 random bytes, with a beginning by which people and scanners know it. */
export function newApiKey(): string {
  return `rk_${randomBytes(32).toString('base64url')}`
}

/** What the file keeps of a key. A key has 256 random bits, so nothing slower is needed. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** What is wrong with an entry, each with the field it is about. */
export function problemsOf(entry: KeyEntryInput): { readonly field: string; readonly problem: string }[] {
  const { error } = entrySchema.safeParse(entry)
  return (error?.issues ?? []).map(({ path: [field], message }) => ({
    field: String(field),
    problem: message,
  }))
}

/** Throws GATEWAY_FILE_MISSING, …_UNREADABLE, …_TOO_OPEN or …_INVALID. */
export function readKeysFile(path: string): KeyEntry[] {
  const text = readPrivateFile(path, (problem, detail, options) =>
    nodeError(`GATEWAY_FILE_${problem}`, detail, options),
  )
  return parseKeys(text, path)
}

/** Writes all entries with mode 600, in place of the file there is. Throws GATEWAY_FILE_INVALID or …_UNWRITABLE. */
export function writeKeysFile(path: string, keys: readonly KeyEntryInput[]): void {
  const text = `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`
  parseKeys(text, path)
  try {
    replacePrivateFile(path, text)
  } catch (cause) {
    throw nodeError('GATEWAY_FILE_UNWRITABLE', path, { cause })
  }
}

/**
 * Runs `change`, which reads and writes the file, while no other process does so: the file `PATH.lock` keeps others waiting. Throws
 * GATEWAY_FILE_LOCKED, GATEWAY_FILE_UNWRITABLE, and what `change` throws.
 */
export async function inTurn(path: string, change: () => void): Promise<void> {
  const lock = `${path}.lock`
  for (let looks = 1; !isTaken(lock); looks++) {
    if (looks === maxLockLooks) throw nodeError('GATEWAY_FILE_LOCKED', `${lock} is there`)
    await setTimeout(lockAgainMs)
  }
  try {
    change()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Whether this process has it now. */
function isTaken(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw nodeError('GATEWAY_FILE_UNWRITABLE', lock, { cause })
  }
}

function parseKeys(text: string, path: string): KeyEntry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text.
    throw nodeError('GATEWAY_FILE_INVALID', `${path} is not JSON`)
  }
  const result = fileSchema.safeParse(value)
  if (!result.success) {
    const issues = result.error.issues.map(
      ({ path: at, message }) => `${at.map(String).join('.')}: ${message}`,
    )
    throw nodeError('GATEWAY_FILE_INVALID', `${path}: ${issues.join('; ')}`)
  }
  const { keys } = result.data
  requireOnce(keys, 'name', path)
  requireOnce(keys, 'keyHash', path)
  requireOnce(keys, 'certificate', path)
  return keys
}

function requireOnce(
  keys: readonly KeyEntry[],
  field: 'name' | 'keyHash' | 'certificate',
  path: string,
): void {
  const seen = new Set<string>()
  for (const { name, [field]: value } of keys) {
    if (value === undefined) continue
    if (seen.has(value)) throw nodeError('GATEWAY_FILE_INVALID', `${path}: ${name} has a ${field} twice`)
    seen.add(value)
  }
}
