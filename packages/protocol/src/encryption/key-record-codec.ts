import { readList, readNodeId, writeList, writeNodeId } from '../codec/fields.ts'
import { Reader } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import { limits } from '../limits.ts'
import { commitmentBytes, epochIdBytes, keyBytes } from './epoch-keys.ts'
import type { KeyRecord, LinkSecret, WrappedFor } from './key-records.ts'

export const keyringIdBytes = 16
export const cohortIdBytes = 8
export const tagOfReaderBytes = 4
/** What HPKE with X-Wing encapsulates. */
export const encapsulatedBytes = 1120

const kinds = ['link', 'epoch', 'cohort', 'publishers', 'newest', 'request', 'answer'] as const

/** The first byte of each record; a new layout of one of them takes another number. */
const codeOf = (kind: KeyRecord['kind']): number => kinds.indexOf(kind) + 1

/** The bytes of a record. Throws LIMIT_EXCEEDED or MALFORMED_PACKET for one that has none. */
export function encodeKeyRecord(record: KeyRecord): Uint8Array {
  const writer = new Writer()
  writer.u8(codeOf(record.kind))
  writeRecord(writer, record)
  return writer.view().slice()
}

/** Throws MALFORMED_PACKET or LIMIT_EXCEEDED; UNSUPPORTED_VERSION for a kind of a later version. */
export function decodeKeyRecord(bytes: Uint8Array): KeyRecord {
  const reader = new Reader(bytes)
  const record = readRecord(reader)
  reader.end()
  return record
}

function writeRecord(writer: Writer, record: KeyRecord): void {
  switch (record.kind) {
    case 'link':
      writer.fixed(record.hint, tagOfReaderBytes, 'hint')
      writer.fixed(record.tag, tagOfReaderBytes, 'tag')
      return writeSealed(writer, record)
    case 'answer':
      writeNodeId(writer, record.readerId)
      writer.fixed(record.cardHash, 32, 'hash of a card')
      return writeSealed(writer, record)
    case 'epoch':
      writer.fixed(record.keyringId, keyringIdBytes, 'keyring id')
      writer.fixed(record.commitment, commitmentBytes, 'commitment')
      writer.u48(record.createdMs)
      writer.u48(record.readersAtBlock)
      writer.fixed(record.own, keyBytes, 'wrapped key')
      writeWrapped(writer, record.readers)
      writeList(writer, checkedCohorts(record.cohorts), limits.maxCohorts, 'cohorts', (to, cohort) => {
        to.fixed(cohort.cohortId, cohortIdBytes, 'cohort id')
        to.fixed(cohort.wrapped, keyBytes, 'wrapped key')
      })
      writer.varint(record.publisherRecords, limits.maxPublisherRecords)
      writeList(writer, record.earlier, limits.maxEarlierEpochs, 'earlier epochs', (to, earlier) => {
        to.fixed(earlier.id, epochIdBytes, 'epoch id')
        to.fixed(earlier.wrapped, keyBytes, 'wrapped key')
      })
      return
    case 'cohort':
      writer.fixed(record.keyringId, keyringIdBytes, 'keyring id')
      return writeWrapped(writer, record.readers)
    case 'publishers':
      writer.fixed(record.keyringId, keyringIdBytes, 'keyring id')
      writer.fixed(record.commitment, commitmentBytes, 'commitment')
      return writeWrapped(writer, record.publishers)
    case 'newest':
      writer.fixed(record.keyringId, keyringIdBytes, 'keyring id')
      return writer.fixed(record.commitment, commitmentBytes, 'commitment')
    case 'request':
      writer.count(record.card.length, limits.maxCardBytes, 'bytes of a card')
      writer.raw(record.card)
      return writeList(writer, record.wanted, limits.maxWantedEpochs, 'wanted epochs', (to, id) =>
        to.fixed(id, epochIdBytes, 'epoch id'),
      )
  }
}

