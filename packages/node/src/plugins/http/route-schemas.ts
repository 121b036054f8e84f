import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

const require = createRequire(import.meta.url)

/** What such a package exports: it makes the factory, once it is loaded. */
const load = <Factory>(name: string): Factory => (require(name) as () => Factory)()

/**
 * Checks requests, and writes answers, by the JSON Schemas of their routes, as fastify does by itself. But what does it, some 3 MB, is loaded only for the
 * first route that has one; none of Runnel's own at this server has. Names of headers in schemas must be in lower case.
 */
export const schemaController: { readonly compilersFactory: Factories } = {
  compilersFactory: {
    buildValidator: (schemas: unknown, options?: unknown) =>
      load<(...args: readonly unknown[]) => never>('@fastify/ajv-compiler')(schemas, options),
    buildSerializer: (schemas, options) =>
      load<NonNullable<Factories['buildSerializer']>>('@fastify/fast-json-stringify-compiler')(
        schemas,
        options,
      ),
  },
}
