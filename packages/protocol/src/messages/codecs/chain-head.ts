import { readNodeId, readRef, writeNodeId, writeRef } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { limits } from '../../limits.ts'
import type { ChainHead } from '../packets/gaps.ts'

export function writeChainId(writer: Writer, chain: Pick<ChainHead, 'publisherId' | 'messageChainId'>): void {
  writeNodeId(writer, chain.publisherId)
  writer.shortAscii(chain.messageChainId, limits.maxMessageChainIdBytes, 'message chain id')
}

export function readChainId(reader: Reader): Pick<ChainHead, 'publisherId' | 'messageChainId'> {
  return {
    publisherId: readNodeId(reader),
    messageChainId: reader.shortAscii(limits.maxMessageChainIdBytes, 'message chain id'),
  }
}

export function writeHead(writer: Writer, head: ChainHead): void {
  writeChainId(writer, head)
  writeRef(writer, head)
}

export function readHead(reader: Reader): ChainHead {
  return { ...readChainId(reader), ...readRef(reader) }
}
