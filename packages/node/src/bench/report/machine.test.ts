import { expect, it } from 'vitest'
import { machineOf, optionsText } from './machine.ts'

it('writes options as one would, without those that hold secrets, places or paths', () => {
  const args = { clients: 4, nodes: undefined, aim: 'p99<5ms', encrypt: true, users: 'light', json: true }
  const secret = {
    key: '0x12',
    as: 'a.key',
    network: '/home/a/net.json',
    worker: ['host:1'],
    gateway: 'u',
    csv: 'c',
  }
  expect(optionsText({ ...args, ...secret })).toBe("--users light --clients 4 --encrypt --aim 'p99<5ms'")
})

it('knows the machine', () => {
  expect(machineOf()).toMatchObject({ node: process.versions.node, runnel: expect.stringMatching(/^\d/) })
})
