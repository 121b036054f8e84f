export declare const threadEntries: Readonly<Record<string, string>>
