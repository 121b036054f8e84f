import fc from 'fast-check'
import { toNodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { presenceBytes, presenceChain, presenceIn } from '../presence/presence-message.ts'
import { decodeReply, decodeReplyContent, encodeReply, encodeReplyContent } from './reply-message.ts'
import { requestHeader, requestTagIn, requestTagText } from './request-header.ts'

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe('requests, replies and presence as they travel', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(bytesOf(16), bytesOf(32), fc.uint8Array({ maxLength: 99 }), (requestId, key, sealed) => {
        const tag = { requestId, publicKey: key }
        expect(requestTagIn({ [requestHeader]: requestTagText(tag) })).toEqual(tag)
        const reply = { requestId, encapsulated: key, number: sealed.length * 0xffffff, sealed }
        expect(decodeReply(encodeReply(reply))).toEqual(reply)
        const content = { contentType: 1, bytes: sealed }
        expect(decodeReplyContent(encodeReplyContent(content))).toEqual(content)
      }),
    )
    expect(decodeReplyContent(encodeReplyContent({ failure: 'nö' }))).toEqual({ failure: 'nö' })
  })

  it('are nothing when they are cut, longer, of a later version, or anything else', () => {
    const text = requestTagText({ requestId: new Uint8Array(16), publicKey: new Uint8Array(32) })
    for (const other of [text.slice(1), `${text}AA`, `Ag${text.slice(2)}`, '', 'ß', 'AQ=='])
      expect(requestTagIn({ [requestHeader]: other })).toBeUndefined()
    expect(requestTagIn({})).toBeUndefined()
    const reply = encodeReply({
      ...{ requestId: new Uint8Array(16), encapsulated: new Uint8Array(32) },
      ...{ number: 0, sealed: new Uint8Array() },
    })
    expect(decodeReply(reply.subarray(1))).toBeUndefined()
    expect(decodeReply(reply.with(0, 2))).toBeUndefined()
    expect(decodeReply(reply.slice(0, -1))).toBeUndefined()
    for (const bytes of [[], [0], [2, 1]]) expect(decodeReplyContent(Uint8Array.from(bytes))).toBeUndefined()
  })

  it('never throw, whatever comes as presence', () => {
    const publisherId = toNodeId(`0x${'1'.repeat(40)}`)
    const place = { timestamp: 1, sequenceNumber: 0 }
    const said = (messageChainId: string, content: Uint8Array) =>
      presenceIn({ publisherId, messageChainId, place, content })
    const chain = presenceChain(publisherId)
    expect(chain.length).toBeLessThanOrEqual(32)
    expect(said(chain, presenceBytes({ isHere: true, data: '{"a":1}' }))).toMatchObject({
      ...{ nodeId: publisherId, isHere: true, data: '{"a":1}' },
    })
    expect(said(chain, presenceBytes({ isHere: false, data: undefined }))?.isHere).toBe(false)
    const refused = ['~p', `${chain}A`, '~pß'].map((id) => said(id, Uint8Array.of(1)))
    expect(refused).toEqual([undefined, undefined, undefined])
    expect(said(chain, Uint8Array.of(1, 0x7b))).toBeUndefined()
    expect(said(chain, Uint8Array.of(1, 0xff))).toBeUndefined()
    expect(said(chain, new Uint8Array(258).fill(0x31))).toBeUndefined()
    fc.assert(
      fc.property(fc.string({ maxLength: 30 }), fc.uint8Array({ maxLength: 300 }), (id, content) => {
        said(`~p${id}`, content)
        said(chain, content)
        decodeReply(content)
        decodeReplyContent(content)
      }),
    )
  })
})
