export * from './bounded-text.ts'
export * from './system-clock.ts'
export * from './system-random.ts'
