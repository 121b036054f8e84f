export * from './system-clock.ts'
export * from './system-random.ts'
