/** Tests that make network namespaces need root. In CI they run in any case, and fail without. */
export const lacksRoot = process.env['CI'] === undefined && process.getuid?.() !== 0
