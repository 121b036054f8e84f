export declare const testNeeds: Readonly<Record<string, readonly string[]>>
export declare function programsFor(
  task: string,
  args: readonly string[],
  testFiles: readonly string[],
): string[]
export declare function buildFor(task: string, args: readonly string[]): 'nothing' | 'bundle' | 'packages'
