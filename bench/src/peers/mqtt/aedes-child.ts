import { createServer, type AddressInfo, type Socket } from 'node:net'
import { answerCalls } from '../../child-calls.ts'
import { installed } from '../installed.ts'

/** What is used of aedes; it is installed apart, so its types are not there. */
interface AedesPackage {
  readonly Aedes: { createBroker(): Promise<{ handle(socket: Socket): void }> }
}

const calls = {
  /** Starts the broker in this process; resolves with its port. */
  async start(directory: string): Promise<number> {
    const { Aedes } = await installed<AedesPackage>(directory, 'aedes')
    const { handle } = await Aedes.createBroker()
    const server = createServer({ noDelay: true }, handle)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  },
}

export type AedesCalls = typeof calls
answerCalls(calls)
