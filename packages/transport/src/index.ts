export * from './ports.ts'
export * from './errors.ts'
