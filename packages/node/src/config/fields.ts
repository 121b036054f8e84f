import { z } from 'zod'

/** A setting with the address a server listens on. */
export const host = (what: string) =>
  z.string().min(1).default('127.0.0.1').describe(`${what} listens on this address.`)

/** A setting with the port a server listens on. */
export const port = (what: string, number: number) =>
  z.int().min(0).max(65_535).default(number).describe(`${what} listens on this port; 0 takes a free one.`)

/** A setting that names a file. */
export const file = () => z.string().min(1)
