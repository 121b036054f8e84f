/** What a page imports: the client, with everything of it that works in a browser. */
export * from '@runnel/client/browser'
