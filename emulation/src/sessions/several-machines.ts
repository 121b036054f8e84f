import type { Machine, OpenSession } from './machine.ts'

/** Machines that take sessions in turns. */
export class SeveralMachines implements Machine {
  readonly #machines: readonly [Machine, ...Machine[]]

  constructor(machines: readonly [Machine, ...Machine[]]) {
    this.#machines = machines
  }

  get leavesOut(): string {
    return this.#machines[0].leavesOut
  }

  get joined(): number {
    return this.#machines.reduce((sum, { joined }) => sum + joined, 0)
  }

  open(number: number, members: number, signal: AbortSignal): Promise<OpenSession> {
    const machine = this.#machines[number % this.#machines.length] ?? this.#machines[0]
    return machine.open(number, members, signal)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.stop()))
  }
}