function readRecord(reader: Reader): KeyRecord {
  const code = reader.u8()
  const kind = kinds[code - 1]
  switch (kind) {
    case 'link':
      return {
        kind,
        hint: bytes(reader, tagOfReaderBytes),
        tag: bytes(reader, tagOfReaderBytes),
        ...readSealed(reader),
      }
    case 'answer':
      return { kind, readerId: readNodeId(reader), cardHash: bytes(reader, 32), ...readSealed(reader) }
    case 'epoch':
      return {
        kind,
        keyringId: bytes(reader, keyringIdBytes),
        commitment: bytes(reader, commitmentBytes),
        createdMs: reader.u48(),
        readersAtBlock: reader.u48(),
        own: bytes(reader, keyBytes),
        readers: readWrapped(reader),
        cohorts: checkedCohorts(
          readList(reader, limits.maxCohorts, 'cohorts', (from) => ({
            cohortId: bytes(from, cohortIdBytes),
            wrapped: bytes(from, keyBytes),
          })),
        ),
        publisherRecords: reader.varint(limits.maxPublisherRecords),
        earlier: readList(reader, limits.maxEarlierEpochs, 'earlier epochs', (from) => ({
          id: bytes(from, epochIdBytes),
          wrapped: bytes(from, keyBytes),
        })),
      }
    case 'cohort':
      return { kind, keyringId: bytes(reader, keyringIdBytes), readers: readWrapped(reader) }
    case 'publishers':
      return {
        kind,
        keyringId: bytes(reader, keyringIdBytes),
        commitment: bytes(reader, commitmentBytes),
        publishers: readWrapped(reader),
      }
    case 'newest':
      return {
        kind,
        keyringId: bytes(reader, keyringIdBytes),
        commitment: bytes(reader, commitmentBytes),
      }
    case 'request':
      return {
        kind,
        card: bytes(reader, reader.count(limits.maxCardBytes, 'bytes of a card')),
        wanted: readList(reader, limits.maxWantedEpochs, 'wanted epochs', (from) =>
          bytes(from, epochIdBytes),
        ),
      }
    default:
      throw protocolError('UNSUPPORTED_VERSION', `key record ${code}`)
  }
}

type Sealed = Pick<Extract<KeyRecord, { kind: 'answer' }>, 'encapsulated' | 'sealed'>

function writeSealed(writer: Writer, { encapsulated, sealed }: Sealed): void {
  writer.fixed(encapsulated, encapsulatedBytes, 'encapsulated secret')
  writer.count(sealed.length, limits.maxSealedKeyBytes, 'bytes of sealed keys')
  writer.raw(sealed)
}

function readSealed(reader: Reader): Sealed {
  return {
    encapsulated: bytes(reader, encapsulatedBytes),
    sealed: bytes(reader, reader.count(limits.maxSealedKeyBytes, 'bytes of sealed keys')),
  }
}

function writeWrapped(writer: Writer, list: readonly WrappedFor[]): void {
  writeList(writer, list, limits.maxWrappedKeys, 'wrapped keys', (to, { tag, wrapped }) => {
    to.fixed(tag, tagOfReaderBytes, 'tag')
    to.fixed(wrapped, keyBytes, 'wrapped key')
  })
}

function readWrapped(reader: Reader): readonly WrappedFor[] {
  return readList(reader, limits.maxWrappedKeys, 'wrapped keys', (from) => ({
    tag: bytes(from, tagOfReaderBytes),
    wrapped: bytes(from, keyBytes),
  }))
}

/** None, or a power of two from 2 on. */
function checkedCohorts<T>(cohorts: readonly T[]): readonly T[] {
  const count = cohorts.length
  if (count === 1 || (count & (count - 1)) !== 0) throw protocolError('MALFORMED_PACKET', `${count} cohorts`)
  return cohorts
}

/** A copy: a record is kept longer than what it came in. */
const bytes = (reader: Reader, length: number): Uint8Array => reader.view(length).slice()

/** What HPKE seals in a link: u8 1 (reader) or 2 (publisher) ‖ secret ‖ epoch id, and the key where there is one. */
export function encodeLinkSecret({ secret, epochId, key, isForReader }: LinkSecret): Uint8Array {
  return Uint8Array.of(isForReader ? 1 : 2, ...secret, ...epochId, ...(key ?? []))
}

/** Undefined when it is none. */
export function decodeLinkSecret(plaintext: Uint8Array): LinkSecret | undefined {
  const [code] = plaintext
  const keyAt = 1 + keyBytes + epochIdBytes
  const hasKey = plaintext.length === keyAt + keyBytes
  if ((plaintext.length !== keyAt && !hasKey) || (code !== 1 && code !== 2)) return undefined
  return {
    isForReader: code === 1,
    secret: plaintext.slice(1, 1 + keyBytes),
    epochId: plaintext.slice(1 + keyBytes, keyAt),
    key: hasKey ? plaintext.slice(keyAt) : undefined,
  }
}
