import type { NodeId } from '@runnel/protocol'
import type { Transport } from '@runnel/transport'
import { again, attackersAddress, type AttackerModules, type MakeAttacker } from '../attacker.ts'

const perTurn = 6
/** After a connection has ended, or could not be had. */
const dialAgainMs = 3_000

/** One key after the other connects, to the tracker or to a node, sends nothing, and comes back when it is disconnected. */
function idleKeys(target: 'tracker' | 'node'): MakeAttacker {
  return (modules) => {
    const { fuzz } = modules
    const keys: IdleKey[] = []
    const [node] = fuzz.nodes.keys()
    const peerId = target === 'tracker' ? fuzz.world.trackerId : (node ?? fuzz.world.trackerId)
    let end = (): void => {}
    return {
      async start() {
        const most = fuzz.plan.attackersKeys ?? 0
        end = again(modules, { min: 50, max: 300 }, () => {
          for (let i = 0; i < perTurn && keys.length < most; i++)
            keys.push(new IdleKey(`${modules.name} ${keys.length}`, peerId, modules))
        })
      },
      stop() {
        end()
        for (const key of keys) key.stop()
      },
    }
  }
}

class IdleKey {
  readonly #peerId: NodeId
  readonly #modules: AttackerModules
  readonly #transport: Transport
  #isStopped = false

  constructor(name: string, peerId: NodeId, modules: AttackerModules) {
    const { fuzz, random } = modules
    this.#peerId = peerId
    this.#modules = modules
    this.#transport = fuzz.world.transport(name)
    const { nodeId } = fuzz.world.identity(name)
    fuzz.addAttacker(nodeId, { mayPublish: false, address: attackersAddress(random) })
    void this.#transport.start()
    this.#dial()
  }

  stop(): void {
    this.#isStopped = true
    void this.#transport.stop()
  }

  #dial(): void {
    if (this.#isStopped) return
    this.#transport.dial({
      peerId: this.#peerId,
      onOpen: (connection) => {
        connection.events = { onPacket: () => {}, onDrain: () => {}, onClose: () => this.#dialLater() }
      },
      onFail: () => this.#dialLater(),
    })
  }

  #dialLater(): void {
    this.#modules.fuzz.world.clock.schedule(dialAgainMs, () => this.#dial())
  }
}

export const idleAtTracker = idleKeys('tracker')
export const idleAtNode = idleKeys('node')
