/** What a part of this page holds that is loaded when it is needed. Throws an error with the code PAGE_INCOMPLETE. */
export async function loadPart<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading
  } catch (cause) {
    // Names of files change with what is in them: after an update those of an open page are gone.
    throw Object.assign(new Error('a part of the page is missing', { cause }), { code: 'PAGE_INCOMPLETE' })
  }
}
