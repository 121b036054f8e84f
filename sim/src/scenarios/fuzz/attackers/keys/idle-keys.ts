import type { Transport } from '@runnel/transport'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'

const perTurn = 6

/** One key after the other connects, to the tracker or to a node, and says nothing. */
function idleKeys(target: 'tracker' | 'node'): MakeAttacker {
  return (modules) => {
    const { fuzz, name, random } = modules
    const transports: Transport[] = []
    const [at] = [...fuzz.nodes.keys()]
    let end = (): void => {}
    const connect = async (): Promise<void> => {
      const key = `${name} ${transports.length}`
      const { nodeId } = fuzz.world.identity(key)
      fuzz.addAttacker(nodeId, { mayPublish: false, address: attackersAddress(random) })
      const transport = fuzz.world.transport(key)
      transports.push(transport)
      await transport.start()
      const peerId = target === 'tracker' ? fuzz.world.trackerId : at
      if (peerId !== undefined) transport.dial({ peerId, onOpen: () => {}, onFail: () => {} })
    }
    return {
      async start() {
        const most = fuzz.plan.attackersKeys ?? 0
        end = again(modules, { min: 50, max: 300 }, () => {
          for (let i = 0; i < perTurn && transports.length < most; i++) void connect()
        })
      },
      stop() {
        end()
        for (const transport of transports) void transport.stop()
      },
    }
  }
}

export const idleAtTracker = idleKeys('tracker')
export const idleAtNode = idleKeys('node')
