/** The module a page imports: everything of the client that works in a browser. */
export * from '@runnel/client/browser'
