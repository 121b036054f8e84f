import { systemClock } from '@runnel/protocol/system'
import { expect, it } from 'vitest'
import type { LinkPath } from '../ports.ts'
import type { DataChannelPort, PeerConnectionPort } from './peer-connection-port.ts'
import { RtcChannel } from './rtc-channel.ts'

it('asks for its path at most once a second, and for none of a connection that is gone', () => {
  let [nowMs, asked] = [0, 0]
  const path: LinkPath = { local: 'host', remote: 'srflx' }
  const peerConnection = {
    get path() {
      asked++
      return path
    },
    close() {},
  } as Pick<PeerConnectionPort, 'path' | 'close'> as PeerConnectionPort
  const channel = { bufferedBytes: 0, close() {} } as Partial<DataChannelPort> as DataChannelPort
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const rtc = new RtcChannel({ channel, peerConnection, binding: new Uint8Array(32) }, { clock })
  expect([rtc.path, rtc.path, asked]).toEqual([path, path, 1])
  nowMs = 999
  expect([rtc.path, asked]).toEqual([path, 1])
  nowMs = 1_000
  expect([rtc.path, asked]).toEqual([path, 2])
  rtc.gone('the test ends it')
  nowMs = 2_000
  expect([rtc.path, asked]).toEqual([undefined, 2])
})
