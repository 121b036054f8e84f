import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { emulationError } from '../../errors.ts'
import type { City, Cities } from '../../underlay/cities.ts'
import { LineProcess } from '../../underlay/line-process.ts'

const script = fileURLToPath(new URL('../../../core/session.py', import.meta.url))

const refusedSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
const builtSchema = z.object({
  hosts: z.record(z.string(), z.object({ address: z.string(), pid: z.number() })),
  convergedS: z.number(),
})
const factsSchema = z.object({ core: z.string(), kernel: z.string() })

/** What CORE is to build. */
export interface CorePlan {
  readonly cities: readonly Pick<City, 'name' | 'hostLinkMs'>[]
  readonly links: Cities['links']
  readonly hosts: readonly { readonly name: string; readonly city: string }[]
}

export type BuiltSession = z.output<typeof builtSchema>

/** A session of CORE (`emulation/core/session.py`), which ends when this process does. Everything rejects with CORE_FAILED. */
export class CoreSession {
  readonly #process: LineProcess

  /** `python` has CORE installed: a name on the PATH, or a path. */
  constructor(python: string) {
    this.#process = new LineProcess(python, [script], failed)
  }

  /** Aborts with the reason when it has ended unexpectedly. */
  get failed(): AbortSignal {
    return this.#process.failed
  }

  /** Resolves when all routers know their ways. */
  build(plan: CorePlan): Promise<BuiltSession> {
    return this.#ask({ build: plan }, builtSchema)
  }

  /** From 0 to 1, on the link of each host, each way. */
  async setLoss(rate: number): Promise<void> {
    await this.#ask({ loss: rate }, z.object({}))
  }

  facts(): Promise<z.output<typeof factsSchema>> {
    return this.#ask({ facts: true }, factsSchema)
  }

  /** Takes the network down. Idempotent. */
  async stop(): Promise<void> {
    await this.#process.stop()
  }

  async #ask<T>(request: object, schema: z.ZodType<T>): Promise<T> {
    const line = await this.#process.ask(JSON.stringify(request))
    const answer: unknown = JSON.parse(line)
    const refused = refusedSchema.safeParse(answer)
    if (refused.success) throw failed(`${refused.data.error.code}: ${refused.data.error.message}`)
    return schema.parse(answer)
  }
}

function failed(detail: string): Error {
  return emulationError('CORE_FAILED', detail)
}
