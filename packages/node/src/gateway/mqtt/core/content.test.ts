import type { Message } from '@runnel/client'
import { toNodeId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { headerNames } from './header-names.ts'
import { Reason } from './reasons.ts'
import { publishOf, toDelivery } from './to-mqtt.ts'
import { toRunnel, type MqttMessage } from './to-runnel.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const form = { shown: '', hasPartition: false }
const wallMs = 1_000_000

function runnelOf(message: Partial<MqttMessage>) {
  const whole = { topic: 't', payload: Buffer.alloc(0), qos: 1, retain: false, ...message }
  return toRunnel(whole, { own, origin: undefined, wallMs })
}

/** The message that a subscriber's client gives, as the SDK would. */
function messageOf(given: Partial<Message>): Message {
  return {
    streamId: `${own}/t`,
    partition: 0,
    headers: {},
    key: undefined,
    isRemoval: false,
    ...given,
  } as Message
}

function roundTrip(message: Partial<MqttMessage>) {
  const { content, headers, key } = runnelOf(message)
  const delivery = toDelivery(messageOf({ content: new Uint8Array(content), headers: headers ?? {}, key }))
  return { delivery, ...publishOf(delivery, form, wallMs) }
}

const text = fc
  .string({ maxLength: 40, unit: 'grapheme' })
  .filter((value) => !value.includes('\0') && value.isWellFormed())

describe('a message', () => {
  it('keeps its payload, byte for byte', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((json) => Buffer.from(json)),
        ),
        (bytes) => {
          const payload = Buffer.from(bytes)
          expect(roundTrip({ payload }).delivery.payload).toEqual(payload)
        },
      ),
    )
  })

  it('keeps its properties', () => {
    const properties = fc.record(
      {
        contentType: text,
        responseTopic: fc.constantFrom('a/b', '/a', `${own}/a`, 'no stream'),
        correlationData: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
        messageExpiryInterval: fc.integer({ min: 1, max: 0xffff_ffff }),
        userProperties: fc.dictionary(text, fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 })), {
          maxKeys: 4,
        }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(properties, (given) => {
        const { userProperties = {}, responseTopic, ...rest } = given
        const back = roundTrip({
          payload: Buffer.from('x'),
          properties: given,
        }).properties
        expect(back ?? {}).toMatchObject(rest)
        expect({ ...back?.userProperties }).toEqual({ ...userProperties })
        const shown =
          responseTopic?.startsWith('no') === true ? responseTopic : responseTopic?.replace(/^\/|^0x.*\//, '')
        expect(back?.responseTopic).toBe(shown)
      }),
    )
  })

  it('keeps a property whose name every object has', () => {
    const userProperties = Object.fromEntries([['__proto__', 'a']])
    const back = roundTrip({ payload: Buffer.from('x'), properties: { userProperties } }).properties
    expect(Object.entries(back?.userProperties ?? {})).toEqual([['__proto__', 'a']])
  })

  it('is JSON, text or bytes to others', () => {
    const kind = (payload: string | Uint8Array, contentType?: string) =>
      runnelOf({
        payload: Buffer.from(payload),
        properties: contentType === undefined ? {} : { contentType },
      }).bytesAre
    expect(kind('{ "t": 21 }')).toBe('json')
    expect(kind('[1]')).toBe('json')
    expect(kind('{ t: 21 }')).toBe('text')
    expect(kind('21')).toBe('text')
    expect(kind('21', 'application/json')).toBe('json')
    expect(kind('21', 'application/vnd.x+json; charset=utf-8')).toBe('json')
    expect(kind(Uint8Array.of(0xff))).toBeUndefined()
    expect(() =>
      runnelOf({ payload: Buffer.of(0xff), properties: { payloadFormatIndicator: true } }),
    ).toThrow(expect.objectContaining({ reason: Reason.payloadInvalid }))
  })

  it('has a key where it is retained, and removes that where it is empty', () => {
    expect(runnelOf({ retain: true, payload: Buffer.from('x') })).toMatchObject({
      key: 'retained',
      removes: false,
    })
    expect(runnelOf({ retain: true })).toMatchObject({ key: 'retained', removes: true })
    expect(toDelivery(messageOf({ content: null, key: 'retained', isRemoval: true }))).toMatchObject({
      ...{ payload: Buffer.alloc(0), isRetained: true },
    })
  })

  it('is refused with properties that are too long or too many', () => {
    const refused = expect.objectContaining({ reason: Reason.quotaExceeded }) as Error
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, 'x']))
    expect(() => runnelOf({ properties: { userProperties: many } })).toThrow(refused)
    expect(() => runnelOf({ properties: { contentType: 'x'.repeat(2_000) } })).toThrow(refused)
  })

  it('of anybody may have headers that are none of a gateway', () => {
    const headers = {
      [headerNames.expires]: 'soon',
      [headerNames.otherProperties]: '{"no":"list"}',
      [headerNames.responseTopic]: 'a/+/#',
      [headerNames.contentType]: 'nul\0',
    }
    const delivery = toDelivery(messageOf({ content: new Uint8Array(), headers }))
    expect(delivery).toMatchObject({ expiresMs: undefined, responseTopic: undefined, properties: undefined })
  })
})
