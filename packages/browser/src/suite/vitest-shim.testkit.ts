/** What the conformance suite uses of vitest, where there is no vitest: in a page. Only the running is ours, `expect` is vitest's own. */
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect'

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

export const expect = chai.expect

type Body = () => unknown

interface Test {
  readonly name: string
  readonly body: Body
  readonly after: readonly Body[]
}

const tests: Test[] = []
let path: readonly string[] = []
let after: readonly Body[] = []

export function describe(name: string, define: () => void): void {
  const outer = { path, after }
  path = [...path, name]
  define()
  ;({ path, after } = outer)
}

export function it(name: string, body: Body): void {
  tests.push({ name: [...path, name].join(' > '), body, after })
}

it.each =
  <T>(values: readonly T[]) =>
  (name: string, body: (value: T) => unknown): void => {
    for (const value of values) it(name.replace('%i', String(value)), () => body(value))
  }

/** Before the tests that follow it in its `describe`. */
export function afterEach(body: Body): void {
  after = [...after, body]
}

export const testNames = (): string[] => tests.map(({ name }) => name)

/** Undefined when the test passes, else why it does not. */
export async function runTest(name: string): Promise<string | undefined> {
  const test = tests.find((candidate) => candidate.name === name)
  if (test === undefined) return `there is no test ${name}`
  try {
    try {
      await test.body()
    } finally {
      for (const body of test.after) await body()
    }
    return undefined
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : String(error)
  }
}
