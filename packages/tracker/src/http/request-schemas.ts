import { createRequire } from 'node:module'
import type { FastifySchemaCompiler, FastifyServerOptions } from 'fastify'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type BuildValidator = NonNullable<NonNullable<SchemaController['compilersFactory']>['buildValidator']>
type Compiler = FastifySchemaCompiler<unknown>
type BuildCompiler = (schemas: unknown, options: unknown) => Compiler

const require = createRequire(import.meta.url)

/**
 * Checks requests by the JSON Schemas of their routes, as fastify does by itself. But Ajv, which does it and takes some 3 MB, is loaded only for the first request
 * of a route that has one: nodes send none. Answers are written without schemas.
 */
export const requestSchemas: SchemaController = {
  // Fastify calls it with what the type FastifySchemaCompiler says, and not with what that of the factory says.
  compilersFactory: { buildValidator: lazily as BuildValidator, buildSerializer: () => () => JSON.stringify },
}

function lazily(schemas: unknown, options: unknown): Compiler {
  let compile: Compiler | undefined
  return (route) => {
    let check: ReturnType<Compiler> | undefined
    return (data: unknown) => {
      compile ??= (require('@fastify/ajv-compiler') as () => BuildCompiler)()(schemas, options)
      check ??= compile(route)
      return check(data) === true || { error: check.errors ?? [] }
    }
  }
}
